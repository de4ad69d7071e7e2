import type { Span } from '../../yaml/span.ts';

// The content of a hover, as blocks of plain text. The renderers escape everything, so that no text of a file becomes markup.

export type Block =
  | { readonly kind: 'lead'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | HoverAction
  | { readonly kind: 'list'; readonly title: string; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** What the user can do, as a link where the client has our commands, else as text. */
export interface HoverAction {
  readonly kind: 'action';
  /** Why to do it; empty if the label says it. */
  readonly why: string;
  /** `Change the machine…`. */
  readonly label: string;
  readonly command: 'set-gpu' | 'set-up' | 'show-fixes';
  /** Where in the file the command applies. */
  readonly target: Span;
  /** The same without a link. */
  readonly text: string;
}

/** The address of an action's link; undefined: no link. */
export type LinkOf = (action: HoverAction) => string | undefined;

/** A hover and its span in the file. */
export interface HoverContent {
  readonly span: Span;
  readonly blocks: readonly Block[];
}

/** GitHub Flavored Markdown. */
export function renderMarkdown(blocks: readonly Block[], linkOf: LinkOf = () => undefined): string {
  return blocks.map((block) => blockToMarkdown(block, linkOf)).join('\n\n');
}

/** For clients and readers without Markdown. */
export function renderPlain(blocks: readonly Block[]): string {
  return blocks.map(blockToPlain).join('\n\n');
}

/**
 * Markdown that shows the text literally, on one line: no emphasis, links, images, table cells, code, HTML or entities. Removes characters
 * that change the writing direction and cuts long text, because names in a file are untrusted.
 */
export function escapeMarkdown(text: string): string {
  return (
    oneLine(text)
      .replace(/[\\`*_[\]<>|#~&]/g, '\\$&')
      // At the start of a line these begin a list, a heading or a quote.
      .replace(/^([-+=]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? start : `\\${start}`))
      .replace(/^(\d+)([.)])/, '$1\\$2')
      // Bare addresses become links without markup.
      .replace(/:(?=\/\/)/g, '\\:')
      .replace(/\bwww\./gi, (www) => `${www.slice(0, 3)}\\.`)
      .replace(/@/g, '\\@')
  );
}

/** The same for comments on GitHub: mentions no user and links to no issue, which a backslash alone does not prevent. */
export function plainMarkdown(text: string): string {
  return escapeMarkdown(text).replace(/\\([@#])/g, '$1<!-- -->');
}

function blockToMarkdown(block: Block, linkOf: LinkOf): string {
  if (block.kind === 'action') {
    const link = linkOf(block);
    if (link === undefined) return escapeMarkdown(block.text);
    return `${escapeMarkdown(block.why)} [${escapeMarkdown(block.label)}](${link})`.trim();
  }
  if (block.kind === 'lead') return `**${escapeMarkdown(block.text)}**`;
  if (block.kind === 'text') return escapeMarkdown(block.text);
  if (block.kind === 'list') {
    return [`${escapeMarkdown(block.title)}:`, '', ...block.items.map((item) => `- ${escapeMarkdown(item)}`)].join(
      '\n',
    );
  }
  const row = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(` | ${columnGap}`)} |`;
  const rule = block.head.map((_, column) => (isNumeric(block.rows, column) ? ' ---: |' : ' :--- |'));
  return [row(block.head), `|${rule.join('')}`, ...block.rows.map(row)].join('\n');
}

function blockToPlain(block: Block): string {
  if (block.kind === 'lead' || block.kind === 'text' || block.kind === 'action') return oneLine(block.text);
  if (block.kind === 'list') return [`${block.title}:`, ...block.items.map((item) => `- ${oneLine(item)}`)].join('\n');
  const rows = [block.head, ...block.rows].map((cells) => cells.map(oneLine));
  const widths = block.head.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const pad = (cell: string, column: number) =>
    isNumeric(block.rows, column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}

/** VS Code draws table cells without padding. */
const columnGap = '&emsp;';

/** Amounts and counts are right-aligned. */
function isNumeric(rows: readonly (readonly string[])[], column: number): boolean {
  return rows.every((cells) => /^[$\d<?\u2013.,/h%]*$/.test(cells[column] ?? ''));
}

const maxLength = 200;

function oneLine(text: string): string {
  const line = text
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this removes control characters.
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…`;
}
