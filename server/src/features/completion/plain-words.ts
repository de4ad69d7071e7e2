import type { Word } from './completion-item.ts';

/** Words by their text, with a description and, for keys, the text after the colon (indented relative to the key). */
export function words(
  descriptions: Readonly<Record<string, string | readonly [detail: string, value: string]>>,
): readonly Word[] {
  return Object.entries(descriptions).map(([text, described]) =>
    typeof described === 'string' ? { text, detail: described } : { text, detail: described[0], value: described[1] },
  );
}
