import type { Span } from './span.ts';

/**
 * The first line that belongs to a block scalar by its words, but ends it by its indentation: code or a here-document that was pasted without
 * its indentation. Undefined if each block ends at a line that can be YAML.
 * @param until the offset of the last error
 */
export function lineOutsideBlock(text: string, until: number): Span | undefined {
  let block: { readonly parent: number; body: number | undefined } | undefined;
  let start = 0;
  for (const line of text.split('\n')) {
    if (start > until) return undefined;
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const words = line.slice(indent).trimEnd();
    if (block !== undefined && words !== '') {
      block.body ??= indent > block.parent ? indent : undefined;
      if (block.body === undefined || indent < block.body) {
        if (block.body !== undefined && indent !== block.parent && !mayBeYaml.test(words) && !isKey(words, indent)) {
          return { start: start + indent, end: start + indent + words.length };
        }
        block = undefined;
      }
    }
    if (block === undefined && blockHeader.test(words)) block = { parent: parentIndent(line), body: undefined };
    start += line.length + 1;
  }
  return undefined;
}

const blockHeader = /^[^#]{0,200}(?:: |- |^)[|>][-+]?(?:\s+#.*)?$/;
/** A key, an item, a comment, a marker, a bracket, or a template, which may stand for any of them. */
const mayBeYaml = /^(?:- |-$|[#%?&!*{}[\]]|---|\.\.\.|(?:"[^"]*"|'[^']*'|[\w./@$<>~-]+)\s*:(?:\s|$))/;

/** `image registry.example/chat`: a key without its colon. */
function isKey(words: string, indent: number): boolean {
  return /^[a-z]\w*$/i.test(words) || (indent > 0 && /^[a-z]\w* \S+$/i.test(words));
}

/** The indentation of the key or of the dash that holds a block. */
function parentIndent(line: string): number {
  const dashes = /^ *(?:- +)*(?=\S+\s*:)/.exec(line)?.[0];
  return dashes === undefined ? (/^ *(?:- +)*(?=-)/.exec(line)?.[0].length ?? 0) : dashes.length;
}
