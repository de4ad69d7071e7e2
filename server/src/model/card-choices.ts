import { asText, type Cursor, entries, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { countIn } from './count.ts';

/** A card by its name, and how many of them; null if the number is unknown. */
export interface CardChoice {
  readonly name: string;
  readonly count: number | null;
  readonly at: Cursor;
}

/** The cards in `H100:8` or `{H100: 8}`, and in lists or sets of such alternatives. */
export function cardChoices(written: Cursor | undefined): readonly CardChoice[] {
  if (written === undefined || isTemplated(written)) return [];
  if (written.node.kind === 'seq') return items(written).flatMap(cardChoices);
  if (written.node.kind !== 'map') return choiceOf(asText(written) ?? '', written);
  return entries(written).flatMap((entry) => {
    const count = asText(entry);
    const choices = choiceOf(keyOf(entry), entry);
    return count === undefined
      ? choices
      : choices.map((choice) => ({ ...choice, count: isTemplated(entry) ? null : countIn(count) }));
  });
}

function choiceOf(written: string, at: Cursor): readonly CardChoice[] {
  const [name = '', count] = written.split(':');
  return /^[a-z]/i.test(name) ? [{ name, count: count === undefined ? 1 : countIn(count), at }] : [];
}
