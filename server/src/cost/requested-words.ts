import { gpus } from '../catalog/index.ts';
import type { RequestedResource } from '../model/requested-resource.ts';
import { table } from '../yaml/table.ts';

/** The name of a requested resource, or the field that requests it. */
export function requestedWords(requested: RequestedResource): string {
  const { kind, name } = requested;
  if (kind === 'resource') return name;
  if (kind === 'deviceClass') return `device class ${name}`;
  return kind === 'field' ? (fieldWords[name] ?? name) : `${kind} ${name}`;
}

const fieldWords = table<string>({
  instanceType: 'instance type',
  labelSelector: 'selected nodes',
  partition: 'partition',
  resourceProfile: 'resource profile',
});

/** The name of a model in the catalog: `H100 80GB SXM`. */
export function modelName(model: string): string {
  return gpus.get(model)?.name ?? model;
}
