import { omittedLines } from './split.ts';
import { FILL, type HiddenLines, LONGEST_PREFIX, type Mask } from './template.ts';
import type { TemplateAction } from './template-action.ts';

// Texts of renderers whose syntax is YAML, but means something else there.

/** Masks variables that are errors of YAML where a value begins: `${VAR}`, `%(var)s`, `@VAR@`, `%VAR%`. Undefined if the text contains none. */
export function maskVariables(text: string): Mask | undefined {
  return maskAll(text, VARIABLE);
}

/**
 * Masks the fields of a text that Python formats: `{image}`, `{gpus}`. In YAML they are mappings without a value, which nobody writes twice.
 * Undefined if fewer than two values begin with one.
 */
export function maskFields(text: string): Mask | undefined {
  if (!text.includes(': {')) return undefined;
  const names = new Set([...text.matchAll(FIELD_AS_VALUE)].map(([, name]) => name));
  return names.size < 2 ? undefined : maskAll(text, FIELD);
}

/**
 * Masks what YAML reads as something else: a token `#{tag}#`, which would be a comment, and `[[ .tag ]]`, which would be a list of lists.
 * Undefined if the text contains none.
 */
export function maskTokens(text: string): Mask | undefined {
  return text.includes('#{') || text.includes('[[') ? maskAll(text, TOKEN) : undefined;
}

function maskAll(text: string, pattern: RegExp): Mask | undefined {
  const actions: TemplateAction[] = [];
  const masked = text.replace(pattern, (variable, start: number) => {
    actions.push({ text: variable, span: { start, end: start + variable.length } });
    return FILL.repeat(variable.length);
  });
  return actions.length === 0 ? undefined : { text: masked, original: text, actions, hiddenLines: [] };
}

/**
 * Masks stand-in lines: a lone variable of a renderer (`${VAR}`, `$VAR`, `__VAR__`, `@VAR@`, `%VAR%`), or the dots with which documentation
 * leaves out lines. Variables elsewhere are masked too.
 * Undefined if the text contains no such line.
 */
export function maskStandIns(text: string): Mask | undefined {
  const hiddenLines: HiddenLines[] = [];
  const omitted = new Set(omittedLines(text).map(({ start }) => start));
  const blanked = text.replace(STAND_IN, (line: string, offset: number) => {
    if (line.startsWith('...') && line.trimEnd().length === 3 && !omitted.has(offset)) return line;
    const column = line.search(/\S/);
    hiddenLines.push({ offset, column });
    // A renderer may indent the lines itself, as those above.
    if (column === 0) hiddenLines.push({ offset, column: indentAbove(text, offset) });
    return ' '.repeat(line.length);
  });
  if (hiddenLines.length === 0) return undefined;
  const mask = maskVariables(blanked);
  return { text: mask?.text ?? blanked, original: text, actions: mask?.actions ?? [], hiddenLines };
}

/** The indentation of the last line with text above an offset, at most 500 characters above. */
function indentAbove(text: string, offset: number): number {
  const above = text.slice(Math.max(0, offset - LONGEST_PREFIX), offset).split('\n');
  return (
    above
      .filter((line) => /^ *[^\s#]/.test(line))
      .at(-1)
      ?.search(/\S/) ?? 0
  );
}

/** Of envsubst, of Python's formats, and names between signs, which cannot begin a value. */
const VARIABLE = /\$\{[A-Za-z_]\w*(?::?[-=][^{}\n]*)?\}|%\([A-Za-z_]\w*\)[sdif]|@@?[A-Za-z]\w*@@?|%%?[A-Z]\w*%%?/g;

const TOKEN =
  /(?<=[:-][ \t]{1,9}|[^\s#])#\{[A-Za-z_][\w.-]*\}#?|(?<=[:-][ \t]{1,9})\[\[[ \t]*[.$][^[\],"'\n]{1,200}\]\]/g;

/** https://docs.python.org/3/library/string.html#format-string-syntax */
const FIELD = /(?<![${])\{[A-Za-z_][\w.]*(?:![rsa])?(?::[^{}\s]*)?\}(?!\})/g;
const FIELD_AS_VALUE = /^[ \t]*(?:- +)*[\w./][\w./-]*:[ \t]+\{([A-Za-z_]\w*)\}[\w./:-]*[ \t]*$/gm;

/** Three dots at the start of a line end a document, unless the same object continues below. */
const STAND_IN =
  /^[ \t]*(?:\$\{[A-Za-z_]\w*\}|\$[A-Z_][A-Z0-9_]*|__[A-Z][A-Z0-9_]*__|@@?[A-Z]\w*@@?|%%?[A-Z]\w*%%?|\.{3,}|\u2026)[ \t]*$/gm;
