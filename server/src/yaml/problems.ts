import { Lexer, type YAMLError } from 'yaml';
import { lineOutsideBlock } from './block-end.ts';
import { foreignIndent, foreignLine, itemAbove, lookalike, openAction } from './foreign-lines.ts';
import type { YamlProblem } from './node.ts';
import type { Span } from './span.ts';

/**
 * The one problem behind the errors of a document, in our own words and at its true place. The library reports the consequences of an error
 * as further errors; only the first is the user's.
 */
export function firstProblem(errors: readonly YAMLError[], text: string): YamlProblem | undefined {
  const real = errors.filter(({ code, message }) =>
    code === 'TAG_RESOLVE_FAILED' ? message.startsWith('Could not resolve tag') : code !== 'BAD_COLLECTION_TYPE',
  );
  let first = real[0];
  if (first === undefined) return undefined;
  for (const error of real) if (error.pos[0] < first.pos[0]) first = error;
  const { code, message } = first;
  const pos = [behindComments(text, first.pos[0]), first.pos[1]] as const;
  // The error of an indentation is where the text of its line begins.
  const isItem = code === 'BLOCK_AS_IMPLICIT_KEY' && startsItem(text, pos[0]);
  const indented = code === 'BAD_INDENT' || isItem || message.startsWith('Sequence item without');
  const shift = indented ? (/^[ \t]*/.exec(text.slice(pos[0], pos[0] + 500))?.[0].length ?? 0) : 0;
  const span = placeOf([pos[0] + shift, Math.max(pos[0] + shift, pos[1])], text);

  const foreign = foreignLine(text, pos[0]);
  if (foreign !== undefined) return foreign;
  const outside = lineOutsideBlock(
    text,
    real.reduce((last, error) => Math.max(last, error.pos[0]), pos[0]),
  );
  if (outside) {
    const is = 'This line is indented less than the text block above and ends it';
    return { message: `${is}; indent it like the lines of the block`, span: outside };
  }
  if (real.some((error) => /^Missing closing ['"]quote/.test(error.message))) {
    const quote = unclosedQuote(text);
    if (quote) return { message: 'Unclosed quote; add the closing quote', span: quote };
  }
  if (real.some((error) => isUnclosedBracket(error.message))) {
    const bracket = unclosedBracket(text);
    if (bracket && bracket.start <= pos[0]) {
      const closing = text.charAt(bracket.start) === '{' ? '}' : ']';
      const message = `Unclosed bracket; add the closing ${closing}`;
      return openAction(text, bracket.start) ?? { message, span: bracket };
    }
  }
  const digit = code === 'BAD_INDENT' || code === 'MISSING_CHAR' ? blockDigit(text, pos[0]) : undefined;
  if (digit)
    return { message: 'The text block is indented less than this digit requires; remove the digit', span: digit };
  const tab = tabInIndent(text, pos[0]);
  if (code === 'TAB_AS_INDENT' || tab) {
    return { message: 'Tab in the indentation; use spaces', span: tab ?? span };
  }
  // "Align the line" would not help anyone who sees it aligned.
  const looks = lookalike(text, span) ?? (indented ? itemAbove(text, span) : undefined);
  if (looks !== undefined) return looks;
  const opening = message.startsWith('Missing , or') ? openingInText(text, span.start) : undefined;
  if (opening !== undefined) return opening;
  const comment = indented ? commentInValue(text, span) : undefined;
  if (comment !== undefined) return comment;
  const comma = missingComma(real, text);
  if (comma !== undefined) return comma;
  const colon = code === 'BLOCK_AS_IMPLICIT_KEY' ? lastColon(text, span) : undefined;
  if (colon) return { message: 'Second colon on one line; remove it or quote the value', span: colon };
  const deeper = code === 'BLOCK_AS_IMPLICIT_KEY' ? deeperLine(text, span) : undefined;
  if (deeper)
    return { message: 'This line is indented deeper than the lines around it; align it with them', span: deeper };
  return { message: sentence(code, message, text, span), span };
}

/** The library takes comments for the start of the line below them. */
function behindComments(text: string, at: number): number {
  const found = /^(?:[ \t]*#[^\n]*\n)+/.exec(text.slice(at, at + 5000));
  return text.charAt(at - 1) === '\n' && found !== null && at + found[0].length < text.length
    ? at + found[0].length
    : at;
}

/** The digit of a block marker on the line above, as in `|4`. */
function blockDigit(text: string, at: number): Span | undefined {
  const line = text.lastIndexOf('\n', at - 1);
  const from = text.lastIndexOf('\n', line - 1) + 1;
  const found = /^(.*[ \t][|>][-+]?)[1-9][-+]?[ \t]*(?:#.*)?\r?$/.exec(
    text.slice(from, Math.max(from, Math.min(line, from + 500))),
  );
  const start = from + (found?.[1]?.length ?? 0);
  return found === null ? undefined : { start, end: start + 1 };
}

/** A colon after a value, as in `name: chat:`: the lines below become the value of a second key. */
function lastColon(text: string, { start }: Span): Span | undefined {
  const line = /^[^\r\n#]*/.exec(text.slice(start, start + 1000))?.[0].trimEnd() ?? '';
  const end = start + line.length;
  return line.endsWith(':') ? { start: end - 1, end } : undefined;
}

/** The value in brackets that a comma should follow, as in `{a: 1 b: 2}`: with the next key, it reads as a mapping in block style. */
function missingComma(errors: readonly YAMLError[], text: string): YamlProblem | undefined {
  const inner = errors.find(({ code }) => code === 'BLOCK_IN_FLOW');
  if (inner === undefined) return undefined;
  const [start] = inner.pos;
  const isValue = /[:,[] *$/.test(text.slice(Math.max(0, start - 100), start));
  // In `{a: b: c}`, the colon is the mistake.
  const isFollowed = /^(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\s:"']+)\s+[^\s:]/.test(text.slice(start, start + 1000));
  if (!isValue || !isFollowed) return undefined;
  return { message: 'Missing comma after this value', span: placeOf([start, start], text) };
}

/** A bracket within a plain value that is itself in brackets, as in `[--set={"a": 1}]`. */
function openingInText(text: string, at: number): YamlProblem | undefined {
  const mark = text.charAt(at);
  const before = /([^\s,[\]{}"']*)$/.exec(text.slice(Math.max(0, at - 200), at))?.[0] ?? '';
  if ((mark !== '{' && mark !== '[') || before === '' || before.endsWith(':')) return undefined;
  const message = `Quote the whole value: in brackets, this ${mark} begins a ${mark === '{' ? 'mapping' : 'list'}`;
  return { message, span: { start: at - before.length, end: at + 1 } };
}

/** A line that goes on with the value above, though a comment between them has ended it. */
function commentInValue(text: string, { start, end }: Span): YamlProblem | undefined {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const above = text.slice(Math.max(0, line - 2000), line);
  const found = /(?:^|\n)([ \t]*)(?:- +)*[\w./-]+: +[^\s"'[{|>&*#][^\n]*\n(?:[ \t]*#[^\n]*\n)+$/.exec(above);
  const rest = /^[^\n]*/.exec(text.slice(start, start + 500))?.[0] ?? '';
  if (found === null || start - line <= (found[1] ?? '').length || /^(?:- |[^\s:]+:(?:\s|$))/.test(rest))
    return undefined;
  return {
    message: 'The comment above ends the value before it; quote the whole value or move the comment',
    span: { start, end },
  };
}

/** A key on the line below a plain value and indented deeper: it continues the value, though it was meant as the next key. */
function deeperLine(text: string, span: Span): Span | undefined {
  const rest = text.slice(span.start, span.start + 2000);
  const found = /^[^\r\n]*[\r\n]\s*/.exec(rest);
  if (!found || /:\s+\S/.test(found[0])) return undefined;
  const start = span.start + found[0].length;
  return { start, end: start + (/^[^:\s]*/.exec(text.slice(start, start + 200))?.[0].length ?? 1) };
}

function sentence(code: string, message: string, text: string, span: Span): string {
  switch (code) {
    case 'BAD_INDENT':
      return misaligned;
    case 'MULTILINE_IMPLICIT_KEY':
      if (/^[\w.-]{1,63}:[^\s:/]/.test(text.slice(span.start, span.start + 70)))
        return 'A space is missing after the colon; add it, or quote the text';
      return 'Not a `key: value` pair; add the missing colon, or indent or quote the text';
    case 'BLOCK_AS_IMPLICIT_KEY':
      // A list item below the value that it continues.
      if (startsItem(text, span.start)) return misaligned;
      return 'Second `: ` on one line; quote the value or start a new line';
    case 'BLOCK_IN_FLOW':
      return 'Indented YAML inside brackets; close the bracket or use brackets here too';
    case 'BAD_SCALAR_START':
      return `A plain value cannot start with ${text.charAt(span.start)}; quote it`;
    case 'BAD_DQ_ESCAPE':
      return 'Unknown escape in double quotes; write \\\\ for a backslash or use single quotes';
    case 'BAD_ALIAS':
      return 'A value that starts with * or & must name an alias or anchor; quote the value';
    case 'MULTIPLE_ANCHORS':
      return 'A value can have only one anchor; remove the other';
    case 'MULTIPLE_TAGS':
      return 'A value can have only one tag; remove the other';
    case 'BAD_DIRECTIVE':
      return 'This % line is not a YAML directive; remove it';
    case 'TAG_RESOLVE_FAILED':
      return 'No %TAG line defines the prefix of this tag; remove the tag';
    case 'KEY_OVER_1024_CHARS':
      return 'This key is longer than 1,024 characters; shorten it';
    case 'MISSING_CHAR':
      return missing(message);
    default:
      return unexpected(message, text, span);
  }
}

/** Whether an item of a list begins on the line of an offset, at it or after it. */
function startsItem(text: string, at: number): boolean {
  const line = text.lastIndexOf('\n', at - 1) + 1;
  return /^[ \t]*$/.test(text.slice(line, Math.min(at, line + 500))) && /^[ \t]*- /.test(text.slice(at, at + 500));
}

const misaligned = 'The indentation matches no line above; align the line with the lines around it';

function missing(message: string): string {
  if (message.startsWith('Implicit map keys') || message.startsWith('Implicit keys')) {
    return 'Missing colon after this key';
  }
  if (message.startsWith('Sequence item without'))
    return 'This line is not part of any list item; align it with the lines around it, or start it with `- `';
  if (message.startsWith('Block scalars with more-indented'))
    return 'A blank line above has more spaces than this text block; remove them';
  if (message.startsWith('Missing , or')) return 'Missing comma or colon';
  if (message.startsWith('Missing ,')) return 'Missing comma';
  if (message.startsWith('Missing space after :')) return 'Missing space after the colon';
  if (message.startsWith('Comments must')) return 'Missing space before the #';
  if (message.startsWith('Tags and anchors')) return 'Missing space after the tag or anchor';
  if (message.startsWith('Block collection cannot start'))
    return 'The document must start on the line below `---`; move it there';
  if (message.includes('directives-end')) return 'Missing `---` line after the % directives';
  return 'Incomplete YAML; check colons, quotes and brackets';
}

function unexpected(message: string, text: string, span: Span): string {
  if (message.startsWith('Block scalar header')) return 'Text after the block marker; move it to the next line';
  if (startsObject(text, span.start))
    return 'A second object begins here; separate it from the one above by a line ---';
  const found = text.slice(span.start, span.start + 20).trim();
  if (/^[[\]{},:]/.test(found)) return `Unexpected ${found.charAt(0)}; remove it or quote the text`;
  return found === ''
    ? 'Unexpected end of the value'
    : 'Unexpected text after the value; quote the whole value or move it';
}

/** Whether an object in YAML follows one in JSON, or a list. */
function startsObject(text: string, at: number): boolean {
  const line = text.slice(at, at + 20);
  return /^(?:apiVersion|kind):\s/.test(line) && /[\]}]\s*\n$/.test(text.slice(Math.max(0, at - 200), at));
}

function isUnclosedBracket(message: string): boolean {
  return /must (?:be sufficiently indented and )?end with a [}\]]$/.test(message);
}

/**
 * What Kubernetes' parser rejects about a key, though YAML 1.2 allows it.
 * @param plain the key has no quotes
 * @param flow the key is in brackets
 */
export function keyProblem(
  text: string,
  { span, plain }: { readonly span: Span; readonly plain: boolean },
  flow: boolean,
): YamlProblem | undefined {
  if (span.start === span.end) {
    const at = text.indexOf(':', span.start);
    return at === -1 ? undefined : { message: 'Missing key before the colon', span: { start: at, end: at + 1 } };
  }
  const key = text.slice(span.start, span.end);
  const indent = plain && !flow ? foreignIndent(key) : undefined;
  if (indent !== undefined) return { message: indent, span: { start: span.start, end: span.start + 1 } };
  const colon = /^\s*:/.exec(text.slice(span.end, span.end + 1000))?.[0];
  if (colon?.includes('\n') && !isExplicit(text, span) && !/^\uFEFF?\s*\{\s*"/.test(text))
    return { message: 'The colon must follow its key on the same line; move it there', span };
  if (!flow) return undefined;
  if (/[\r\n]/.test(key) && !isExplicit(text, span)) {
    const [line = ''] = /^[^\r\n]*/.exec(key) ?? [];
    const isJson = /^\uFEFF?\s*\{\s*"/.test(text);
    const message = /^\/[/*]/.test(key)
      ? isJson
        ? 'JSON has no comments; remove this one'
        : 'YAML has no such comment; start it with #'
      : 'This key continues on the next line; add the missing comma or colon, or write it on one line';
    return { message, span: { start: span.start, end: span.start + line.trimEnd().length } };
  }
  return plain && /^:[[{,\]}]/.test(text.slice(span.end, span.end + 2))
    ? { message: 'Missing space after the colon', span: { start: span.end, end: span.end + 1 } }
    : undefined;
}

/** Whether `? ` precedes a key and its anchor or tag. */
function isExplicit(text: string, { start }: Span): boolean {
  const before = text.slice(Math.max(0, start - 100), start).replaceAll(/(?<=\s)#[^\n]*(?=\n)/g, '');
  return /\?\s*(?:[&!]\S*\s+)*$/.test(before);
}

/** The library's position, limited to its line and never empty where there is a character to underline. */
function placeOf(pos: readonly [number, number], text: string): Span {
  let start = Math.max(0, Math.min(pos[0], text.length));
  if (start > 0 && (start === text.length || /[\r\n]/.test(text.charAt(start)))) {
    // An error at a line end concerns the text before it.
    while (start > 0 && /\s/.test(text.charAt(start - 1))) start--;
    if (start > 0) start--;
  }
  const line = /^[^\r\n]*/.exec(text.slice(start, start + 1000))?.[0] ?? '';
  const word = /^\S+/.exec(line)?.[0].length ?? Math.min(1, line.length);
  const reported = pos[1] - pos[0] > 1 ? Math.min(pos[1] - start, line.trimEnd().length) : 0;
  return { start, end: start + Math.max(reported, word) };
}

function tabInIndent(text: string, at: number): Span | undefined {
  // A tab in the indentation surfaces there or on the line above, whose value absorbed the line.
  const from = text.lastIndexOf('\n', Math.max(0, at - 1)) + 1;
  const found = /^ *\t+(?=[ \t]*[^\s#])/m.exec(text.slice(from, from + 2000));
  if (!found || text.slice(from, from + found.index).split('\n').length > 3) return undefined;
  const start = from + found.index + found[0].indexOf('\t');
  return { start, end: from + found.index + found[0].length };
}

function unclosedQuote(text: string): Span | undefined {
  let at = 0;
  let scalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (CONTROL_LEXEMES.has(lexeme)) {
      scalar = lexeme === SCALAR_LEXEME;
      continue;
    }
    const quote = lexeme.charAt(0);
    if (!scalar && (quote === '"' || quote === "'")) {
      const body = quote === '"' ? lexeme.slice(1).replace(/\\[\s\S]/g, '') : lexeme.slice(1).replaceAll("''", '');
      if (!body.endsWith(quote)) return { start: at, end: at + (/^[^\r\n]*/.exec(lexeme)?.[0].trimEnd().length ?? 1) };
    }
    scalar = false;
    at += lexeme.length;
  }
  return undefined;
}

function unclosedBracket(text: string): Span | undefined {
  const open: number[] = [];
  let at = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === FLOW_END_LEXEME) break;
    if (CONTROL_LEXEMES.has(lexeme)) continue;
    if (lexeme === '[' || lexeme === '{') open.push(at);
    else if (lexeme === ']' || lexeme === '}') open.pop();
    at += lexeme.length;
  }
  const start = open[0];
  return start === undefined ? undefined : { start, end: start + 1 };
}

/** Markers that the lexer emits between the pieces of the text; they take no space in it. */
export const SCALAR_LEXEME = '\u001f';
export const FLOW_END_LEXEME = '\u0018';
export const CONTROL_LEXEMES: ReadonlySet<string> = new Set(['\u0002', FLOW_END_LEXEME, SCALAR_LEXEME]);
