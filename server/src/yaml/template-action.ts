import type { Span } from './span.ts';

/** One `{{ … }}`, `{% … %}` or `{# … #}` of a template, or a line `%{ if … }` of Terraform's. */
export interface TemplateAction {
  readonly span: Span;
  readonly text: string;
}

/**
 * The template actions of a text, in order. Actions in YAML comments are left out (a comment does not make a template), and so is an
 * opening without an end.
 */
export function findActions(text: string): TemplateAction[] {
  const actions: TemplateAction[] = [];
  const opening = /\{[{%#]|%\{(?=~?\s*(?:if|else|endif|for|endfor)\b)/g;
  // Once no closing mark of a kind follows, none follows later either; searching again for every opening would be quadratic.
  const spent = new Set<string>();
  let lineRead = 0;
  let inComment = false;
  let line = 0;
  let newline = text.indexOf('\n');
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = match.index;
    const kind = match[0];
    // Lines are counted along the way: searching backward from each opening would be quadratic in a long line.
    while (newline !== -1 && newline < start) {
      line = newline + 1;
      newline = text.indexOf('\n', line);
    }
    if (line > lineRead) inComment = false;
    const from = Math.max(line, lineRead);
    const before = text.slice(from, start);
    inComment = inComment || hasComment(before, from === line);
    lineRead = start;
    if (inComment || spent.has(kind)) continue;
    // `{#` alone could be text; a Jinja comment is on its own line.
    if (kind === '{#' && before.trim() !== '') continue;
    if (kind === '%{' && before.trim() !== '') continue;
    const end =
      kind === '{{'
        ? endOfExpression(text, start, spent)
        : kind === '%{'
          ? endOfDirective(text, start)
          : endOfBlock(text, start, kind, spent);
    if (end === -1) continue;
    actions.push({ span: { start, end }, text: text.slice(start, end) });
    opening.lastIndex = end;
    lineRead = end;
  }
  // A flow mapping may begin with `{#`; without other template syntax, a Jinja comment ends its line.
  return actions.every((action) => action.text.startsWith('{#') && !endsLine(text, action)) ? [] : actions;
}

function endsLine(text: string, { span }: TemplateAction): boolean {
  const newline = text.indexOf('\n', span.end);
  return text.slice(span.end, newline === -1 ? text.length : newline).trim() === '';
}

/** An action without output: if, range, end, an assignment, a comment. */
export function isControl({ text }: TemplateAction): boolean {
  if (text.startsWith('{#') || text.startsWith('%{')) return true;
  if (text.startsWith('{%')) return !/^\{%[-+]?\s*(?:include|import)\b/.test(text);
  return CONTROL.test(text);
}

/** The expression of an action of a Go template; its first word, and what follows that. */
export function wordsOf({ text }: TemplateAction) {
  const [, inner = ''] = /^\{\{[-~]?([\s\S]*?)[-~]?\}\}$/.exec(text) ?? [];
  const expression = inner.trim();
  const [, word = '', rest = ''] = /^(\w+)\b\s*([\s\S]*)$/.exec(expression) ?? [];
  return { expression, word, rest };
}

/** The column of an expression's output lines: the argument of `nindent` or `indent`. */
export function outputIndent({ text }: TemplateAction): number | undefined {
  const found = /\bn?indent[\s(]+(\d{1,3})\b(?![\s\S]*\bn?indent[\s(]+\d)/.exec(text);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

const CONTROL =
  /^\{\{[-~]?\s*(?:\/\*|[#/^!]|\$[\w.]*\s*(?:,\s*\$\w+\s*)?:?=|(?:if|else|end|range|with|define|block|break|continue|fail)(?![\w.-]))/;

/** A longer expression counts as text with a stray opening. */
const MAX_ACTION = 20_000;

function endOfExpression(text: string, start: number, spent: Set<string>): number {
  const close = text.indexOf('}}', start + 2);
  if (close === -1) {
    spent.add('{{');
    return -1;
  }
  if (/^\{\{-?\s*\/\*/.test(text.slice(start, start + 40))) {
    const comment = text.indexOf('*/', start);
    const end = comment === -1 ? -1 : text.indexOf('}}', comment);
    return end === -1 ? close + 2 : end + 2;
  }
  // Find the first closing mark outside Go and Jinja strings. A stray quote must not absorb the text that follows.
  const limit = Math.min(text.length, start + MAX_ACTION);
  for (let at = start + 2; at < limit; at++) {
    const char = text.charAt(at);
    if (char === '}' && text.charAt(at + 1) === '}')
      return text.charAt(at + 2) === '}' && depthOf(text, start, at) ? at + 3 : at + 2;
    if (char === '{' && text.charAt(at + 1) === '{') return -1;
    if (char === '"' || char === "'" || char === '`') {
      const end = endOfString(text, at, char, limit);
      if (end === -1) break;
      at = end;
    }
  }
  // A stray apostrophe is accepted on one line; anything else makes this text.
  const body = text.slice(start + 2, Math.min(close, limit));
  return close > limit || /["{\n]/.test(body) ? -1 : close + 2;
}

/** Jinja's `{{ {'a': 1}}}` closes its mapping before the expression. */
function depthOf(text: string, start: number, at: number): boolean {
  const body = text.slice(start + 2, at);
  return (body.match(/\{/g)?.length ?? 0) > (body.match(/\}/g)?.length ?? 0);
}

function endOfString(text: string, start: number, quote: string, limit: number): number {
  for (let at = start + 1; at < limit; at++) {
    const char = text.charAt(at);
    if (char === quote) return at;
    if (char === '\\' && quote !== '`') at++;
    else if (char === '\n' && quote !== '`') return -1;
  }
  return -1;
}

/** Terraform's directives end on their line. https://developer.hashicorp.com/terraform/language/expressions/strings#directives */
function endOfDirective(text: string, start: number): number {
  const [line = ''] = /^[^\n]{0,1000}/.exec(text.slice(start, start + 1000)) ?? [];
  const [found] = /^%\{(?:[^"{}$]|"(?:[^"\\]|\\.)*"|\$(?!\{)|\$?\{[^{}]*\})*\}/.exec(line) ?? [];
  return found === undefined ? -1 : start + found.length;
}

function endOfBlock(text: string, start: number, kind: string, spent: Set<string>): number {
  const end = text.indexOf(kind === '{%' ? '%}' : '#}', start + 2);
  if (end === -1) spent.add(kind);
  return end === -1 || end - start > MAX_ACTION ? -1 : end + 2;
}

/** Whether a YAML comment begins in this part of a line: a hash after white space and outside quotes. */
function hasComment(part: string, fromLineStart: boolean): boolean {
  if (!part.includes('#')) return false;
  let quote = '';
  for (let at = 0; at < part.length; at++) {
    const char = part.charAt(at);
    const first = at === 0 ? fromLineStart : /[\s[{,(:=-]/.test(part.charAt(at - 1));
    if (quote !== '') {
      if (char === '\\' && quote === '"') at++;
      else if (char === quote) quote = '';
    } else if ((char === '"' || char === "'") && first) quote = char;
    else if (char === '#' && (at === 0 ? fromLineStart : /\s/.test(part.charAt(at - 1)))) return true;
  }
  return false;
}
