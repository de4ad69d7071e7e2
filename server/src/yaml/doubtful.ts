import { draftOf } from './draft.ts';
import type { YamlNode, YamlProblem } from './node.ts';

/**
 * Marks what an error of syntax leaves unknown, so that no rule takes a guess of the parser for a mistake: a mapping or list that reaches the line of
 * the error may have more than was read of it, and a value on that line may end elsewhere. What ends before that line is certain.
 */
export function markDoubtful(root: YamlNode | null, text: string, problems: readonly YamlProblem[]): void {
  if (root === null) return;
  for (const { readable, isLocal, span } of problems) {
    if (readable === true || isLocal === true) continue;
    const line = text.lastIndexOf('\n', span.start - 1) + 1;
    const next = text.indexOf('\n', span.start);
    mark(root, { line, before: lastTextBefore(text, line), next: next === -1 ? text.length : next }, new Set());
  }
}

/** Offsets around an error. */
interface Places {
  /** Where its line begins. */
  readonly line: number;
  /** Where the text above it ends, without comments: what ends there may go on. */
  readonly before: number;
  /** Where its line ends. */
  readonly next: number;
}

/** @param seen values with several places are marked once */
function mark(node: YamlNode, places: Places, seen: Set<YamlNode>): void {
  const { start, end } = node.span;
  // The parser finds its way again at the next key: what begins there is as written, though it may be in the wrong place.
  if (end < places.before || start > places.next || seen.has(node)) return;
  seen.add(node);
  if (node.kind === 'scalar') {
    // An empty value may go on below.
    if (end > places.line || start === end) draftOf(node).templated = true;
    return;
  }
  if (node.kind === 'map') {
    draftOf(node).incomplete = true;
    for (const { value } of node.entries) mark(value, places, seen);
    return;
  }
  draftOf(node).incomplete = true;
  for (const { value } of node.items) mark(value, places, seen);
}

/** The end of the last line above an offset that is neither blank nor a comment. */
function lastTextBefore(text: string, offset: number): number {
  for (let end = offset; end > 0; ) {
    // A negative offset would count as 0.
    const start = end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
    const line = text.slice(start, end).trimEnd();
    if (/^\s*[^\s#]/.test(line)) return start + line.slice(0, /\s#/.exec(line)?.index).trimEnd().length;
    end = start;
  }
  return 0;
}
