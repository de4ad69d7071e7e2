import { countWhere } from './document-marks.ts';

/** A document's part of a file: its offset and its text, up to the next document. */
export interface DocumentText {
  readonly base: number;
  readonly text: string;
  /** An item of a long `kind: List`, split off with its dash: a document only to us. */
  readonly item?: true;
}

/**
 * Splits a file into its YAML documents without reading them, so that an error in one cannot affect the next.
 *
 * A line that starts with `---` begins a document anywhere, even inside a block scalar: that is YAML's own rule. A document's text starts
 * at that line (the first one's at 0); a line `...` ends a document. Empty parts are left out.
 */
export function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  const comments = templateComments(text);
  let start = 0;
  const cut = (end: number): void => {
    const part = text.slice(start, end);
    if (!isEmpty(part)) documents.push({ base: start, text: part });
    start = end;
  };
  MARKER.lastIndex = 0;
  for (let match = MARKER.exec(text); match !== null; match = MARKER.exec(text)) {
    // A byte order mark may precede the first marker.
    const at = match.index;
    const comment = comments[countWhere(comments, ({ start: from }) => from < at) - 1];
    if (comment !== undefined && at < comment.end) continue;
    if (match[0].startsWith('...')) {
      cut(lineEnd(text, at));
    } else if (at > start && !isPrologue(text.slice(start, at))) {
      cut(at);
    }
  }
  cut(text.length);
  return documents;
}

const MARKER = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;

/** It contains nothing but its own marker. */
function isEmpty(part: string): boolean {
  return part.length < 4096 && /^\uFEFF?(?:---)?\s*(?:\.\.\.\s*)?$/.test(part);
}

/** Comments and directives before the first `---`, or directives after a `...`, belong to the document that follows. */
function isPrologue(part: string): boolean {
  if (part.startsWith('---')) return false;
  return part.split('\n').every((line) => /^\uFEFF?\s*(?:[#%].*)?$/.test(line.replace(/\r$/, '')));
}

/** A Go template comment may contain a `---` line, which separates nothing. */
function templateComments(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', at + 2)) {
    if (!/^\{\{-?\s*\/\*/.test(text.slice(at, at + 12))) continue;
    const end = text.indexOf('*/', at + 4);
    if (end === -1) break;
    found.push({ start: at, end });
    at = end;
  }
  return found;
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}
