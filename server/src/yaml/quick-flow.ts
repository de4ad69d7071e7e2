import { interned } from './interned.ts';
import type { YamlEntry, YamlItem, YamlMap, YamlNode, YamlScalar, YamlSeq } from './node.ts';
import { comment, enter, giveUp, isBreak, meetVariable, nextLine, type Reader, skipSpaces } from './quick-reader.ts';
import { checkPlain, plainNode, quoted, quoteEnd } from './quick-scalar.ts';
import { watchKeys } from './repeated-keys.ts';

/** A mapping or sequence in brackets. Its lines must be deeper than the enclosing block; pairs without a value are left to the library. */
export function readFlow(reader: Reader, parent: number): YamlNode {
  const start = reader.at++;
  reader.brackets++;
  enter(reader);
  const node = reader.source.charAt(start) === '{' ? flowMap(reader, parent, start) : flowSeq(reader, parent, start);
  reader.brackets--;
  reader.depth--;
  return node;
}

function flowMap(reader: Reader, parent: number, start: number): YamlMap {
  const entries: YamlEntry[] = [];
  const noteKey = watchKeys(reader.problems, reader.mask !== undefined, entries);
  let incomplete = false;
  while (!closes(reader, parent, '}')) {
    const key = flowScalar(reader);
    if (key.style === 'plain' && key.source === '<<') giveUp();
    if (key.span.end - key.span.start > 1000 || reader.source.charAt(reader.at) !== ':') giveUp();
    // After a plain key, the gap that follows the colon has already been checked.
    reader.at++;
    space(reader, parent);
    const value = flowValue(reader, parent);
    if (key.templated) incomplete = true;
    else noteKey(key.source, key.span);
    entries.push({ key: interned(key.source), keySpan: key.span, value, shared: false });
    separate(reader, parent, '}');
  }
  return { kind: 'map', entries, flow: true, incomplete, span: { start, end: reader.at } };
}

function flowSeq(reader: Reader, parent: number, start: number): YamlSeq {
  const items: YamlItem[] = [];
  while (!closes(reader, parent, ']')) {
    items.push({ value: flowValue(reader, parent), shared: false });
    separate(reader, parent, ']');
  }
  return { kind: 'seq', items, flow: true, incomplete: false, span: { start, end: reader.at } };
}

function flowValue(reader: Reader, parent: number): YamlNode {
  const first = reader.source.charAt(reader.at);
  return first === '{' || first === '[' ? readFlow(reader, parent) : flowScalar(reader);
}

function flowScalar(reader: Reader): YamlScalar {
  const { source, at } = reader;
  const first = source.charAt(at);
  if (first === '"' || first === "'") return quoted(reader, quoteEnd(source, at));
  const end = plainEnd(source, at);
  checkPlain(source, at, end);
  // A dash before a bracket or a comma is not text; neither is a colon at the start for Kubernetes, or a question mark.
  const text = source.slice(at, end);
  if (end === at || text === '-' || first === ':' || text.includes('?')) giveUp();
  reader.at = end;
  return plainNode(reader, text, at, end);
}

function plainEnd(source: string, start: number): number {
  let end = start;
  for (let here = start; ; here++) {
    const code = source.charCodeAt(here);
    if (code === 0x20) continue;
    if (isBreak(code)) return end;
    const char = source.charAt(here);
    if (',[]{}'.includes(char)) return end;
    if (char === '#' && source.charAt(here - 1) === ' ') return end;
    if (char === ':') {
      const next = source.charCodeAt(here + 1);
      // The colon must touch its key and be followed by a gap.
      if (next === 0x20 || isBreak(next)) return here === end ? end : giveUp();
      if (',[]{}'.includes(source.charAt(here + 1))) giveUp();
    }
    end = here + 1;
  }
}

/** Skips the closing bracket if it is next. */
function closes(reader: Reader, parent: number, bracket: string): boolean {
  space(reader, parent);
  if (reader.source.charAt(reader.at) !== bracket) return false;
  reader.at++;
  return true;
}

/** Skips the comma after an item; `closes` handles the closing bracket. */
function separate(reader: Reader, parent: number, bracket: string): void {
  space(reader, parent);
  const char = reader.source.charAt(reader.at);
  if (char === ',') reader.at++;
  else if (char === '{' && reader.source.charAt(reader.at - 1) === '$' && reader.mask === undefined) meetVariable();
  else if (char !== bracket) giveUp();
}

/** Skips spaces, line ends and comments. */
function space(reader: Reader, parent: number): void {
  const { source } = reader;
  let own = false;
  for (;;) {
    skipSpaces(reader);
    const code = source.charCodeAt(reader.at);
    if (Number.isNaN(code)) giveUp();
    if (code === 0x23) {
      if (!own && source.charAt(reader.at - 1) !== ' ') giveUp();
      comment(reader, own);
    } else if (!isBreak(code)) {
      const column = reader.at - reader.lineStart;
      // Only the outermost bracket may close at the column of the enclosing block.
      const outermost = reader.brackets === 1 && column === parent && (code === 0x5d || code === 0x7d);
      if (own && column <= parent && !outermost) giveUp();
      return;
    }
    nextLine(reader);
    reader.lineStart = reader.at;
    own = true;
  }
}
