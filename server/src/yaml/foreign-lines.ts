import type { YamlProblem } from './node.ts';
import type { Span } from './span.ts';

/**
 * A line that is not YAML and explains the syntax error of its text, wherever the reader gave up: the marker of a merge conflict, the fence of
 * a Markdown page, the header of a diff, or a shell command around the YAML.
 */
export function foreignLine(text: string, errorStart: number): YamlProblem | undefined {
  return (
    mergeConflict(text) ??
    heredoc(text, errorStart) ??
    firstCommand(text) ??
    lineOf(text, lineNumber) ??
    lineOf(text, diffHeader) ??
    lineOf(text, diffLine) ??
    lineOf(text, mailLine) ??
    lineOf(text, fence)
  );
}

/** The first marker that a merge left, at the start of a line. It is also an error in a template. */
export function mergeConflict(text: string): YamlProblem | undefined {
  return lineOf(text, conflict);
}

/** A template action without its end, at this offset. */
export function openAction(text: string, start: number): YamlProblem | undefined {
  const [, mark] = /^\{([{%#])/.exec(text.slice(start, start + 2)) ?? [];
  if (mark === undefined) return undefined;
  const closing = mark === '{' ? '}}' : `${mark}}`;
  const line = /^[^\r\n]*/.exec(text.slice(start, start + 200))?.[0].trimEnd() ?? '';
  return { message: `Unclosed template action; add the closing ${closing}`, span: { start, end: start + line.length } };
}

/** The first action without its end in a text whose other actions are masked, at or before its first error. */
export function openActionBefore(masked: string, errorStart: number): YamlProblem | undefined {
  let start = 0;
  // The error may be at the start of the line of the action.
  const end = masked.indexOf('\n', errorStart);
  // One line at a time: a pattern for all of them would read the rest of the text at each line that ends otherwise than with \n.
  for (const line of masked.slice(0, end === -1 ? masked.length : end).split(/[\n\r\u2028\u2029]/)) {
    const at = unclosedIn(line);
    if (at !== undefined) return openAction(masked, start + at);
    start += line.length + 1;
  }
  return undefined;
}

/** Where an action begins that does not end on its line. In a text in double quotes, the quotes of an action are escaped, and it is not masked. */
function unclosedIn(line: string): number | undefined {
  const [closed, closedStatement] = [line.lastIndexOf('}}'), line.lastIndexOf('%}')];
  for (const { index, 0: mark } of line.matchAll(/\{[{%]/g)) {
    if (index > (mark === '{{' ? closed : closedStatement))
      return /(?:^|\s)#/.test(line.slice(0, index)) ? undefined : index;
  }
  return undefined;
}

interface Foreign {
  /** With the flag m; matches at the start of a line. */
  readonly line: RegExp;
  readonly message: string;
}

const conflict: Foreign = {
  line: /^(?:(?:<{7}|\|{7}|>{7})(?: [^\r\n]*)?|={7})$/m,
  message: 'Unresolved merge conflict; choose one side and remove the marker lines',
};
/** The first two lines as `cat -n` and web pages show them. */
const lineNumber: Foreign = {
  line: /(?<![^\n])[ \t]{0,20}1[ \t|:.]{1,8}(?:apiVersion|kind|---|#)[^\n]*(?=\n[ \t]{0,20}2[ \t|:.]{1,8}\S)/,
  message: 'Line numbers precede the YAML; copy it without them',
};
const diffHeader: Foreign = {
  line: /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@[^\r\n]*$/m,
  message: 'This is a diff, not YAML; apply it to the manifest with `git apply`',
};
/** `+  name: a`, which is neither an item of a list nor a key, and the line `-  name: b` above it. */
const diffLine: Foreign = {
  line: /^(?:-[ \t]+[^\s#][^\r\n]*(?=\n\+[ \t]+\S)|\+[ \t]+[^\r\n:]*:(?: [^\r\n]*)?$)/m,
  message: 'This line is from a diff; remove the lines that begin with -, and the + at the start of the others',
};
const mailLine: Foreign = {
  line: /^> ?(?:apiVersion|kind|metadata|---)[^\r\n]*$/m,
  message: 'This line is quoted as in a mail; remove the > at the start of each line',
};
const fence: Foreign = {
  line: /^(?:```|~~~)[^\r\n]*$/m,
  message: 'Markdown fence around the YAML; keep only the lines between the fences',
};

function lineOf(text: string, { line, message }: Foreign): YamlProblem | undefined {
  const found = line.exec(text.includes('\r') ? text.replaceAll('\r', '\n') : text);
  return found === null ? undefined : { message, span: { start: found.index, end: found.index + found[0].length } };
}

/** `cat <<EOF | kubectl apply -f -` before the YAML: a shell block copied from a page. */
function heredoc(text: string, errorStart: number): YamlProblem | undefined {
  const found =
    /^[ \t]*(?:\$ )?(?:sudo )?(?:cat|kubectl|oc|tee|envsubst|helm|k)\b[^\r\n]*<<-?[ \t]*['"]?(\w{1,40})['"]?[^\r\n]*/m.exec(
      text.slice(0, 4000),
    );
  if (found?.[1] === undefined || found.index > errorStart) return undefined;
  const start = found.index + (/^[ \t]*/.exec(found[0])?.[0].length ?? 0);
  const message = `This is a shell command that contains YAML; keep only the lines between <<${found[1]} and ${found[1]}`;
  return { message, span: { start, end: found.index + found[0].trimEnd().length } };
}

/** A command above the YAML that it printed: both copied from a terminal. */
function firstCommand(text: string): YamlProblem | undefined {
  const found =
    /^\uFEFF?\s{0,100}((?:[^\s:#]{0,60} ?[^\s:#]{0,60} ?[$%\u276F] )?(?:sudo )?(?:kubectl|oc|helm|cat|curl|kustomize|minikube) [^\r\n:]{1,300})(?:[\r\n]|$)/.exec(
      text.slice(0, 1000),
    );
  const command = found?.[1]?.trimEnd();
  if (found === null || command === undefined) return undefined;
  const start = text.indexOf(command);
  return {
    message: 'This is a shell command, not YAML; remove this line',
    span: { start, end: start + command.length },
  };
}

/** A mark on the line of an error that looks like YAML's own: a separator that is not `---`, an invisible character, a dash without a space. */
export function lookalike(text: string, { start }: Span): YamlProblem | undefined {
  const from = Math.max(text.lastIndexOf('\n', start - 1), text.lastIndexOf('\r', start - 1)) + 1;
  const line = /^[^\r\n]*/.exec(text.slice(from, from + 500))?.[0] ?? '';
  for (const { mark, message } of lookalikes) {
    const found = mark.exec(line);
    if (found === null) continue;
    const [all, before = '', marked = ''] = found;
    const at = from + found.index + before.length;
    return { message: message(marked), span: { start: at, end: at + (marked.length || all.length) } };
  }
  return undefined;
}

/** A dash on the line above that starts no item, because what follows it only looks like a space: the keys below it are then indented too far. */
export function itemAbove(text: string, { start }: Span): YamlProblem | undefined {
  const above = /([^\n]*)\n(?:[ \t]*#[^\n]*\n)*[^\n]*$/.exec(text.slice(Math.max(0, start - 1000), start));
  if (above === null || !/^[ \t]*-[\u00a0\u2000-\u200a\u202f\u3000]/.test(above[1] ?? '')) return undefined;
  const from = Math.max(0, start - 1000) + above.index;
  return lookalike(text, { start: from, end: from });
}

interface Lookalike {
  /** Its groups: what precedes the mark, and the mark. */
  readonly mark: RegExp;
  readonly message: (mark: string) => string;
}

const lookalikes: readonly Lookalike[] = [
  {
    mark: /^([ \t]*)(--[- ]*|-*[\u2010-\u2015][-\u2010-\u2015 ]*)$/,
    message: () => 'Documents are separated by a line of three hyphens without indentation: ---',
  },
  {
    mark: /^([ \t-]*)([\u00a0\u2000-\u200a\u202f\u3000])/,
    message: (mark) => foreignIndent(mark) ?? '',
  },
  {
    mark: /([:-])([\u00a0\u2000-\u200a\u202f\u3000])/,
    message: (mark) => `${nameOf(mark)} after a colon or dash; use a plain space`,
  },
  {
    mark: /^([ \t]*)(<!--|\/\/|\/\*)/,
    message: (mark) => `A comment starts with #, not with ${mark}`,
  },
  {
    mark: /^([ \t]*(?:-[ \t]+)*[\w./-]+:[ \t]+)(-)(?=[ \t]+[\w"']\S*:(?:[ \t]|$))/,
    message: () => 'A list starts on the line below its key; move the item there',
  },
  { mark: /([^\s"'])(\uff1a)/, message: () => 'Full-width colon (U+FF1A); use a plain colon and a space' },
  {
    mark: /^([ \t]*)([*+\u2010-\u2015\u2212\u2022\u2023\u2043\u00b7\u25aa\u25cf\u25e6])(?=[ \t\u00a0]+\S)/,
    message: (mark) => `A list item starts with a hyphen and a space, not with ${mark}`,
  },
  {
    mark: /^()(EO[A-Z]|END|YAML|HERE)$/,
    message: (mark) => `${mark} ends a here-document of a shell; remove this line`,
  },
  { mark: /^([ \t]*)(-)(?=[A-Za-z"'][^\s:]*:(?:\s|$))/, message: () => 'A list item starts with `- `; add the space' },
];

/** A space that is not one to YAML, at the start of a key: what looks like indentation is part of its name. */
export function foreignIndent(key: string): string | undefined {
  const mark = /^[\u00a0\u2000-\u200a\u202f\u3000]/.exec(key)?.[0];
  return mark === undefined ? undefined : `${nameOf(mark)}${indentAdvice}`;
}

/** Whether these problems include the same space in another indentation: a text copied from a page has it on every line. */
export function repeatsIndent(problems: readonly YamlProblem[], { message }: YamlProblem): boolean {
  return message.endsWith(indentAdvice) && problems.some((one) => one.message === message);
}

const indentAdvice = ' in the indentation; use plain spaces';

function nameOf(mark: string): string {
  const code = mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return code === '00A0' ? 'Non-breaking space (U+00A0)' : `Space character U+${code}`;
}
