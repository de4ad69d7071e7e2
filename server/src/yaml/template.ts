import { draftOf } from './draft.ts';
import type { YamlMap, YamlNode, YamlSeq } from './node.ts';
import type { Span } from './span.ts';
import { findActions, isControl, outputIndent, type TemplateAction } from './template-action.ts';

/** A text whose template syntax was replaced by as many other characters, so that it can be read and every place still holds. */
export interface Mask {
  /** The masked text: as long as the original, with its line ends. */
  readonly text: string;
  /** The original text that was masked for. */
  readonly original: string;
  readonly actions: readonly TemplateAction[];
  readonly openings: readonly Opening[];
}

/** A place where a template puts lines that cannot be seen, and the column that they will have. */
interface Opening {
  readonly offset: number;
  readonly column: number;
  /** What puts them there. */
  readonly action?: TemplateAction;
  /** A loop puts them there, again and again what is written. */
  readonly repeats?: true;
}

/** Stands for each character of an expression: a private-use character is plain text wherever YAML reads one. */
const FILL = '\uE000';

/** A line of its own with `{}` or `[]`: what one branch of an if gives to a key whose other branch has lines. */
const EMPTY_BRANCH = /^[ \t]+(?:\{\}|\[\])[ \t]*$/gm;

/**
 * Masks Go (Helm) and Jinja templates at equal length: an expression in a line becomes plain text, a line of nothing but actions
 * becomes blank. Undefined when the text holds no template syntax.
 */
export function maskTemplates(text: string): Mask | undefined {
  if (!text.includes('{{') && !text.includes('{%')) return undefined;
  const actions = findActions(text);
  if (actions.length === 0) return undefined;
  const openings: Opening[] = [];
  const ranges: Opening[] = [];
  let masked = '';
  let at = 0;
  const put = (span: Span, fill: string): void => {
    masked += text.slice(at, span.start) + filled(text.slice(span.start, span.end), fill);
    at = span.end;
  };
  for (const group of groups(text, actions)) {
    const { before, after, parts, span } = group;
    const outputs = parts.filter((part) => !isControl(part));
    const alone = before.trim() === '';
    const last = /^(?:\s*|\s+#.*)$/.test(after);
    if (alone && last) {
      put(span, ' ');
      for (const part of outputs) {
        openings.push({ offset: span.start, column: outputIndent(part) ?? before.length, action: part });
      }
      if (parts.some((part) => /^\{[{%][-~]?\s*(?:range|for)\b/.test(part.text))) {
        ranges.push({ offset: span.end, column: 0 });
      }
    } else if (last && outputs.length === 0 && !insideQuotes(before)) {
      put(span, ' ');
    } else if (last && startsLines(before, outputs, nextColumn(text, span.end))) {
      put(span, ' ');
      const produced = outputs.map(outputIndent).find((indent) => indent !== undefined);
      const column = produced ?? indentOf(before) + 2;
      const [action] = outputs;
      openings.push({ offset: span.start, column, ...(action && outputs.length === 1 && { action }) });
    } else {
      for (const part of parts) put(part.span, FILL);
    }
  }
  masked += text.slice(at);
  if (actions.some(isControl)) {
    masked = masked.replace(EMPTY_BRANCH, (line: string, offset: number) => {
      openings.push({ offset, column: line.search(/\S/) });
      return ' '.repeat(line.length);
    });
  }
  let content: Opening | undefined;
  for (const { offset } of ranges) {
    // Loops one behind the other have the same content; looking for it anew each time would be quadratic.
    if (content === undefined || content.offset < offset) {
      const found = contentBehind(masked, offset);
      content = found && { ...found, repeats: true };
    }
    if (content === undefined) break;
    if (openings.at(-1) !== content) openings.push(content);
  }
  return { text: masked, original: text, actions, openings };
}

/** Masks envsubst's `${VAR}`. Undefined when the text holds none. */
export function maskVariables(text: string): Mask | undefined {
  const actions: TemplateAction[] = [];
  const masked = text.replace(VARIABLE, (variable, start: number) => {
    actions.push({ text: variable, span: { start, end: start + variable.length } });
    return FILL.repeat(variable.length);
  });
  return actions.length === 0 ? undefined : { text: masked, original: text, actions, openings: [] };
}

/**
 * Masks lines that stand for others: nothing but a `${VAR}`, or the dots by which documentation leaves lines out. Variables elsewhere
 * are masked too. Undefined when the text holds no such line.
 */
export function maskStandIns(text: string): Mask | undefined {
  const openings: Opening[] = [];
  const blanked = text.replace(STAND_IN, (line: string, offset: number) => {
    openings.push({ offset, column: line.search(/\S/) });
    return ' '.repeat(line.length);
  });
  if (openings.length === 0) return undefined;
  const mask = maskVariables(blanked);
  return { text: mask?.text ?? blanked, original: text, actions: mask?.actions ?? [], openings };
}

const VARIABLE = /\$\{[A-Za-z_]\w*(?::?-[^{}\n]*)?\}/g;

/** Three dots at the line's start end a document, so only indented ones leave something out. */
const STAND_IN = /^(?:[ \t]*\$\{[A-Za-z_]\w*\}|[ \t]+\.{3,}|\.{4,}|[ \t]*…)[ \t]*$/gm;

/** Whether a template action stands in the span. */
export function touchesAction(mask: Mask, span: Span): boolean {
  let low = 0;
  let high = mask.actions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mask.actions[middle]?.span.end ?? 0) <= span.start) low = middle + 1;
    else high = middle;
  }
  const found = mask.actions[low];
  return found !== undefined && found.span.start < span.end;
}

/** A scalar's text with the expressions put back that were masked in it. */
export function restoreMasked(mask: Mask, text: string, span: Span, source: string): string {
  if (!source.includes(FILL)) return source;
  let at = span.start - 1;
  return source.replaceAll(FILL, () => {
    at = mask.text.indexOf(FILL, at + 1);
    return at === -1 || at >= span.end ? FILL : text.charAt(at);
  });
}

/**
 * Marks what a template adds unseen lines to: the mapping or sequence in which the lines will stand by their column, or the empty
 * value that they will fill.
 */
export function markOpen(root: YamlNode, mask: Mask): void {
  const written = new Map<YamlNode, readonly Child[]>();
  for (const opening of mask.openings) {
    const { node, below, relatedFiles } = targetOf(root, opening, mask, written);
    if (node.kind === 'scalar') draftOf(node).templated = true;
    else if (relatedFiles) setOpen(node, opening);
    if (below !== undefined && below.kind !== 'scalar') setOpen(below, opening);
    else if (below !== undefined) draftOf(below).templated = true;
  }
}

/** Where the lines of each action on lines of its own will stand. */
export function openTargets(root: YamlNode, mask: Mask): readonly (Target & { readonly action: TemplateAction })[] {
  const written = new Map<YamlNode, readonly Child[]>();
  return mask.openings.flatMap((opening) =>
    opening.action === undefined ? [] : [{ ...targetOf(root, opening, mask, written), action: opening.action }],
  );
}

/** What unseen lines will be a part of. */
interface Target {
  readonly node: YamlNode;
  /** The last value in the node, where items may belong to it instead: its key stands at the same column. */
  readonly below: YamlNode | undefined;
  /** Whether the lines may stand in the node itself. */
  readonly relatedFiles: boolean;
}

/** A value whose text stands in its parent, and where it (or its key) begins. */
interface Child {
  readonly start: number;
  readonly value: YamlNode;
}

function targetOf(root: YamlNode, opening: Opening, mask: Mask, written: Map<YamlNode, readonly Child[]>): Target {
  const { offset, column } = opening;
  let node = root;
  for (;;) {
    if (node.kind === 'scalar' || node.flow) return { node, below: undefined, relatedFiles: true };
    const here = columnOf(mask.text, node.span.start);
    const last = lastBefore(node, offset, written);
    if (column <= here || last === undefined) {
      // A sequence may stand at its key's own column, and so may what the template puts under an empty key.
      const below = node.kind === 'map' && column === here ? last : undefined;
      const items = below?.kind === 'seq' && columnOf(mask.text, below.span.start) === column;
      const empty = below?.kind === 'scalar' && below.span.start === below.span.end;
      // A loop's own first item says that it makes items and no keys.
      const relatedFiles = !items || mask.text.charAt(offset) !== '-';
      return { node, below: items || empty ? below : undefined, relatedFiles };
    }
    node = last;
  }
}

function setOpen(node: YamlMap | YamlSeq, { repeats }: Opening): void {
  if (node.kind === 'map') draftOf(node).open = true;
  else {
    draftOf(node).open = true;
    if (repeats) draftOf(node).repeated = true;
  }
}

/** The value that stands last before an offset, by where its key (or it) begins. */
function lastBefore(
  node: YamlMap | YamlSeq,
  offset: number,
  written: Map<YamlNode, readonly Child[]>,
): YamlNode | undefined {
  let children = written.get(node);
  if (children === undefined) {
    children =
      node.kind === 'map'
        ? node.entries.filter(({ shared }) => !shared).map(({ keySpan, value }) => ({ start: keySpan.start, value }))
        : node.items.filter(({ shared }) => !shared).map(({ value }) => ({ start: value.span.start, value }));
    written.set(node, children);
  }
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((children[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return children[low - 1]?.value;
}

interface Group {
  readonly parts: readonly TemplateAction[];
  readonly span: Span;
  /** The line's text up to the group and behind it, the actions before it masked. */
  readonly before: string;
  readonly after: string;
}

/** So much of a line is looked at before an action; only machines write longer ones. */
const LONGEST_PREFIX = 500;

/** Neighbouring actions with nothing but white space between them. */
function* groups(text: string, actions: readonly TemplateAction[]): Generator<Group> {
  let line = 0;
  let newline = text.indexOf('\n');
  let lineStart = 0;
  let before = '';
  let read = 0;
  for (let index = 0; index < actions.length; ) {
    const parts: TemplateAction[] = [];
    let end = 0;
    for (let action = actions[index]; action; action = actions[++index]) {
      if (parts.length > 0 && !/^[ \t]*$/.test(text.slice(end, action.span.start))) break;
      parts.push(action);
      end = action.span.end;
    }
    const start = parts[0]?.span.start ?? 0;
    while (newline !== -1 && newline < start) {
      line = newline + 1;
      newline = text.indexOf('\n', line);
    }
    if (line > lineStart || read === 0) {
      // The line may begin inside an earlier action that spans lines.
      lineStart = Math.max(line, read);
      before = text.slice(line, lineStart).replace(/\S/g, ' ') + text.slice(lineStart, start);
    } else before = (before + FILL + text.slice(read, start)).slice(-LONGEST_PREFIX);
    read = end;
    const close = newline >= end || newline === -1 ? newline : text.indexOf('\n', end);
    const after = text.slice(end, close === -1 ? text.length : close);
    yield { parts, span: { start, end }, before, after };
  }
}

/** Blanks or fills every character but line ends; what an action says on further lines is always blanked. */
function filled(text: string, fill: string): string {
  const newline = text.search(/[\r\n]/);
  if (newline === -1) return fill.repeat(text.length);
  return fill.repeat(newline) + text.slice(newline).replace(/[^\r\n]/g, ' ');
}

/**
 * Whether an expression behind a key or a dash at its line's end gives the first of several lines: deeper ones follow it, or it says by
 * `nindent` that it starts with a line end (then no space behind the colon is needed).
 */
function startsLines(before: string, outputs: readonly TemplateAction[], next: number): boolean {
  if (/(?:^|\s)-\s*$|:\s+$/.test(before)) return next > indentOf(before);
  return /^[\s-]*[\w./-]+:$/.test(before) && outputs.some((part) => outputIndent(part) !== undefined);
}

/** The column of a line's key, behind its dashes. */
function indentOf(before: string): number {
  return /^[\s-]*/.exec(before)?.[0].length ?? 0;
}

function insideQuotes(before: string): boolean {
  const quotes = before.replace(/\\./g, '').match(/"/g)?.length ?? 0;
  return quotes % 2 === 1 || /[:[,-]\s*'[^']*$/.test(before);
}

/** The column of the next line that says something, or -1. */
function nextColumn(text: string, from: number): number {
  return contentBehind(text, from)?.column ?? -1;
}

function contentBehind(text: string, from: number): Opening | undefined {
  const next = /\n([ \t]*)(?=[^\s#])/g;
  next.lastIndex = from;
  const found = next.exec(text);
  return found ? { offset: found.index + found[0].length, column: found[1]?.length ?? 0 } : undefined;
}

function columnOf(text: string, offset: number): number {
  return offset - text.lastIndexOf('\n', offset - 1) - 1;
}
