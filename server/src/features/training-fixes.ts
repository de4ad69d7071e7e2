import type { FlagMeaning } from '../catalog/flag-records.ts';
import type { Flag } from '../command/flags.ts';
import { lastSetting } from '../command/training-flags.ts';
import { formatNumber } from '../cost/money.ts';
import { type TrainingLever, trainingLevers } from '../memory/training-levers.ts';
import { trainingRun } from '../model/training-run.ts';
import type { Container, Workload } from '../model/workload.ts';
import { type Edits, type Fix, fix } from '../rewrite/fix.ts';
import { setFlag } from '../rewrite/words.ts';
import { appendItem } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';

/** A lever that is one flag of Hugging Face's `TrainingArguments`. */
interface OneFlag {
  readonly means: FlagMeaning;
  readonly name: string;
  readonly value: string;
  readonly title: string;
}

const flags: ReadonlyMap<TrainingLever['kind'], OneFlag> = new Map([
  [
    'recompute',
    {
      means: 'recomputation',
      name: 'gradient_checkpointing',
      value: 'true',
      title: 'Recompute activations (gradient checkpointing)',
    },
  ],
  ['small-states', { means: 'optimizer', name: 'optim', value: 'adamw_8bit', title: 'Use an 8-bit optimizer' }],
]);

/** Changes of one flag that make a container's training take less memory. */
export function trainingFixes(workload: Workload, container: Container): readonly Fix[] {
  const { run } = trainingRun(container, workload);
  if (run === null) return [];
  // Only trainers with these arguments have the flags.
  const known = run.written.settings.find(({ name, flag }) => flag && name === 'per-device-train-batch-size')?.flag;
  if (known === undefined) return [];
  const { document } = workload.manifest;
  return trainingLevers(run.shape, run.settings).flatMap(({ kind, savesGiB }): Fix[] => {
    const one = flags.get(kind);
    if (one === undefined) return [];
    const set = lastSetting(run.written, one.means);
    if (set !== undefined && set.flag === undefined) return [];
    const lines = [...container.command, ...container.args];
    const edits =
      set?.flag === undefined
        ? addFlag(document, container, known, `--${one.name}=${one.value}`)
        : setFlag(document, lines, set.flag, one.value);
    const made = fix(`${one.title}: ${formatNumber(Math.round(savesGiB))} GiB less per GPU`, 'unsafe', edits);
    return made === undefined ? [] : [made];
  });
}

/** Appends a flag to the list of words that has a given one, if nothing follows that list. Scripts stay as they are. */
function addFlag(document: YamlDocument, { command, args }: Container, { word, valueWord }: Flag, text: string): Edits {
  const last = valueWord ?? word;
  const item = [...command, ...args][last.item];
  const isScript = last.start !== 0 || last.end !== item?.value.length;
  const isLast = last.item >= (args.length > 0 ? command.length : 0);
  return isScript || !isLast || item?.at.parent === undefined ? undefined : appendItem(document, item.at.parent, text);
}
