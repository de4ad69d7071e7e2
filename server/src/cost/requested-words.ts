import { gpus } from '../catalog/index.ts';
import type { RequestedResource } from '../model/requested-resource.ts';
import { table } from '../yaml/table.ts';

/** What people call a requested resource: its name, or what it is written as. */
export function requestedWords(requested: RequestedResource): string {
  const { kind, name } = requested;
  if (kind === 'resource') return name;
  if (kind === 'deviceClass') return `device class ${name}`;
  return kind === 'field' ? (fieldWords[name] ?? name) : `${kind} ${name}`;
}

const fieldWords = table<string>({
  instanceType: 'the instance type',
  labelSelector: 'the selected nodes',
  partition: 'the partition',
  resourceProfile: 'the resource profile',
});

/** The name of a model of the catalogue: `H100 80GB SXM`. */
export function modelName(model: string): string {
  return gpus.get(model)?.name ?? model;
}
