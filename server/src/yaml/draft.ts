import type { YamlEntry, YamlItem, YamlMap, YamlNode, YamlScalar, YamlSeq } from './node.ts';
import type { Span } from './span.ts';

/** Nodes under construction; all other code sees them as read-only. */
export type DraftScalar = { -readonly [K in keyof YamlScalar]: YamlScalar[K] };
export type DraftMap = { -readonly [K in keyof YamlMap]: YamlMap[K] } & { entries: YamlEntry[] };
export type DraftSeq = { -readonly [K in keyof YamlSeq]: YamlSeq[K] } & { items: YamlItem[] };

/** An empty value at an offset. */
export function emptyScalar(offset: number): DraftScalar {
  const span: Span = { start: offset, end: offset };
  return { kind: 'scalar', value: null, source: '', style: 'plain', templated: false, span };
}

/** The node as a draft. Only this room's converters create nodes, and they create drafts. */
export function draftOf(node: YamlScalar): DraftScalar;
export function draftOf(node: YamlMap): DraftMap;
export function draftOf(node: YamlSeq): DraftSeq;
export function draftOf(node: YamlNode): unknown {
  return node;
}
