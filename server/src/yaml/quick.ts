import { emptyScalar } from './draft.ts';
import type { YamlComment, YamlEntry, YamlItem, YamlNode, YamlProblem } from './node.ts';
import { maskVariables } from './other-templates.ts';
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
import { watchKeys } from './repeated-keys.ts';
import type { Mask } from './template.ts';

/** The result of `readQuick`: what the library returns for a text without errors. */
export interface QuickRead {
  readonly root: YamlNode | null;
  readonly comments: readonly YamlComment[];
  readonly problems: readonly YamlProblem[];
  /** The text was read as a template. */
  readonly template: boolean;
}

/**
 * Reads the YAML that manifests nearly always consist of: block mappings and sequences, flow collections, scalars of all styles, and
 * comments. At the first thing that is not clearly one of these (an anchor, a tag, a `?` key, a tab, any error) it gives up and returns
 * undefined, and the library reads the text: this reader never judges. The library splits a large file into lexemes, tokens and nodes with
 * options, which costs about thirty times as much; typing in a long document would stall.
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

/** Where `readQuick` gives up: at or shortly before what is not plain YAML. */
export function quickStop(text: string, mask: Mask | undefined): number {
  const reader = createReader(text, mask);
  if (reader === undefined) {
    const found = /\uFEFF|\r(?!\n)|\n *\t/.exec(mask?.text ?? text);
    return found === null ? 0 : found.index + found[0].length - 1;
  }
  try {
    readDocument(reader);
  } catch {
    // The place is the result.
  }
  return Math.min(reader.at, text.length);
}

/** A text that is not YAML as written, but may be with its variables masked. */
function readWithVariables(text: string): QuickRead | undefined {
  const mask = maskVariables(text);
  return mask && readQuick(text, mask);
}

function readDocument(reader: Reader): YamlNode | null {
  advance(reader, true);
  if (reader.column === -1) return null;
  // A single scalar is not a manifest; leave it to the library.
  const root = isDash(reader) ? sequence(reader, reader.column) : collection(reader, -1);
  return reader.column === -1 ? root : giveUp();
}

function collection(reader: Reader, parent: number): YamlNode {
  const flow = reader.source.charCodeAt(reader.at);
  if (flow === BRACE || flow === BRACKET) return inlineValue(reader, parent);
  return mapping(reader, reader.column);
}

// The lists of nodes are copied when they are complete: a list that grows has room for 16 more, which would stay with the document.

/** The entries whose keys are at the column, starting at the first key. */
function mapping(reader: Reader, column: number): YamlNode {
  const start = reader.at;
  const entries: YamlEntry[] = [];
  const noteKey = watchKeys(reader.problems, reader.mask !== undefined, entries);
  let incomplete = false;
  let end = start;
  enter(reader);
  do {
    if (isDash(reader)) giveUp();
    const key = readKey(reader, keyColon(reader));
    reader.at++;
    const value = valueAfter(reader, column, true);
    end = value.span.end;
    if (key.templated) incomplete = true;
    else noteKey(key.source, key.span);
    entries.push({ key: key.source, keySpan: key.span, value, shared: false });
  } while (reader.column === column);
  if (reader.column > column) giveUp();
  reader.depth--;
  return { kind: 'map', entries: entries.slice(), flow: false, incomplete, span: { start, end } };
}

/** The items whose dashes are at the column, starting at the first dash. */
function sequence(reader: Reader, column: number): YamlNode {
  const start = reader.at;
  const items: YamlItem[] = [];
  let end = start;
  enter(reader);
  do {
    reader.at++;
    const value = valueAfter(reader, column, false);
    end = value.span.end;
    items.push({ value, shared: false });
    // A key at the same column belongs to the enclosing mapping.
  } while (reader.column === column && isDash(reader));
  if (reader.column > column) giveUp();
  reader.depth--;
  return { kind: 'seq', items: items.slice(), flow: false, incomplete: false, span: { start, end } };
}

/** Reads the value after a key's colon or an item's dash, and moves to the text that follows. */
function valueAfter(reader: Reader, parent: number, ofKey: boolean): YamlNode {
  const start = reader.at;
  skipSpaces(reader);
  const code = reader.source.charCodeAt(reader.at);
  if (isBreak(code) || code === HASH) {
    // The library places an empty item after the spaces, and an empty value at its colon.
    const empty = ofKey ? start : reader.at;
    endLine(reader);
    if (reader.column > parent) return blockValue(reader, parent);
    if (ofKey && reader.column === parent && isDash(reader)) return sequence(reader, parent);
    return emptyScalar(empty);
  }
  if (reader.at === start) giveUp();
  if (ofKey) return lineValue(reader, parent);
  reader.column = reader.at - reader.lineStart;
  return blockValue(reader, parent);
}

/** A value at its own column: on its own line or after a dash. */
function blockValue(reader: Reader, parent: number): YamlNode {
  if (isDash(reader)) return sequence(reader, reader.column);
  if (keyColon(reader) !== -1) return mapping(reader, reader.column);
  return lineValue(reader, parent);
}

function lineValue(reader: Reader, parent: number): YamlNode {
  const code = reader.source.charCodeAt(reader.at);
  return code === BAR || code === GREATER ? blockScalar(reader, parent) : inlineValue(reader, parent);
}

/** Reads a quoted or plain scalar or a flow collection, and moves to the text that follows. */
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
