import { acceleratorResource } from '../catalog/index.ts';
import type { YamlEntry, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';

/**
 * The accelerator that a duplicate key hides: of several values only the last one applies. Undefined if none is lost, or if the last value has
 * the same.
 * @param span the place of the duplicate key
 */
export function lostAccelerator(root: YamlNode | null, span: Span): string | undefined {
  const entries = root === null ? undefined : mappingAt(root, span);
  const key = entries?.find(({ keySpan }) => keySpan.start === span.start)?.key;
  const same = entries?.filter((entry) => entry.key === key) ?? [];
  const kept = same.at(-1);
  if (kept === undefined) return undefined;
  if (key !== undefined && acceleratorResource(key) !== undefined) return same.length > 1 ? key : undefined;
  const left = new Map(acceleratorsIn(kept));
  return same
    .slice(0, -1)
    .flatMap(acceleratorsIn)
    .find(([name, value]) => left.get(name) !== value)?.[0];
}

/** The entries of the mapping that has a key at a place. */
function mappingAt(node: YamlNode, span: Span): readonly YamlEntry[] | undefined {
  if (node.kind === 'scalar') return undefined;
  if (node.kind === 'seq') {
    const item = node.items.find(({ value, shared }) => !shared && holds(value, span));
    return item && mappingAt(item.value, span);
  }
  if (node.entries.some(({ keySpan }) => keySpan.start === span.start)) return node.entries;
  const entry = node.entries.find(({ value, shared }) => !shared && holds(value, span));
  return entry && mappingAt(entry.value, span);
}

function holds(node: YamlNode, span: Span): boolean {
  return node.span.start <= span.start && span.end <= node.span.end;
}

/** The resources that name accelerators, with their values as text. */
function acceleratorsIn({ key, value }: YamlEntry): readonly (readonly [name: string, value: string])[] {
  if (value.kind === 'scalar') return acceleratorResource(key) === undefined ? [] : [[key, value.source]];
  if (value.kind === 'map') return value.entries.flatMap(acceleratorsIn);
  return value.items.flatMap(({ value: item }) => (item.kind === 'map' ? item.entries.flatMap(acceleratorsIn) : []));
}
