import { shorten } from './shorten.ts';
import type { Span } from './span.ts';
import { findActions } from './template-action.ts';

/** A part of an action that Helm cannot read, and why. */
export interface UnreadableAction {
  readonly span: Span;
  readonly message: string;
}

/** The actions of a Helm template with which no file of its chart is rendered. https://pkg.go.dev/text/template */
export function unreadableActions(text: string): readonly UnreadableAction[] {
  if (!isHelmTemplate(text)) return [];
  const single = singleBraces(text);
  if (!mayBeUnreadable.test(text)) return single;
  const found = findActions(text).flatMap(({ span, text: action }) => {
    const found = action.startsWith('{{') ? problemIn(action) : undefined;
    if (found === undefined) return [];
    const { start, end, message } = found;
    return [{ span: { start: span.start + start, end: span.start + end }, message }];
  });
  return [...single, ...found];
}

/** Paths of values in single braces, which Helm prints as they are. Comments and texts in quotes may have any. */
function singleBraces(text: string): readonly UnreadableAction[] {
  return [...text.matchAll(singleBrace)].map(({ 0: all, 1: before = '', index }) => ({
    span: { start: index + before.length, end: index + all.length },
    message: 'A template action has two braces on each side, as in {{ .Values.name }}: Helm prints this as it is',
  }));
}

const singleBrace = /(^[^\n#{}"'`]{1,200}?)(?<!\{)\{-? *\.(?:Values|Release|Chart)(?:\.\w+)+ *-?\}{1,2}(?=[^}\n]*$)/gm;

/** Whether a template reads the values or the names of a Helm release. */
export function isHelmTemplate(text: string): boolean {
  return isHelm.test(text);
}

const isHelm = /\{\{[^}]*[\s(]\.(?:Values|Release|Chart)\b/;

/** Words of other template languages, at the start of an action. */
const foreignWord = /^\{\{-?\s*(end(?:if|for|range|with)|el(?:se|s)?if)(?![\w-])/;

const mayBeUnreadable =
  /\{\{-?\s*(?:end(?:if|for|range|with)|el(?:se|s)?if)\b|\.Values[\w.]*[-/]|\{\{-[^\s}]|\{\{-?\s+\/\*|\*\/\s+\}\}|\brange\b[^}]*\sas\s/;

function problemIn(action: string): (Span & { readonly message: string }) | undefined {
  const why = 'Helm fails to read the chart';
  const foreign = foreignWord.exec(action);
  const [all, word = ''] = foreign ?? [];
  if (all !== undefined) {
    const own = word.startsWith('end') ? 'end' : 'else if';
    return { start: all.length - word.length, end: all.length, message: `Helm has no ${word}; write ${own}: ${why}` };
  }
  if (/^\{\{-[^\s\d]/.test(action)) return { start: 0, end: 3, message: `{{- needs a space after it: ${why}` };
  if (/^\{\{-?\s*\/\*/.test(action)) {
    if (/^\{\{(?:-\s+)?\/\*/.test(action) && /\*\/(?:\s+-)?\}\}$/.test(action)) return undefined;
    return {
      start: 0,
      end: Math.min(action.length, 200),
      message: `A comment must touch its braces, as in {{/* … */}}: ${why}`,
    };
  }
  // Strings may contain anything.
  const code = action.replace(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g, (quoted) => ' '.repeat(quoted.length));
  const as = /^\{\{-?\s*range\s[^|]*?\s(as\s+\$?\w+)/.exec(code);
  if (as !== null) {
    const end = as[0].length;
    const message = `range has no as; write range ${(as[1] ?? '').slice(2).trim()} := before the list: ${why}`;
    return { start: end - (as[1] ?? '').length, end, message };
  }
  const path = /(?<![\w)\]])\$?\.Values(?:\.\w+)*[-/][\w./-]*/.exec(code);
  if (path === null) return undefined;
  const [written] = path;
  const isTrim = written.endsWith('-') && code.slice(path.index + written.length) === '}}';
  const end = path.index + written.length;
  return isTrim && !/[-/]./.test(written)
    ? { start: end - 1, end, message: `-}} needs a space before it: ${why}` }
    : {
        start: path.index,
        end,
        message: `${shorten(written, 60)} is not a path: ${why}; use index with the key in quotes`,
      };
}
