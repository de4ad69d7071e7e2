import { draftOf } from './draft.ts';
import type { YamlMap, YamlNode, YamlSeq } from './node.ts';
import type { HiddenLines, Mask } from './template.ts';

/**
 * Marks where a template adds unseen lines: the mapping or sequence to which they will belong by their column, or the empty value that they
 * will fill.
 */
export function markIncomplete(root: YamlNode, mask: Mask): void {
  const written = new Map<YamlNode, readonly Child[]>();
  for (const hidden of mask.hiddenLines) {
    const { node, below, inNode } = targetOf(root, hidden, mask, written);
    if (node.kind === 'scalar') draftOf(node).templated = true;
    else if (inNode) setIncomplete(node, hidden);
    if (below !== undefined && below.kind !== 'scalar') setIncomplete(below, hidden);
    else if (below !== undefined) draftOf(below).templated = true;
  }
}

/** The nodes to which unseen lines will belong, with the action whose output they are, if it is a single one. */
export function insertionTargets(root: YamlNode, mask: Mask): readonly (Target & HiddenLines)[] {
  const written = new Map<YamlNode, readonly Child[]>();
  return mask.hiddenLines.map((hidden) => ({ ...targetOf(root, hidden, mask, written), ...hidden }));
}

/** The nodes to which unseen lines will belong. */
interface Target {
  readonly node: YamlNode;
  /** The last value in the node, if items may belong to it instead: its key is at the same column. */
  readonly below: YamlNode | undefined;
  /** Whether the lines may belong to the node itself. */
  readonly inNode: boolean;
}

/** A value written in its parent, with the offset of the value or its key. */
interface Child {
  readonly start: number;
  readonly value: YamlNode;
}

function targetOf(root: YamlNode, hidden: HiddenLines, mask: Mask, written: Map<YamlNode, readonly Child[]>): Target {
  const { offset, column } = hidden;
  let node = root;
  for (;;) {
    if (node.kind === 'scalar' || node.flow) return { node, below: undefined, inNode: true };
    const here = columnOf(mask.text, node.span.start);
    const last = lastBefore(node, offset, written);
    if (column <= here || last === undefined) {
      // A sequence may be at the column of its key, and so may template output under an empty key.
      const below = node.kind === 'map' && column === here ? last : undefined;
      const items = below?.kind === 'seq' && columnOf(mask.text, below.span.start) === column;
      const empty = below?.kind === 'scalar' && below.span.start === below.span.end;
      // A loop whose first line is an item produces items, not keys.
      const inNode = !items || mask.text.charAt(offset) !== '-';
      return { node, below: items || empty ? below : undefined, inNode };
    }
    node = last;
  }
}

function setIncomplete(node: YamlMap | YamlSeq, { repeats, lost }: HiddenLines): void {
  if (node.kind === 'map') {
    draftOf(node).incomplete = true;
    if (lost) draftOf(node).lost = true;
  } else {
    draftOf(node).incomplete = true;
    if (repeats) draftOf(node).repeated = true;
  }
}

/** The last value that begins (with its key) before an offset. */
function lastBefore(
  node: YamlMap | YamlSeq,
  offset: number,
  written: Map<YamlNode, readonly Child[]>,
): YamlNode | undefined {
  let children = written.get(node);
  if (children === undefined) {
    children =
      node.kind === 'map'
        ? node.entries.filter(({ shared }) => !shared).map(({ keySpan, value }) => ({ start: keySpan.start, value }))
        : node.items.filter(({ shared }) => !shared).map(({ value }) => ({ start: value.span.start, value }));
    written.set(node, children);
  }
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((children[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return children[low - 1]?.value;
}

function columnOf(text: string, offset: number): number {
  return offset - text.lastIndexOf('\n', offset - 1) - 1;
}
