import { unsplitWordsOf } from '../command/name-words.ts';
import { isOn } from '../command/setting-values.ts';
import { baseName } from '../command/shell.ts';
import type { TrainerSettings } from '../command/training-flags.ts';
import { type Table, table } from '../yaml/table.ts';
import type { TrainingSettings } from './training-settings.ts';

/** What training from preferences adds to each step. */
export type TrainingGoal = Pick<TrainingSettings, 'pairs' | 'reference'>;

const both = { pairs: true, reference: true } as const;
const pairs = { pairs: true } as const;

/**
 * Methods by their names in settings, subcommands and scripts: https://huggingface.co/docs/trl/dpo_trainer concatenates the chosen and the rejected
 * sequences, and loads a second model unless the first has an adapter.
 */
const goals: Table<TrainingGoal> = table<TrainingGoal>({
  dpo: both,
  ipo: both,
  orpo: pairs,
  cpo: pairs,
  simpo: pairs,
  rm: pairs,
  reward: pairs,
  kto: { reference: true },
});

/** What the method of a run adds: by a setting that names it, else by a subcommand, a script or a recipe. */
export function goalOf({ settings, words }: TrainerSettings): TrainingGoal {
  const set = settings.flatMap(({ name, value }) => (method.test(name) ? (value?.toLowerCase() ?? []) : []));
  const programs = words.flatMap(({ text }) => unsplitWordsOf(text.startsWith('-') ? '' : baseName(text)));
  // Scripts remove files with `rm`, and have rewards of other kinds.
  const named = [...set, ...programs.filter((word) => word !== 'rm' && word !== 'reward')];
  const goal = named.map((name) => goals[name]).find((one) => one !== undefined);
  if (goal?.reference === undefined || !settings.some(isAbsent)) return goal ?? {};
  return goal.pairs ? pairs : {};
}

const method = /(?:^|[.-])(?:rlhf-type|rl|stage|pref-loss|loss-type)$/;

/** The answers of the reference model are computed in advance, or not used. */
function isAbsent({ name, value }: TrainerSettings['settings'][number]): boolean {
  return /(?:^|\.)(?:precompute-ref-log-probs|reference-free)$/.test(name) && isOn(value?.toLowerCase());
}
