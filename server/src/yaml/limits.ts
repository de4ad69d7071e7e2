import { Lexer } from 'yaml';
import { CONTROL_LEXEMES } from './problems.ts';

/** Longer texts are not read: no manifest is that long, and an editor must not stall on one. */
const MAX_LENGTH = 5_000_000;
/** Deeper nesting is not read: the readers are recursive, and no manifest is that deep. */
export const MAX_DEPTH = 200;
/** The number of values that a document may contain through aliases alone. */
export const MAX_ALIASED = 100_000;

/** More objects are not read: no project keeps that many in one file, and each one costs time. */
const MAX_OBJECTS = 5_000;
/** A longer document is read only if it is plain: anchors, tags, templates and syntax errors take many times as long. */
const MAX_INTRICATE = 300_000;

/** Why a text is not read at all (a sentence with the value and the limit), or null if it is readable. Linear in the text. */
export function checkLimits(text: string): string | null {
  if (text.length > MAX_LENGTH) {
    return `The file has ${(text.length / 1e6).toFixed(1)} MB of text; the limit is ${MAX_LENGTH / 1e6} MB.`;
  }
  const nul = text.indexOf('\0');
  if (nul !== -1) return `The file is binary: it contains a NUL character at offset ${nul}.`;
  const sample = text.slice(0, SAMPLE);
  const controls = sample.match(CONTROLS)?.length ?? 0;
  if (controls > 8 && controls > sample.length / 50) {
    return `The file is binary: ${controls} of its first ${sample.length} characters are control characters; text may contain up to 2%.`;
  }
  return null;
}

/** How deep a text is nested, and where it first exceeds the limit. */
interface Depth {
  deepest: number;
  at: number;
}

/** Why a document is not read, and where, or null: its brackets or indentation are nested deeper than the limit. */
export function nestingReason(text: string): { readonly reason: string; readonly at: number } | null {
  const [indent, bracket] = [indentDepth(text), bracketDepth(text)];
  const { deepest, at } = indent.deepest > bracket.deepest ? indent : bracket;
  const reason = `The document is nested ${deepest.toLocaleString('en')} levels deep; the limit is ${MAX_DEPTH}.`;
  return deepest > MAX_DEPTH ? { reason, at } : null;
}

function deepen(depth: Depth, now: number, at: number): void {
  if (now <= depth.deepest) return;
  depth.deepest = now;
  if (now === MAX_DEPTH + 1) depth.at = at;
}

/** Why a file with this many documents and list items is not read, or null. */
export function objectsReason(count: number): string | null {
  if (count <= MAX_OBJECTS) return null;
  return `The file has ${count.toLocaleString('en')} objects; the limit is ${MAX_OBJECTS.toLocaleString('en')}. Split the file.`;
}

/** Whether a document is read only if it is plain YAML. */
export function isTooIntricate(text: string): boolean {
  return text.length > MAX_INTRICATE;
}

/** Why such a document is not read. @param at where it is not plain */
export function intricateReason(text: string, at: number): string {
  const line = (text.slice(0, at).match(/\n/g)?.length ?? 0) + 1;
  return `The document has ${Math.ceil(text.length / 1e3)} kB and is not plain YAML (its line ${line.toLocaleString('en')}); with anchors, tags, templates or errors, the limit is ${MAX_INTRICATE / 1e3} kB. Split the document.`;
}

/** Why a document whose aliases expand to this many values is not read. */
export function aliasReason(count: number): string {
  const shown = count < 1e15 ? Math.round(count).toLocaleString('en') : 'more than 10^15';
  return `The document's aliases expand to ${shown} values; the limit is ${MAX_ALIASED.toLocaleString('en')}.`;
}

const SAMPLE = 65_536;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters identify a binary file.
const CONTROLS = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/g;

/** An upper bound on the nesting by indentation and by `- - -`, from the lines alone. */
function indentDepth(text: string): Depth {
  const columns: number[] = [];
  const depth: Depth = { deepest: 0, at: 0 };
  let at = 0;
  while (at < text.length) {
    const start = at;
    let code = text.charCodeAt(at);
    const open = (column: number): void => {
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
      deepen(depth, columns.length, at);
    };
    while (code === SPACE) code = text.charCodeAt(++at);
    if (code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== HASH) {
      open(at - start);
      while ((code === DASH || code === QUESTION || code === COLON) && isSpace(text.charCodeAt(at + 1))) {
        code = text.charCodeAt(++at);
        while (isSpace(code)) code = text.charCodeAt(++at);
        open(at - start);
      }
    }
    const newline = text.indexOf('\n', at);
    if (newline === -1) break;
    at = newline + 1;
  }
  return depth;
}

function bracketDepth(text: string): Depth {
  const depth: Depth = { deepest: 0, at: 0 };
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) deepen(depth, ++open, at);
    else if ((code === 0x5d || code === 0x7d) && open > 0) open--;
  }
  // This also counts brackets in quotes and scripts. Where that could matter, count lexemes instead.
  return depth.deepest > MAX_DEPTH ? trueBracketDepth(text) : depth;
}

function trueBracketDepth(text: string): Depth {
  const depth: Depth = { deepest: 0, at: 0 };
  let open = 0;
  let at = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') deepen(depth, ++open, at);
    else if (lexeme === ']' || lexeme === '}') open = Math.max(0, open - 1);
    if (!CONTROL_LEXEMES.has(lexeme)) at += lexeme.length;
  }
  return depth;
}

const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const HASH = 0x23;
const DASH = 0x2d;
const QUESTION = 0x3f;
const COLON = 0x3a;

function isSpace(code: number): boolean {
  return code === SPACE || code === 0x09;
}
