import { setTwice } from './convert.ts';
import { emptyScalar } from './draft.ts';
import type { YamlComment, YamlEntry, YamlItem, YamlNode, YamlProblem } from './node.ts';
import { readFlow } from './quick-flow.ts';
import {
  advance,
  createReader,
  endLine,
  enter,
  GIVE_UP,
  giveUp,
  isBreak,
  isDash,
  type Reader,
  skipSpaces,
  VARIABLE_MET,
} from './quick-reader.ts';
import { blockScalar, keyColon, plainLines, quoted, quoteEnd, readKey } from './quick-scalar.ts';
import { type Mask, maskVariables } from './template.ts';

/** What `readQuick` read: the same as the library gives for a text without faults. */
export interface QuickRead {
  readonly root: YamlNode | null;
  readonly comments: readonly YamlComment[];
  readonly problems: readonly YamlProblem[];
  /** It was read as a template. */
  readonly template: boolean;
}

/**
 * Reads the YAML that manifests are nearly always written in: block mappings and sequences, flow collections and scalars of all
 * styles, comments. At the first thing that is not surely such (an anchor, a tag, a `?` key, a tab, any fault) it gives up and
 * returns undefined, and the library reads the text: it never judges. The library takes a large file apart into lexemes, tokens and
 * nodes with options, which costs some thirty times as much; typing in a long document would stall on that.
 */
export function readQuick(text: string, mask: Mask | undefined): QuickRead | undefined {
  const reader = createReader(text, mask);
  if (reader === undefined) return undefined;
  try {
    return {
      root: readDocument(reader),
      comments: reader.comments,
      problems: reader.problems,
      template: mask !== undefined,
    };
  } catch (reason) {
    if (reason === GIVE_UP) return undefined;
    if (reason === VARIABLE_MET) return readWithVariables(text);
    throw reason;
  }
}

/** A text that is no YAML as it stands, but may be with its variables filled in. */
function readWithVariables(text: string): QuickRead | undefined {
  const mask = maskVariables(text);
  return mask && readQuick(text, mask);
}

function readDocument(reader: Reader): YamlNode | null {
  advance(reader, true);
  if (reader.column === -1) return null;
  // A document of one scalar is no manifest; the library may look at it.
  const root = isDash(reader) ? sequence(reader, reader.column) : collection(reader, -1);
  return reader.column === -1 ? root : giveUp();
}

function collection(reader: Reader, parent: number): YamlNode {
  const flow = reader.source.charCodeAt(reader.at);
  if (flow === BRACE || flow === BRACKET) return inlineValue(reader, parent);
  return mapping(reader, reader.column);
}

/** The entries whose keys stand at the column, from the first one's key on. */
function mapping(reader: Reader, column: number): YamlNode {
  const start = reader.at;
  const entries: YamlEntry[] = [];
  const keys = new Set<string>();
  let open = false;
  let twice = false;
  let end = start;
  enter(reader);
  do {
    if (isDash(reader)) giveUp();
    const key = readKey(reader, keyColon(reader));
    reader.at++;
    const value = valueBehind(reader, column, true);
    end = value.span.end;
    if (key.templated) open = true;
    else if (keys.has(key.source) && reader.mask === undefined && !twice) {
      twice = true;
      reader.problems.push(setTwice(key.source, key.span));
    }
    keys.add(key.source);
    entries.push({ key: key.source, keySpan: key.span, value, shared: false });
  } while (reader.column === column);
  if (reader.column > column) giveUp();
  reader.depth--;
  return { kind: 'map', entries, flow: false, open, span: { start, end } };
}

/** The items whose dashes stand at the column, from the first dash on. */
function sequence(reader: Reader, column: number): YamlNode {
  const start = reader.at;
  const items: YamlItem[] = [];
  let end = start;
  enter(reader);
  do {
    reader.at++;
    const value = valueBehind(reader, column, false);
    end = value.span.end;
    items.push({ value, shared: false });
    // What follows at the same column may be the next key of the mapping around.
  } while (reader.column === column && isDash(reader));
  if (reader.column > column) giveUp();
  reader.depth--;
  return { kind: 'seq', items, flow: false, open: false, span: { start, end } };
}

/** The value behind a key's colon or an item's dash, and then the place of what follows it. */
function valueBehind(reader: Reader, parent: number, ofKey: boolean): YamlNode {
  const behind = reader.at;
  skipSpaces(reader);
  const code = reader.source.charCodeAt(reader.at);
  if (isBreak(code) || code === HASH) {
    // The library puts an empty item behind the spaces, and an empty value at its colon.
    const empty = ofKey ? behind : reader.at;
    endLine(reader);
    if (reader.column > parent) return blockValue(reader, parent);
    if (ofKey && reader.column === parent && isDash(reader)) return sequence(reader, parent);
    return emptyScalar(empty);
  }
  if (reader.at === behind) giveUp();
  if (ofKey) return lineValue(reader, parent);
  reader.column = reader.at - reader.lineStart;
  return blockValue(reader, parent);
}

/** A value that stands at its own column: on a line of its own or behind a dash. */
function blockValue(reader: Reader, parent: number): YamlNode {
  if (isDash(reader)) return sequence(reader, reader.column);
  if (keyColon(reader) !== -1) return mapping(reader, reader.column);
  return lineValue(reader, parent);
}

function lineValue(reader: Reader, parent: number): YamlNode {
  const code = reader.source.charCodeAt(reader.at);
  return code === BAR || code === GREATER ? blockScalar(reader, parent) : inlineValue(reader, parent);
}

/** A quoted or plain scalar or a flow collection, and then the place of what follows it. */
function inlineValue(reader: Reader, parent: number): YamlNode {
  const { source, at } = reader;
  const first = source.charCodeAt(at);
  const bracket = first === BRACE || first === BRACKET;
  if (!bracket && first !== DOUBLE && first !== SINGLE) return plainLines(reader, parent);
  const value = bracket ? readFlow(reader, parent) : quoted(reader, quoteEnd(source, at, parent));
  endLine(reader);
  return value;
}

const DOUBLE = 0x22;
const HASH = 0x23;
const SINGLE = 0x27;
const GREATER = 0x3e;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BAR = 0x7c;
