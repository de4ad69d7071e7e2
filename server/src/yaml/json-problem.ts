import { shorten } from './shorten.ts';

/** An error in a file of JSON, and its offset. */
export interface JsonProblem {
  readonly message: string;
  readonly at: number;
}

/** The first error of a text that must be JSON, as RFC 8259 defines it. Manifests are not: YAML accepts more. */
export function jsonProblem(text: string): JsonProblem | undefined {
  const start = text.charAt(0) === '\uFEFF' ? 1 : 0;
  try {
    JSON.parse(text.slice(start));
    return undefined;
  } catch {
    return problemFrom(text, start);
  }
}

/** What may follow. `first`: in brackets that have nothing yet. */
type Next = 'value' | 'first' | 'colon' | 'comma';

const part =
  /[ \t\r\n]*(?:(?<text>"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*")|(?<mark>[{}[\],:])|(?<word>-?\d[\d.eE+-]*|true|false|null)|(?<other>[^ \t\r\n]))/uy;

/** What JSON.parse accepts among the numbers and escapes that `part` finds. */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const escapeForm = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}|(?<unknown>.))/g;

function problemFrom(text: string, start: number): JsonProblem {
  const open: { readonly mark: string; readonly at: number }[] = [];
  let next: Next = 'value';
  let isKey = false;
  let comma = 0;
  part.lastIndex = start;
  for (let end = start, found = part.exec(text); found !== null; end = part.lastIndex, found = part.exec(text)) {
    const { text: quoted, mark, word, other = '' } = found.groups ?? {};
    const at = part.lastIndex - (quoted ?? mark ?? word ?? other).length;
    const inner = open.at(-1);
    if (mark === '}' || mark === ']') {
      if (next === 'value' && inner !== undefined && text.charAt(comma) === ',')
        return { message: 'JSON has no trailing commas; remove this one', at: comma };
      if (inner === undefined) return { message: `Unexpected ${mark}; remove it`, at };
      if (inner.mark !== (mark === '}' ? '{' : '[')) return unclosed(inner);
      open.pop();
      next = 'comma';
      continue;
    }
    if (next === 'comma') {
      if (mark !== ',' || inner === undefined) return unexpected(text, at, 'Missing comma after this value', end);
      [next, comma] = ['value', at];
      isKey = inner.mark === '{';
      continue;
    }
    if (next === 'colon') {
      if (mark !== ':') return unexpected(text, at, 'Missing colon after this key', end);
      [next, comma] = ['value', at];
      isKey = false;
      continue;
    }
    if (quoted === undefined && (isKey || word === undefined) && (isKey || (mark !== '{' && mark !== '[')))
      return unexpected(text, at);
    const wrong = mark === undefined ? problemIn(quoted ?? word ?? '', at) : undefined;
    if (wrong !== undefined) return wrong;
    next = isKey ? 'colon' : 'comma';
    if (mark === undefined) continue;
    open.push({ mark, at });
    [next, isKey] = ['first', mark === '{'];
  }
  const last = open.at(-1);
  return last === undefined ? { message: 'The file has no value', at: start } : unclosed(last);
}

/** The error in a text or a word that begins at an offset. */
function problemIn(value: string, at: number): JsonProblem | undefined {
  if (value.startsWith('"')) {
    const found = [...value.matchAll(escapeForm)].find(({ groups }) => groups?.unknown !== undefined);
    return found && { message: 'Unknown escape in quotes; write \\\\ for a backslash', at: at + found.index };
  }
  if (!/^-?\d/.test(value) || numberForm.test(value)) return undefined;
  return { message: `${shorten(value)} is not a valid JSON number`, at };
}

function unclosed({ mark, at }: { readonly mark: string; readonly at: number }): JsonProblem {
  return { message: `Unclosed bracket; add the closing ${mark === '{' ? '}' : ']'}`, at };
}

/** @param instead what is missing at the end of the part before, if what follows it explains nothing */
function unexpected(text: string, at: number, instead?: string, end = at): JsonProblem {
  const line = /^[^\r\n]*/.exec(text.slice(at, at + 200))?.[0].trimEnd() ?? '';
  if (/^(?:<{7}|={7}|>{7})(?: |$)/.test(line))
    return { message: 'Unresolved merge conflict; choose one side and remove the marker lines', at };
  if (/^(?:\/[/*]|#)/.test(line)) return { message: 'JSON has no comments; remove this one', at };
  if (line.startsWith('"') && !/^"(?:[^"\\]|\\.)*"/.test(line))
    return { message: 'Unclosed quote; add the closing quote', at };
  const control = line.startsWith('"') ? /\p{Cc}/u.exec(line)?.index : undefined;
  if (control !== undefined)
    return { message: 'Tabs and other control characters need an escape; write \\t for a tab', at: at + control };
  if (instead !== undefined) return { message: instead, at: Math.max(0, end - 1) };
  if (/^['\u2018\u2019\u201c\u201d]/.test(line)) return { message: 'JSON has only double quotes; use them', at };
  return /^[A-Za-z_$]/.test(line)
    ? { message: `${shorten(/^[\w$-]*/.exec(line)?.[0] ?? '')} must be in double quotes`, at }
    : { message: `Unexpected ${line.charAt(0)}; this is not JSON`, at };
}
