import { setsOtherThings } from '../command/checkpoint.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import { settingsIn } from '../command/training-flags.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** A file of settings from a ConfigMap, with the word of the command line that names it. */
export interface NamedSettings {
  readonly word: Word;
  /** Its settings in the form of flags, at that word; without those that the command line overrides. */
  readonly flags: readonly Flag[];
}

/** The settings that a trainer reads from ConfigMaps: `axolotl train /config/run.yaml`, `train.py --config /config/run.yaml`. */
export const namedSettings = once((container: Container): readonly NamedSettings[] => {
  const files = new Map((container.settingsFiles ?? []).map((file) => [file.path, file]));
  if (files.size === 0) return [];
  return commandsIn(container).flatMap(({ words }) => {
    const flags = readFlags(words);
    const others = new Set(flags.filter((flag) => setsOtherThings(flag, words)).map(({ valueWord }) => valueWord));
    const overridden = new Set(flags.map(({ name }) => lastPart(name)));
    return words.flatMap((word): readonly NamedSettings[] => {
      const path = flags.find(({ valueWord }) => valueWord === word)?.value ?? word.text;
      const file = others.has(word) ? undefined : files.get(path);
      if (file === undefined || path.endsWith('.py')) return [];
      const read = settingsIn(file).map(({ name, written, value }): Flag => {
        const at = { ...word, text: written, derived: true as const };
        return { name, written, value, dynamic: value === undefined, word: at, valueWord: at, isVariable: false };
      });
      return [{ word, flags: read.filter(({ name }) => !overridden.has(lastPart(name))) }];
    });
  });
});

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
