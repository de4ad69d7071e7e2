/**
 * The types of the API's objects: fields, what they hold, which are required. Types are written as in `data/api.json` and read on demand.
 * For objects that pods may run in, the table is what the API server decodes into; `scripts/api` generates it.
 */

import { own, table } from '../yaml/table.ts';
import { apiJson } from './data.ts';

/** What a field holds. */
export type ApiType =
  | { readonly form: 'string' | 'integer' | 'number' | 'boolean' | 'quantity' | 'integer-or-string' | 'any' }
  | { readonly form: 'enum'; readonly values: readonly string[] }
  | { readonly form: 'list' | 'map'; readonly of: ApiType }
  | { readonly form: 'object'; readonly name: string };

export interface ApiField {
  readonly name: string;
  readonly type: ApiType;
  /** The API server rejects an object without it. */
  readonly required: boolean;
}

/** The name of the type of an object; undefined if the table does not have its kind in that version. */
export function apiKind(apiVersion: string, kind: string): string | undefined {
  const written = `${apiVersion}/${kind}`;
  const name = own(apiJson.kinds, written) ?? own(apiJson.customKinds, written);
  return typeof name === 'string' ? name : undefined;
}

/**
 * Whether a type is of a custom resource: its versions differ, so a field that the table does not have may exist. The types of pods in custom
 * resources are Kubernetes' own.
 */
export function isCustomType(type: string): boolean {
  return own(apiJson.customTypes, type) !== undefined;
}

/** The apiVersions that serve a kind, oldest groups first. */
export function servedVersions(kind: string): readonly string[] {
  return versionsByKind.get(kind) ?? [];
}

const versionsByKind = new Map<string, string[]>();
for (const served of Object.keys(apiJson.kinds)) {
  const slash = served.lastIndexOf('/');
  const kind = served.slice(slash + 1);
  versionsByKind.set(kind, [...(versionsByKind.get(kind) ?? []), served.slice(0, slash)]);
}

/** The newest apiVersion of a custom resource whose name no other group has; undefined for names of one word, which others may use. */
export function customHome(kind: string): string | undefined {
  return /[A-Z].*[A-Z]/.test(kind) && !sharedKinds.test(kind) ? homesByKind.get(kind) : undefined;
}

/** Kinds of several groups: other schedulers and other tools for clusters have them, and Kubeflow's runtimes were in another group. */
const sharedKinds = /^(?:PodGroup|ClusterConfig|(?:Cluster)?TrainingRuntime)$/;

const homesByKind = new Map<string, string>();
for (const served of Object.keys(apiJson.customKinds)) {
  const slash = served.lastIndexOf('/');
  homesByKind.set(served.slice(slash + 1), served.slice(0, slash));
}

/** Every kind in the table. */
export const apiKinds: readonly string[] = [...versionsByKind.keys()];

/** The fields of a type by name. */
export function apiFields(type: string): ReadonlyMap<string, ApiField> {
  const known = fieldsByType.get(type);
  if (known !== undefined) return known;
  const fields = readFields(type);
  fieldsByType.set(type, fields);
  return fields;
}

/** The fields that an object of a type must have. */
export function requiredApiFields(type: string): readonly ApiField[] {
  const known = requiredByType.get(type);
  if (known !== undefined) return known;
  const fields = [...apiFields(type).values()].filter(({ required }) => required);
  requiredByType.set(type, fields);
  return fields;
}

const requiredByType = new Map<string, readonly ApiField[]>();

const fieldsByType = new Map<string, ReadonlyMap<string, ApiField>>();

function readFields(type: string): ReadonlyMap<string, ApiField> {
  const written = own(apiJson.customTypes, type) ?? own(apiJson.types, type);
  const parts = typeof written === 'string' && written !== '' ? written.split(' ') : [];
  const unset = parts[0] === '~' ? '*' : 's';
  const fields = (unset === 's' ? parts : parts.slice(1)).flatMap((part) =>
    part.startsWith('+') ? [...apiFields(part.slice(1)).values()].map(optional) : [readField(part, unset)],
  );
  return new Map(fields.map((field) => [field.name, field]));
}

function optional(field: ApiField): ApiField {
  return { ...field, required: false };
}

/** `name`, `name!` if it is required, `name:type` if it has another type than others: a string, or any in the values of a chart. */
function readField(part: string, unset: string): ApiField {
  const colon = part.indexOf(':');
  const head = colon < 0 ? part : part.slice(0, colon);
  const required = head.endsWith('!');
  return {
    name: required ? head.slice(0, -1) : head,
    type: readType(colon < 0 ? unset : part.slice(colon + 1)),
    required,
  };
}

function readType(code: string): ApiType {
  const rest = code.slice(1);
  if (code.startsWith('[')) return { form: 'list', of: readType(rest) };
  if (code.startsWith('{')) return { form: 'map', of: readType(rest) };
  if (code.startsWith('=')) return { form: 'enum', values: rest.split('|') };
  return simpleTypes[code] ?? { form: 'object', name: code };
}

const simpleTypes = table<ApiType>({
  s: { form: 'string' },
  i: { form: 'integer' },
  n: { form: 'number' },
  b: { form: 'boolean' },
  q: { form: 'quantity' },
  x: { form: 'integer-or-string' },
  '*': { form: 'any' },
});
