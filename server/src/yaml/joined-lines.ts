import type { Span } from './span.ts';
import { findActions, isControl, outputIndent, type TemplateAction, wordsOf } from './template-action.ts';

/** A line of a template that is not on its own line when it is rendered. */
export interface JoinedLine {
  /** The action whose trim marker removes the line break before it. */
  readonly action: Span;
  /** The first word of the line: `env:`, or a dash; undefined for the output of the action. */
  readonly word: string | undefined;
  /** The comment or the text that it continues. */
  readonly after: 'comment' | 'line';
}

/**
 * The keys and items of a template that continue the line above when they are rendered, because trim markers (`{{- … -}}`) remove every line
 * break between the two. Only lines that are adjacent in some rendering, and not those of texts and of brackets.
 */
export function joinedLines(text: string): readonly JoinedLine[] {
  if (!trimsLineBreak.test(text)) return [];
  const found: JoinedLine[] = [];
  let above: Above = 'nothing';
  /** Where the text after the last action begins. */
  let from = 0;
  let before: TemplateAction | undefined;
  const open: string[] = [];
  for (const action of findActions(text)) {
    const between = text.slice(from, action.span.start);
    above = afterText(between, above, before, action);
    const output = between.includes('\n') ? outputIn(text, action, above) : undefined;
    above = afterAction(above, action, open);
    before = action;
    from = action.span.end;
    const joined = output ?? (before.text.endsWith('-}}') ? lineAfter(text, before.span, above) : undefined);
    if (joined !== undefined) found.push(joined);
    if (found.length === MOST) break;
  }
  return found;
}

/** A template with more has one mistake many times. */
const MOST = 20;

const trimsLineBreak = /-\}\}[ \t]*\r?\n|\n[ \t]*\{\{-[^{}\n]*[\s|]indent\b/;

/** What the current line of the output has so far. `unknown`: an action decides it. */
type Above = 'nothing' | 'comment' | 'line' | 'unknown';

/** What the line has after the text between two actions. */
function afterText(between: string, above: Above, before: TemplateAction | undefined, next: TemplateAction): Above {
  if (between.trim() !== '') {
    const start = before === undefined || !before.text.endsWith('-}}') ? between : between.trimStart();
    const kept = /^\{[{%]-/.test(next.text) ? start.trimEnd() : start;
    const line = kept.slice(kept.lastIndexOf('\n') + 1);
    if (line.trim() === '') return 'nothing';
    if (/^\s*#/.test(line)) return 'comment';
    // Brackets may continue on the next line.
    return /[,[{(|>]\s*$/.test(line) ? 'unknown' : 'line';
  }
  const isTrimmed = before?.text.endsWith('-}}') === true || /^\{[{%]-/.test(next.text);
  return between.includes('\n') && !isTrimmed ? 'nothing' : above;
}

/** What the line has after an action. `open` has the words of the blocks around it. */
function afterAction(above: Above, action: TemplateAction, open: string[]): Above {
  if (!isControl(action)) return endsInLine.test(action.text) ? 'line' : 'unknown';
  const { word } = wordsOf(action);
  if (/^(?:if|with|range|define|block)$/.test(word)) open.push(word);
  const closed = word === 'end' ? open.pop() : word;
  // The text above an `else` is that of another branch, and named templates are inserted elsewhere.
  return closed === 'else' || closed === 'define' || closed === 'block' ? 'unknown' : above;
}

/** Output that does not end with a line break. */
const endsInLine = /\b(?:toYaml|nindent|indent|quote)\b|^\{\{-?\s*\.(?:Values|Release|Chart)\.[\w.]+\s*-?\}\}$/;

/** An action whose lines `indent` indents, though the first one continues a line. */
function outputIn(text: string, action: TemplateAction, above: Above): JoinedLine | undefined {
  const column = above === 'line' && /^\{\{-\s[^{}]*\btoYaml\b/.test(action.text) ? outputIndent(action) : undefined;
  if (column === undefined || /\bnindent\b/.test(action.text) || isText(text, action.span.start, column))
    return undefined;
  return { action: action.span, word: undefined, after: 'line' };
}

/** A key or an item on the line after an action that removes the line break, if it continues a line. */
function lineAfter(text: string, { start, end }: Span, above: Above): JoinedLine | undefined {
  if (above !== 'line' && above !== 'comment') return undefined;
  const found = /^[ \t]*\r?\n\s*?([ \t]*)((?:[A-Za-z][\w./-]*:|-)(?=\s))/.exec(text.slice(end, end + 500));
  if (found === null) return undefined;
  const [matched, indent = '', word = ''] = found;
  return isText(text, end + matched.length, indent.length) ? undefined : { action: { start, end }, word, after: above };
}

/** Whether a line is in a block of text, or may be: the lines above with less indentation decide. */
function isText(text: string, at: number, indent: number): boolean {
  let column = indent;
  let end = text.lastIndexOf('\n', at);
  for (let count = 0; end > 0 && column > 0; count += 1) {
    if (count > MOST_LINES) return true;
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, Math.min(end, start + 1000)).trimEnd();
    const own = line.search(/\S/);
    if (own !== -1 && own < column && !/^\s*(?:#|\{[{%#])/.test(line)) {
      if (/[:-]\s+[|>][-+\d]{0,2}(?:\s+#.*)?$|[[{,]$/.test(line)) return true;
      const [key] = startsText.exec(line) ?? [];
      if (key !== undefined && key.length < column) return true;
      column = own;
    }
    end = start - 1;
  }
  return false;
}

/** A key, with the spaces and dashes before it, whose value is a text that deeper lines continue. */
const startsText = /^(?:[ \t]*-(?=[ \t]))*[ \t]*(?=[\w./-]+:[ \t]+[^\s#&!|>[{*])/;

/** Lines between a line and the key that holds it; longer parts are not judged. */
const MOST_LINES = 100;
