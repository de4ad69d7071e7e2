import type { Word } from './completion-item.ts';

/** Words by their text: what they are, and, for keys, what is written behind the colon (indented as below the key itself). */
export function words(
  given: Readonly<Record<string, string | readonly [detail: string, value: string]>>,
): readonly Word[] {
  return Object.entries(given).map(([text, told]) =>
    typeof told === 'string' ? { text, detail: told } : { text, detail: told[0], value: told[1] },
  );
}
