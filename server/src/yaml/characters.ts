import type { YamlProblem } from './node.ts';

/**
 * The text with all line breaks of YAML 1.1, which Kubernetes reads, as line feeds: a lone carriage return, NEL, LS and PS also end a line,
 * and with it a comment. So is a byte order mark before indentation. Spans stay valid, because the length is the same.
 */
export function withLineFeeds(text: string): string {
  // The library counts the byte order mark as a column of its line, libyaml does not.
  const unmarked = /^\uFEFF[ \t]/.test(text) ? `\n${text.slice(1)}` : withoutLaterMark(text);
  return oddBreaks.test(unmarked) ? unmarked.replace(/\r(?!\n)|[\u0085\u2028\u2029]/g, '\n') : unmarked;
}

/** A mark behind the line `---`, as in files that were joined, trades places with the line break, so that it is in no key. */
function withoutLaterMark(text: string): string {
  if (text.indexOf('\uFEFF', 1) === -1) return text;
  const at = beforeMarks.exec(text)?.[0].length ?? 0;
  return at > 0 && text.charAt(at) === '\uFEFF' ? `${text.slice(0, at - 1)} \n${text.slice(at + 1)}` : text;
}

/** The lines behind which a byte order mark may be. */
const beforeMarks = /^(?:\uFEFF?---[^\n]*|[^\S\uFEFF]*)\n/;

const oddBreaks = /\r(?!\n)|[\u0085\u2028\u2029]/;

/** The first character that Kubernetes' parser rejects wherever it is: libyaml's, or for JSON those below U+0020. */
export function illegalCharacter(text: string): YamlProblem | undefined {
  const start = text.search(/^\s*\{/.test(text) ? outsideJson : outsideYaml);
  if (start === -1) return strayMark(text);
  const code = text.charCodeAt(start).toString(16).toUpperCase().padStart(4, '0');
  return {
    message: `YAML must not contain the control character U+${code}; remove it`,
    span: { start, end: start + 1 },
  };
}

/** A byte order mark at the start of a later line, from files that were joined: the parser takes it for indentation. */
function strayMark(text: string): YamlProblem | undefined {
  if (text.indexOf('\uFEFF', 1) === -1) return undefined;
  const start = text.indexOf('\n\uFEFF', beforeMarks.exec(text)?.[0].length ?? 0) + 1;
  return start === 0
    ? undefined
    : {
        message: 'Byte order mark (U+FEFF) inside the document; remove this invisible character',
        span: { start, end: start + 1 },
      };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be found.
const outsideYaml = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be found.
const outsideJson = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

/** The separator that caused an error on its line, though editors show the line as one. */
export function separatorBefore(text: string, { span }: YamlProblem): YamlProblem | undefined {
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1;
  const found = /[\u0085\u2028\u2029]/.exec(text.slice(lineStart, span.end));
  if (found === null) return undefined;
  const start = lineStart + found.index;
  return {
    message: `${nameOf(text, start)} ends this line for Kubernetes' parser; remove it`,
    span: { start, end: start + 1 },
  };
}

function nameOf(text: string, at: number): string {
  return `U+${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`;
}
