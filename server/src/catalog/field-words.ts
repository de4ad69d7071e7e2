import { fieldsJson } from './data.ts';

/** Where fields belong: the kinds (empty: any) and the end of the path to them, `-` for an item. */
export interface FieldPlace {
  readonly kinds: readonly string[];
  readonly path: string;
}

/** A word, its description and, for keys, the text after the colon (indented relative to the key). */
export type WordRow = readonly [text: string, detail: string, value?: string];

/** The keys of operators' objects that decide how GPUs are queued, claimed, scaled and shared, and the values of some of them. */
export const fieldWords = fieldsJson as unknown as {
  readonly fields: readonly (FieldPlace & { readonly keys: readonly WordRow[] })[];
  readonly values: readonly (FieldPlace & { readonly key: string; readonly values: readonly WordRow[] })[];
};
