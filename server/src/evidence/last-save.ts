import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { countedToSave, countsEpochs } from '../command/save-interval.ts';
import type { Word } from '../command/shell.ts';
import { plural } from '../cost/money.ts';
import { once } from '../model/once.ts';
import type { Container } from '../model/workload.ts';
import { commandsOf } from './progress-flags.ts';
import { namedSettings } from './settings-files.ts';

/** The setting by which a run saves once, at its end. */
export interface LastSave {
  readonly text: string;
  readonly word: Word;
}

/** Such a setting: a save after each epoch of a run of one epoch (`save_strategy: epoch`), or an interval of all epochs. */
export const savesOnlyLast = once((container: Container): LastSave | undefined => {
  const files = namedSettings(container);
  for (const words of commandsOf(container)) {
    const named = files.filter(({ word }) => words.includes(word));
    const flags = [...readFlags(words), ...named.flatMap((file) => file.flags)];
    const last = lastSave(flags);
    if (last !== undefined) return last;
  }
  return undefined;
});

function lastSave(flags: readonly Flag[]): LastSave | undefined {
  const [total, ...others] = flags.filter(countsEpochs);
  const epochs = total?.dynamic === false && others.length === 0 ? wholeOf(total.value) : undefined;
  // A number of steps takes precedence over that of epochs.
  if (epochs === undefined || flags.some((flag) => meaningOf(flag, 'total-steps') !== undefined)) return undefined;
  const saves = flags.filter((flag) => meaningOf(flag, 'checkpoint-interval') !== undefined);
  const perEpoch = flags.find((flag) => !flag.dynamic && savesEachEpoch(flag));
  if (perEpoch !== undefined) return epochs === 1 ? { text: textOf(perEpoch, epochs), word: perEpoch.word } : undefined;
  const [only, ...more] = saves;
  if (only === undefined || more.length > 0 || only.dynamic || countedToSave(only) !== 'epochs') return undefined;
  return wholeOf(only.value) === epochs ? { text: textOf(only, epochs), word: only.word } : undefined;
}

/** Transformers' `save_strategy epoch`, and Axolotl's `saves_per_epoch: 1`. */
function savesEachEpoch({ name, value }: Flag): boolean {
  return (
    (name === 'save-strategy' && value?.toLowerCase() === 'epoch') || (name === 'saves-per-epoch' && value === '1')
  );
}

function textOf({ name, value }: Flag, epochs: number): string {
  return `${name.replaceAll('-', '_')} ${value ?? ''} saves only at the end of the run (${plural(epochs, 'epoch')})`;
}

/** A whole number above 0, also as `1.0`. */
function wholeOf(value: string | undefined): number | undefined {
  const [, digits] = /^0*([1-9]\d{0,4})(?:\.0+)?$/.exec(value ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}
