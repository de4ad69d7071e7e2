import { type Flag, readFlags } from '../command/flags.ts';
import { allCommands, baseName, readCommandLine, type Word } from '../command/shell.ts';
import { formatNumber } from '../cost/format.ts';
import type { Container } from '../model/workload.ts';
import { isTrial } from './durable.ts';
import { hasRole } from './role.ts';
import { defineRule, type Fix, type PodSetContext } from './rule.ts';
import { setFlag } from './word-edits.ts';
import { spanOfWords } from './word-span.ts';

/**
 * Training is told never to save its progress.
 *
 * ## Why
 *
 * With `--save_strategy no`, an interval beyond the last step, or Megatron without `--save`, nothing is left when the run fails: every
 * restart begins at step 0, and so does the run after the last one.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--save_strategy=no", "--output_dir=/ckpt"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--save_strategy=steps", "--save_steps=200", "--output_dir=/ckpt"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: checkpoints take time and room, and how often is for the owner to say.
 *
 * ## When it is silent
 *
 * For what is no training, and for benchmarks and trials. Where nothing restarts the job it is advice only.
 *
 * ## Sources
 *
 * - [Transformers: TrainingArguments](https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments)
 * - [Megatron-LM: arguments](https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  container(container, context) {
    const { workload } = context;
    if (!hasRole(workload, 'training') || container.type !== 'app' || isTrial(workload)) return;
    if (!container.accelerators.some(({ count }) => count !== 0)) return;
    const told = neverSaves(container);
    if (told === undefined) return;
    const span = spanOfWords(context.document, [...container.command, ...container.args], [told.word, told.word]);
    if (span === undefined) return;
    const restarts = workload.retries !== null && workload.retries.limit > 0;
    context.report({
      severity: restarts ? 'warning' : 'info',
      message: `${told.text}: ${restarts ? 'every restart begins at step 0' : 'a run that fails leaves nothing to resume from'}`,
      span,
      fixes: () => [saving(told, [...container.command, ...container.args], context)],
    });
  },
});

interface Told {
  readonly text: string;
  readonly word: Word;
  /** What to write instead, and what that does. */
  readonly instead?: { readonly flag: Flag; readonly value: string; readonly title: string };
}

function neverSaves({ command, args }: Container): Told | undefined {
  const line = readCommandLine(
    command.map(({ value }) => value),
    args.map(({ value }) => value),
  );
  for (const { words } of allCommands(line.statements)) {
    const flags = readFlags(words);
    const found = turnedOff(flags) ?? beyondTheEnd(flags) ?? megatronWithoutSave(words, flags);
    if (found !== undefined) return found;
  }
  return undefined;
}

function saving({ instead }: Told, lines: Container['command'], { document }: PodSetContext): Fix | undefined {
  const edits = instead && setFlag(document, lines, instead.flag, instead.value);
  return edits && instead && { title: instead.title, safe: false, edits };
}

function turnedOff(flags: readonly Flag[]): Told | undefined {
  const off = flags.find(
    ({ name, value, dynamic }) =>
      !dynamic &&
      ((name === 'save-strategy' && value === 'no') ||
        (/^(trainer\.)?enable-checkpointing$|^exp-manager\.create-checkpoint-callback$/.test(name) &&
          /^false$/i.test(value ?? ''))),
  );
  if (off === undefined) return undefined;
  const name = off.name.replaceAll('-', '_');
  const instead =
    off.name === 'save-strategy'
      ? { flag: off, value: 'epoch', title: 'Save after each epoch' }
      : { flag: off, value: /^[A-Z]/.test(off.value ?? '') ? 'True' : 'true', title: `Set ${name} to true` };
  return { text: `${name} ${off.value ?? ''} saves no checkpoint`, word: off.word, instead };
}

/** An interval below 1 is a share of the run. */
function beyondTheEnd(flags: readonly Flag[]): Told | undefined {
  const number = (names: readonly string[]) => {
    const flag = flags.find(({ name, dynamic }) => names.includes(name) && !dynamic);
    const value = Number(flag?.value);
    return flag !== undefined && Number.isInteger(value) && value > 0 ? { flag, value } : undefined;
  };
  const interval = number(['save-steps', 'save-interval']);
  const steps = number(['max-steps', 'train-iters']);
  if (interval === undefined || steps === undefined || interval.value <= steps.value) return undefined;
  const text = `${interval.flag.name.replaceAll('-', '_')} ${interval.value} is beyond the ${steps.value} steps of the run`;
  const tenth = Math.ceil(steps.value / 10);
  const instead = { flag: interval.flag, value: String(tenth), title: `Save every ${formatNumber(tenth)} steps` };
  return { text, word: interval.flag.word, instead };
}

function megatronWithoutSave(words: readonly Word[], flags: readonly Flag[]): Told | undefined {
  const program = words.find(({ text }) => /^pretrain_(gpt|bert|t5|llama|mamba|vlm|retro)\.py$/.test(baseName(text)));
  if (program === undefined || flags.length < 4 || words.some(({ dynamic }) => dynamic)) return undefined;
  if (flags.some(({ name }) => /^(save|save-interval|yaml-cfg|config|checkpoint.*)$/.test(name))) return undefined;
  return { text: `${baseName(program.text)} without --save keeps no checkpoint`, word: program };
}
