import type { TextEdit } from '../yaml/span.ts';

/** A change that a person may accept. */
export interface Fix {
  /** What it will do, in the imperative. */
  readonly title: string;
  /** Safe: the object was rejected (or the value meaningless) before, and the edit changes neither what runs, where, with which rights, nor what is kept. */
  readonly safe: boolean;
  /** Offsets of the document's text. */
  readonly edits: readonly TextEdit[];
}
