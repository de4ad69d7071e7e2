import type { YamlProblem } from './node.ts';
import { endBeforeObject } from './split.ts';

/** What Kubernetes' parser rejects or ignores around a document that is valid YAML: a directive, or text after its end. */
export function streamProblems(text: string): readonly YamlProblem[] {
  return [directive(text), textAfterDashes(text), ...lostObject(text)].filter((problem) => problem !== undefined);
}

/** The object that a `...` line hides, also in a template. */
export function lostObject(text: string): readonly YamlProblem[] {
  const span = endBeforeObject(text);
  const message = 'Kubernetes ignores the text after `...`; start the next document with `---`';
  return span === undefined ? [] : [{ message, span, isLocal: true }];
}

/** An object that begins on the `---` line: kubectl and others that split a text by its lines allow only a comment there. */
function textAfterDashes(text: string): YamlProblem | undefined {
  const found = /^(\uFEFF?---[ \t]+)([^\s#][^\n]*)/.exec(text);
  if (found === null || !isObject.test(text)) return undefined;
  const [, before = '', line = ''] = found;
  const span = { start: before.length, end: before.length + line.trimEnd().length };
  return { message: 'kubectl rejects text after `---`; move it to the next line', span, readable: true };
}

/** `---apiVersion: v1`: to YAML, a key of the object above. */
export function gluedDashes(text: string): YamlProblem | undefined {
  if (!text.includes('\n---') && !text.startsWith('---')) return undefined;
  const found = /^-{3}(?=(?:apiVersion|kind|metadata):(?:\s|$))[^\r\n]*/m.exec(text);
  if (found === null) return undefined;
  const span = { start: found.index, end: found.index + found[0].trimEnd().length };
  return { message: 'A line break is missing after ---; write it on its own line', span };
}

/** The first line that starts with %, before the `---`. */
function directive(text: string): YamlProblem | undefined {
  const found = /^\uFEFF?(?:[ \t\r]*(?:#[^\n]*)?\n){0,100}(%(\S*)[ \t]*([^\s#]*)[^\n]*)/.exec(text);
  if (found === null || !isObject.test(text)) return undefined;
  const [all, line = '', name = '', value = ''] = found;
  const start = all.length - line.length;
  const span = { start, end: start + line.trimEnd().length };
  if (name === 'YAML' && value !== '1.1') {
    return {
      message: `Kubernetes reads YAML 1.1 and rejects version ${value.slice(0, 20)}; remove this line`,
      span,
      isLocal: true,
    };
  }
  return name === 'YAML' || name === 'TAG'
    ? { message: 'kubectl rejects a directive before `---`; remove this line', span, readable: true }
    : { message: 'This % line is not a YAML directive; remove it', span, isLocal: true };
}

/** Other tools read more than Kubernetes does. */
const isObject = /(?:^|[{,\s])["']?apiVersion["']?:/m;
