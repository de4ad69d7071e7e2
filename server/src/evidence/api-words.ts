import type { ApiType } from '../catalog/index.ts';
import { type Cursor, keyOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import type { ApiHolder } from './api-problems.ts';

/** One of the mappings of its kind, in words: `a container`, `the pod spec`, `emptyDir`. */
export function someHolder(holder: ApiHolder): string {
  const noun = nouns[holder.type];
  if (noun !== undefined) return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
  return nameOf(holder) ?? `an item of ${keyOf(holder.at.parent ?? holder.at)}`;
}

/** This mapping, in words: `the container`, `the pod spec`, `emptyDir`. */
export function thisHolder(holder: ApiHolder): string {
  const noun = nouns[holder.type];
  if (noun !== undefined) return `the ${noun}`;
  if (holder.type === 'NodePoolNode') return "the NodePool's template.spec";
  return nameOf(holder) ?? `the item of ${keyOf(holder.at.parent ?? holder.at)}`;
}

/** Items of lists, for which the type has a clearer name than the key. */
const nouns = table<string>({
  Container: 'container',
  ContainerPort: 'port',
  EnvVar: 'environment variable',
  NodeTaint: 'taint',
  Toleration: 'toleration',
  Volume: 'volume',
  VolumeMount: 'volumeMount',
});

/** Mappings that exist once. */
const names = table<string>({
  ObjectMeta: 'metadata',
  PodSecurityContext: "the pod's securityContext",
  PodSpec: 'the pod spec',
  PodTemplateSpec: 'the pod template',
  SecurityContext: "the container's securityContext",
});

function nameOf({ type, at, above }: ApiHolder): string | undefined {
  const known = names[type];
  if (known !== undefined) return known;
  // Some types have a prefix, because other groups have a kind of the same name.
  const kind = type.replace(/^(?:V\d(?:beta\d)?|Argo|KubeAI|Kueue|Volcano)/, '').replace(/^Eksctl/, 'Cluster');
  if (above === undefined) return `the ${kind}`;
  if (above.above === undefined && kind.endsWith('Spec')) return `the ${kind.slice(0, -'Spec'.length)}'s spec`;
  if (keyOf(at) === 'spec' && at.parent !== undefined && keyOf(at.parent) !== '') return `${keyOf(at.parent)}.spec`;
  return keyOf(at) === '' ? undefined : keyOf(at);
}

/** What a field must hold, with an article. */
export function expectedWords(type: ApiType): string {
  switch (type.form) {
    case 'object':
    case 'map':
      return 'a mapping';
    case 'list':
      return 'a list';
    case 'integer':
      return 'an integer';
    case 'integer-or-string':
      return 'an integer or a string';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'quantity':
      return 'a quantity';
    default:
      return 'a string';
  }
}

/** What is written, with an article: `a list`, `the number 8`. */
export function writtenWords({ node }: Cursor, shorten: (text: string) => string): string {
  if (node.kind === 'map') return 'a mapping';
  if (node.kind === 'seq') return 'a list';
  if (typeof node.value === 'number') return `the number ${shorten(node.source)}`;
  if (typeof node.value === 'boolean') return `the boolean ${shorten(node.source)}`;
  return node.source.includes('\n') ? 'a multi-line string' : `the string "${shorten(node.source)}"`;
}
