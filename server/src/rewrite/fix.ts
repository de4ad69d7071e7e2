import { spansOverlap, type TextEdit } from '../yaml/span.ts';

/** A change that a user can accept. */
export interface Fix {
  /** What it does, in the imperative. */
  readonly title: string;
  /** Whether `--fix` and "fix all" apply it. */
  readonly safe: boolean;
  /** Spans in the document's text. */
  readonly edits: readonly TextEdit[];
}

/**
 * Safe: the object was rejected (or the value meaningless) before, and the edit does not change what runs, where, with which rights, or
 * what is kept. The runner marks every fix in a template as unsafe.
 */
export type Safety = 'safe' | 'unsafe';

/** The result of an edit function: undefined if the edit cannot be made without damage. */
export type Edits = readonly TextEdit[] | undefined;

/** Joins several edits into one fix. Undefined if a part is undefined, if two edits collide, or if nothing changes. */
export function fix(title: string, safety: Safety, ...parts: readonly Edits[]): Fix | undefined {
  const edits = joinEdits(...parts);
  return edits === undefined || edits.length === 0 ? undefined : { title, safe: safety === 'safe', edits };
}

/**
 * Joins edits in order. Insertions at one position become one edit, because editors do not agree on the order of several. Undefined if a
 * part is undefined or two edits change the same text.
 */
export function joinEdits(...parts: readonly Edits[]): Edits {
  const joined = new Map<string, TextEdit>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const edit of part) {
      const { start, end } = edit.span;
      const other = joined.get(`${start} ${end}`);
      const newText = other === undefined ? edit.newText : joinTexts(other, edit);
      if (newText === undefined) return undefined;
      joined.set(`${start} ${end}`, other === undefined ? edit : { ...other, newText });
    }
  }
  const edits = [...joined.values()];
  return collide(edits) ? undefined : edits;
}

function collide(edits: readonly TextEdit[]): boolean {
  const ordered = edits.map(({ span }) => span).sort((a, b) => a.start - b.start || a.end - b.end);
  return ordered.some((span, index) => {
    const next = ordered[index + 1];
    return next !== undefined && spansOverlap(span, next);
  });
}

/** The text that two edits of one span write together. */
function joinTexts({ span, newText: first }: TextEdit, { newText: second }: TextEdit): string | undefined {
  // A lone comma precedes an element that another edit writes.
  if (first === ',' || second === ',') return undefined;
  // Two replacements of one text can only be joined if both append elements, such as the entries that replace `{}`.
  const follows = /^(?:$|,|\s*\n)/;
  return span.start === span.end || (follows.test(first) && follows.test(second)) ? first + second : undefined;
}
