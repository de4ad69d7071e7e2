import { resolvePlain } from './scalar.ts';

/** A value to write: anything that JSON can express. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/** The writing style around the place of an edit. */
export interface WritingStyle {
  /** The line end: a line feed, or a carriage return and a line feed. */
  readonly eol: string;
  /** Spaces by which a nested mapping is indented. */
  readonly step: number;
  /** Spaces by which the dashes of a sequence are indented under their key: 0 or the step. */
  readonly dash: number;
  /** The quote for strings that need one. */
  readonly quote: '"' | "'";
  /** Multi-line strings may be literal blocks. Only at the end of a text: a block would absorb spaces and comments that follow. */
  readonly literal: boolean;
}

/** What a scalar is written in, which decides the quotes that it needs. */
export type ScalarPlace = 'block' | 'flow' | 'json';

/** A scalar's text: plain if that reads back as the same value, quoted otherwise (always in JSON). */
export function renderScalar(
  value: string | number | boolean | null,
  place: ScalarPlace,
  quote: '"' | "'" = '"',
): string {
  if (typeof value === 'string') {
    return place !== 'json' && isPlainSafe(value, place === 'flow')
      ? value
      : renderQuoted(value, place === 'json' ? '"' : quote);
  }
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf';
}

/** A quoted string; in double quotes if single quotes cannot express it. */
export function renderQuoted(value: string, quote: '"' | "'"): string {
  if (quote === "'" && !UNPRINTABLE.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value).replace(ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value on one line, as in `{a: 1, b: [x]}`. */
export function renderFlow(value: PlainValue, json: boolean, quote: '"' | "'" = '"'): string {
  const place = json ? 'json' : 'flow';
  if (isList(value)) return `[${value.map((item) => renderFlow(item, json, quote)).join(', ')}]`;
  if (!isMapping(value)) return renderScalar(value, place, quote);
  const pairs = Object.entries(value).map(
    ([key, item]) => `${renderScalar(key, place, quote)}: ${renderFlow(item, json, quote)}`,
  );
  return `{${pairs.join(', ')}}`;
}

/** A value in block style. The first line has no indentation; the others are indented to `column`. */
export function renderBlock(value: PlainValue, column: number, style: WritingStyle): string[] {
  const pad = ' '.repeat(column);
  if (isList(value) && value.length > 0) {
    return value.flatMap((item, index) => {
      const [first = '', ...rest] = renderBlock(item, column + 2, style);
      return [`${index === 0 ? '' : pad}- ${first}`, ...rest];
    });
  }
  if (isMapping(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([key, item], index) => {
      const [first = '', ...rest] = renderEntry(key, item, column, style);
      return [(index === 0 ? '' : pad) + first, ...rest];
    });
  }
  if (isList(value)) return ['[]'];
  if (isMapping(value)) return ['{}'];
  return [renderScalar(value, 'block', style.quote)];
}

/** `key: value` in block style, with the key at `column`; the first line has no indentation. */
export function renderEntry(key: string, value: PlainValue, column: number, style: WritingStyle): string[] {
  const name = renderScalar(key, 'block', style.quote);
  const nested = (isList(value) && value.length > 0) || (isMapping(value) && Object.keys(value).length > 0);
  if (nested) {
    const inner = column + (isList(value) ? style.dash : style.step);
    const [first = '', ...rest] = renderBlock(value, inner, style);
    return [`${name}:`, ' '.repeat(inner) + first, ...rest];
  }
  if (typeof value === 'string' && style.literal && isLiteralSafe(value)) {
    const pad = ' '.repeat(column + style.step);
    const lines = value.replace(/\n$/, '').split('\n');
    return [`${name}: ${value.endsWith('\n') ? '|' : '|-'}`, ...lines.map((line) => (line === '' ? '' : pad + line))];
  }
  return [`${name}: ${renderBlock(value, column, style)[0]}`];
}

/** Whether a plain value is a list. */
export function isList(value: PlainValue): value is readonly PlainValue[] {
  return Array.isArray(value);
}

/** Whether a plain value is a mapping. */
export function isMapping(value: PlainValue): value is { readonly [key: string]: PlainValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the text reads as the very same string without quotes. Texts that other readers take for another type count as unsafe. */
function isPlainSafe(text: string, flow: boolean): boolean {
  if (text === '' || resolvePlain(text) !== text || UNPRINTABLE.test(text)) return false;
  if (/^[\s!&*?|>@`'"%#{}[\],=~-]/.test(text) && !/^-[^\s-]/.test(text)) return false;
  if (/^(?:<<|---|\.\.\.)|^[.:]|\s$|:$|:\s|\s#/.test(text)) return false;
  // Dates and 1:30 are strings for Kubernetes, but not for every reader.
  if (/^\d+(?:-\d+-\d|:[\d:.]+$)/.test(text)) return false;
  return !flow || !/[,[\]{}]/.test(text);
}

/** A multi-line text that a literal block (|) represents exactly. */
export function isLiteralSafe(text: string): boolean {
  if (!text.includes('\n') || /\n\n$|^[\s#]|[ \t]\n|[ \t]$/.test(text)) return false;
  return !UNPRINTABLE.test(text.replaceAll('\n', '')) && !/^(?:---|\.\.\.)/m.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: characters that YAML accepts only as escapes in double quotes.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/;
const ESCAPED = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g;
