import type { YamlNode } from './node.ts';
import type { Span } from './span.ts';

/** The copies that one reading of a document makes. */
export interface Copies {
  /** The number of nodes that may still be copied. */
  readonly room: { left: number };
  /** Where values were copied to. */
  readonly places: Span[];
}

/** A copy of a value at a place of this file; undefined if the limit of copied nodes is exceeded. */
export function copied(value: YamlNode, span: Span, { room, places }: Copies): YamlNode | undefined {
  const size = sizeOf(value);
  if (size > room.left) return undefined;
  room.left -= size;
  places.push(span);
  return moved(value, span);
}

const sizes = new WeakMap<YamlNode, number>();

/** The number of nodes of a value. */
export function sizeOf(node: YamlNode): number {
  if (node.kind === 'scalar') return 1;
  const known = sizes.get(node);
  if (known !== undefined) return known;
  const children: readonly { readonly value: YamlNode }[] = node.kind === 'map' ? node.entries : node.items;
  const size = children.reduce((sum, { value }) => sum + sizeOf(value), 1);
  sizes.set(node, size);
  return size;
}

/** A copy of a value from another file, with every node at one place of this one. */
export function moved(node: YamlNode, span: Span): YamlNode {
  if (node.kind === 'scalar') return { ...node, span };
  if (node.kind === 'seq') {
    return { ...node, span, items: node.items.map(({ value }) => ({ value: moved(value, span), shared: true })) };
  }
  const entries = node.entries.map(({ key, value }) => ({
    key,
    keySpan: span,
    value: moved(value, span),
    shared: true,
  }));
  return { ...node, span, entries };
}
