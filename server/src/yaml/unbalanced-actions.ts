import type { YamlProblem } from './node.ts';

/**
 * The first action of a Helm template that opens a block without an end, that closes none, or whose text or comment does not end: Helm reads no file of
 * the chart. Actions in comments
 * of YAML count, as they do for Helm; texts in quotes and comments of the template do not. With another engine around it, branches may repeat actions.
 */
export function unbalancedAction(text: string): YamlProblem | undefined {
  if (text.includes('{%')) return unbalancedStatement(text);
  if (!isHelm.test(text)) return undefined;
  const open: Opening[] = [];
  /** A block whose `end` is not at its own column, but at that of a block around it: that `end` was meant for the other one. */
  let suspect: Opening | undefined;
  const actions = blockActions(text);
  if (!Array.isArray(actions)) return actions;
  for (const action of actions) {
    const { word, start, end, column } = action;
    if (opens.test(word)) {
      open.push(action);
      continue;
    }
    const last = open.at(-1);
    if (last === undefined) return problem(`{{ ${word} }} is outside of any block`, start, end);
    if (word === 'else') continue;
    open.pop();
    const isOther = column !== undefined && last.column !== undefined && column < last.column;
    if (isOther && open.at(-1)?.column === column) suspect ??= last;
  }
  const found = open.length === 0 ? undefined : (suspect ?? open.at(-1));
  return found && problem(`{{ ${found.word} }} has no {{ end }}`, found.start, found.end);
}

/**
 * The first `{% for %}` or `{% if %}` without its end in a template of Jinja or the like. Others have no end in some of these languages, and in some of
 * them, a text may contain marks.
 */
function unbalancedStatement(text: string): YamlProblem | undefined {
  if (/\{%[-+~]?\s*(?:raw|verbatim|comment)\b|\{#|##/.test(text)) return undefined;
  const open: { readonly word: string; readonly start: number; readonly end: number }[] = [];
  for (const { 0: all, 1: word = '', index } of text.matchAll(statement)) {
    if (!word.startsWith('end')) open.push({ word, start: index, end: index + all.length });
    else if (open.pop()?.word !== word.slice(3)) return undefined;
  }
  const last = open.at(-1);
  if (last === undefined) return undefined;
  const message = `{% ${last.word} %} has no {% end${last.word} %}: the template cannot be rendered`;
  return { message, span: { start: last.start, end: last.end }, isLocal: true };
}

const statement = /\{%[-+~]?\s*(for|if|endfor|endif)\b[^%\n]{0,1000}%\}/g;

function problem(what: string, start: number, end: number): YamlProblem {
  return { message: `${what}: Helm fails to read the chart`, span: { start, end }, isLocal: true };
}

/** An action that opens, divides or closes a block. */
interface Opening {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** undefined: other text precedes it on its line. */
  readonly column: number | undefined;
}

// A manifest may say in a comment how it is templated. No braces, so that each character is read for one action only.
const isHelm = /^(?![ \t]*#)[^\n]*?\{\{[^{}\n]*[\s(]\.(?:Values|Release|Chart)\b/m;
const opens = /^(?:if|with|range|define|block)$/;
// An end as other languages write it was meant as one, and is reported itself.
const control = /^\{\{-?\s*(if|with|range|define|block|else|end)(?:(?<=end)(?:if|for|range|with))?(?![\w-])/;

/** Longer actions are not blocks. */
const maxLength = 5000;

/** The actions, nothing if their ends are unknown, or why one has no end. */
function blockActions(text: string): Opening[] | YamlProblem {
  const found: Opening[] = [];
  for (let at = text.indexOf('{{'); at !== -1; ) {
    const end = endOf(text, at);
    // The end of this action is unknown, and with it all later ones.
    if (end === undefined) return unfinished(text, at) ?? [];
    const [, word] = control.exec(text.slice(at, Math.min(end, at + 60))) ?? [];
    if (word !== undefined) {
      const before = text.slice(Math.max(0, at - 200), at);
      const indent = /(?:^|\n)([ \t]*)$/.exec(before)?.[1];
      found.push({ word, start: at, end, column: indent?.length });
    }
    at = text.indexOf('{{', end);
  }
  return found;
}

/** Why an action has no end. Its comment goes up to a mark, its text to the end of the line. */
function unfinished(text: string, start: number): YamlProblem | undefined {
  const [line = ''] = /^[^\r\n]*/.exec(text.slice(start, start + maxLength)) ?? [];
  if (/^\{\{(?:-\s)?\s*\/\*/.test(line))
    return text.includes('*/', start)
      ? undefined
      : problem('This comment of the template has no */}}', start, start + line.trimEnd().length);
  const [before] = /^\{\{(?:"(?:[^"\\]|\\.)*"|`[^`]*`|(?!\}\}|\{\{)[^"'`\\])*(?=")/.exec(line) ?? [];
  if (before === undefined || !/^"(?:[^"\\]|\\.)*$/.test(line.slice(before.length))) return undefined;
  const from = start + before.length;
  return problem('This quote in the action is not closed', from, start + line.trimEnd().length);
}

/** Where an action ends: behind the first }} outside of its strings and its comment. */
function endOf(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + maxLength);
  const body = text.slice(start, limit);
  if (/^\{\{-?\s*\/\*/.test(body)) {
    const close = text.indexOf('*/', start);
    const end = close === -1 ? -1 : text.indexOf('}}', close);
    return end === -1 ? undefined : end + 2;
  }
  const [matched] = /^\{\{(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|(?!\}\}|\{\{)[^"`])*\}\}/.exec(body) ?? [];
  return matched === undefined ? undefined : start + matched.length;
}
