import { spansOverlap, type TextEdit } from '../yaml/span.ts';

/** A change that a person may accept. */
export interface Fix {
  /** What it will do, in the imperative. */
  readonly title: string;
  /** What `--fix` and "fix all" apply. */
  readonly safe: boolean;
  /** Offsets of the document's text. */
  readonly edits: readonly TextEdit[];
}

/**
 * Safe: the object was rejected (or the value meaningless) before, and the edit changes neither what runs, where, with which rights, nor
 * what is kept. In a template no fix is safe; the runner sees to that.
 */
export type Safety = 'safe' | 'unsafe';

/** What a maker of edits returns: undefined where the edit cannot be made without damage. */
export type Edits = readonly TextEdit[] | undefined;

/** One change made of several. Undefined where one of them cannot be made, where two of them collide, and where nothing would change. */
export function fix(title: string, safety: Safety, ...parts: readonly Edits[]): Fix | undefined {
  const edits = joinEdits(...parts);
  return edits === undefined || edits.length === 0 ? undefined : { title, safe: safety === 'safe', edits };
}

/**
 * All edits of several, in their order. Insertions at one place become one edit: which comes first would be the editor's choice.
 * Undefined where one part is, and where two edits change the same text.
 */
export function joinEdits(...parts: readonly Edits[]): Edits {
  const joined = new Map<string, TextEdit>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const edit of part) {
      const { start, end } = edit.span;
      const other = joined.get(`${start} ${end}`);
      const newText = other === undefined ? edit.newText : inOnePlace(other, edit);
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

/** What two edits of one place write together. */
function inOnePlace({ span, newText: first }: TextEdit, { newText: second }: TextEdit): string | undefined {
  // A comma by itself makes room for one more element, which another edit writes.
  if (first === ',' || second === ',') return undefined;
  // Over a text only elements can follow each other that are each written behind the last one: `{}` and entries below its key.
  const follows = /^(?:$|,|\s*\n)/;
  return span.start === span.end || (follows.test(first) && follows.test(second)) ? first + second : undefined;
}
