import type { YamlNode } from '../yaml/node.ts';

/** The same tree with another value in place of each: where a template reads one of them, it makes another object. */
export function withOtherValues(node: YamlNode): YamlNode {
  if (node.kind === 'map')
    return { ...node, entries: node.entries.map((entry) => ({ ...entry, value: withOtherValues(entry.value) })) };
  if (node.kind === 'seq')
    return { ...node, items: node.items.map((item) => ({ ...item, value: withOtherValues(item.value) })) };
  const value = otherThan(node.value);
  return { ...node, value, source: value === null ? node.source : String(value) };
}

function otherThan(value: string | number | boolean | null): string | number | boolean | null {
  if (typeof value === 'number') return value + 1;
  return typeof value === 'string' ? `${value}x` : value === null ? null : !value;
}
