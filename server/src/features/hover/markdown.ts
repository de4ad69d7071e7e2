import type { Span } from '../../yaml/span.ts';

// What a hover says, as blocks of plain text. The renderers escape everything, so no text of a file can become markup.

export type Block =
  | { readonly kind: 'lead'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly title: string; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** What is shown at a place. The span is of the file. */
export interface HoverContent {
  readonly span: Span;
  readonly blocks: readonly Block[];
}

/** GitHub-flavoured Markdown. */
export function renderMarkdown(blocks: readonly Block[]): string {
  return blocks.map(blockToMarkdown).join('\n\n');
}

/** For clients and readers without Markdown. */
export function renderPlain(blocks: readonly Block[]): string {
  return blocks.map(blockToPlain).join('\n\n');
}

/**
 * Text that reads in Markdown as it is: no emphasis, link, image, table cell, code, HTML or entity comes of it, and it stays on its
 * line. Characters that turn the direction of writing are dropped, and an overlong text is cut, for names in a file are anybody's.
 */
export function escapeMarkdown(text: string): string {
  return (
    oneLine(text)
      .replace(/[\\`*_[\]<>|#~&]/g, '\\$&')
      // What would start a list, a heading or a quote at the start of a line.
      .replace(/^([-+=]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? start : `\\${start}`))
      .replace(/^(\d+)([.)])/, '$1\\$2')
      // Bare addresses become links without any markup around them.
      .replace(/:(?=\/\/)/g, '\\:')
      .replace(/\bwww\./gi, (www) => `${www.slice(0, 3)}\\.`)
      .replace(/@/g, '\\@')
  );
}

function blockToMarkdown(block: Block): string {
  if (block.kind === 'lead') return `**${escapeMarkdown(block.text)}**`;
  if (block.kind === 'text') return escapeMarkdown(block.text);
  if (block.kind === 'list') {
    return [`${escapeMarkdown(block.title)}:`, '', ...block.items.map((item) => `- ${escapeMarkdown(item)}`)].join(
      '\n',
    );
  }
  const row = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const rule = block.head.map((_, column) => (isNumeric(block.rows, column) ? ' ---: |' : ' :--- |'));
  return [row(block.head), `|${rule.join('')}`, ...block.rows.map(row)].join('\n');
}

function blockToPlain(block: Block): string {
  if (block.kind === 'lead' || block.kind === 'text') return oneLine(block.text);
  if (block.kind === 'list') return [`${block.title}:`, ...block.items.map((item) => `- ${oneLine(item)}`)].join('\n');
  const rows = [block.head, ...block.rows].map((cells) => cells.map(oneLine));
  const widths = block.head.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const pad = (cell: string, column: number) =>
    isNumeric(block.rows, column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}

/** Amounts and counts stand under each other at their right ends. */
function isNumeric(rows: readonly (readonly string[])[], column: number): boolean {
  return rows.every((cells) => /^[$\d<?–.,/h]*$/.test(cells[column] ?? ''));
}

const longest = 200;

function oneLine(text: string): string {
  const line = text
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be found.
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
  return line.length <= longest ? line : `${line.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}
