import { commandNamed, scriptNamed } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { baseName, type Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import type { Container } from '../model/workload.ts';
import { commandsOf, resumes, trainsYolo } from './progress-flags.ts';

/** A trainer that saves its progress, and the flag without which it does not load it. */
export interface MissingResume {
  readonly word: Word;
  readonly program: string;
  readonly flag: string;
}

/** The trainer of a container that saves, but begins at step 0 whatever it finds; undefined if it may resume. */
export function missingResume(container: Container): MissingResume | undefined {
  let missing: MissingResume | undefined;
  for (const words of commandsOf(container)) {
    if (words.some(({ dynamic }) => dynamic)) continue;
    const flags = readFlags(words);
    const found = trainerIn(words, flags);
    if (found === undefined || savesAtMostOnce(flags)) continue;
    // A script may resume only if there is a checkpoint.
    if (flags.some((flag) => mayResume(flag, found.flag))) return undefined;
    missing ??= found;
  }
  return missing;
}

function mayResume(flag: Flag, known: string): boolean {
  if (flag.name === known.replace(/^-+/, '').replaceAll('_', '-') || flag.name === 'resume' || resumes(flag))
    return true;
  // The files of Accelerate's launcher and of Detectron2 have no such setting.
  const isFile = flag.name !== 'config-file' && meaningOf(flag, 'settings-file') !== undefined;
  return flag.dynamic || isFile || /^(?:eval|test)-only$/.test(flag.name);
}

function savesAtMostOnce(flags: readonly Flag[]): boolean {
  const numbers = (['checkpoint-interval', 'total-steps'] as const).map(
    (means) => countIn(flags.find((flag) => meaningOf(flag, means) !== undefined)?.value) ?? null,
  );
  const [every, steps] = numbers;
  return every != null && steps != null && every >= steps;
}

function trainerIn(words: readonly Word[], flags: readonly Flag[]): MissingResume | undefined {
  const has = (name: string) => flags.some((flag) => flag.name === name);
  for (const [index, word] of words.entries()) {
    const program = baseName(word.text);
    const next = words[index + 1]?.text ?? '';
    const command = commandFlags.get(commandNamed(program, next)?.name ?? '');
    if (command !== undefined) return { word, program: `${program} ${next}`, flag: command };
    // Ultralytics starts a new folder for each run.
    if (program === 'yolo' && trainsYolo(words.slice(index)) && !words.some(({ text }) => text.startsWith('resume')))
      return { word, program: 'yolo train', flag: 'resume=True' };
    if (/^gmx(?:_mpi)?(?:_d)?$/.test(program) && next === 'mdrun' && !flags.some(isShortRun))
      return { word, program: 'gmx mdrun', flag: '-cpi' };
    if (/^nnUNet(?:v2)?_train$/.test(program) && !flags.some(({ name }) => /^val/.test(name)))
      return { word, program, flag: program.includes('v2') ? '--c' : '-c' };
    if (word.text === '-m' && modules.has(next)) return { word, program: next, flag: '--resume' };
    const script = program.endsWith('.py') ? ofScript(program.slice(0, -'.py'.length), has) : undefined;
    if (script !== undefined) return { word, program, flag: script };
  }
  return undefined;
}

/** The flag with which a script resumes, if it does so only then, and if it saves. */
function ofScript(name: string, has: (flag: string) => boolean): string | undefined {
  if (scriptNamed(name)?.suite === 'megatron') return has('save') ? '--load' : undefined;
  // https://github.com/facebookresearch/detectron2/blob/main/tools/train_net.py
  if (name === 'train_net' && has('config-file') && has('num-gpus')) return '--resume';
  // https://github.com/open-mmlab/mmdetection/blob/main/tools/train.py
  if (name === 'train' && has('work-dir') && has('launcher')) return '--resume';
  // Its options are those of pix2pixHD, SPADE and CUT, too. https://github.com/junyanz/pytorch-CycleGAN-and-pix2pix/blob/master/options/train_options.py
  if (name === 'train' && has('dataroot') && has('checkpoints-dir')) return '--continue_train';
  return has('checkpointing-steps') && isOfDiffusers(name) ? '--resume_from_checkpoint' : undefined;
}

const commandFlags: ReadonlyMap<string, string> = new Map([
  ['litgpt pretrain', '--resume'],
  ['swift sft', '--resume_from_checkpoint'],
  ['swift pt', '--resume_from_checkpoint'],
]);

/** Whether a flag is of a measurement, or names an energy minimization, which takes minutes. */
function isShortRun({ name, value = '' }: Flag): boolean {
  return benchmarks.has(name) || (/^(?:deffnm|s)$/.test(name) && /^(?:em|min)/i.test(baseName(value)));
}

/** Flags of mdrun for measurements. https://manual.gromacs.org/current/onlinehelp/gmx-mdrun.html */
const benchmarks = wordSet('resethway resetstep noconfout nsteps rerun');

/** OpenCLIP. https://github.com/mlfoundations/open_clip */
const modules: ReadonlySet<string> = new Set(['open_clip_train.main']);

/**
 * Whether a script is one of the examples of Diffusers or Accelerate, which are copied under their names.
 * https://github.com/huggingface/diffusers/tree/main/examples
 */
export function isOfDiffusers(name: string): boolean {
  const words = wordsOf(name);
  return (
    name.endsWith('_no_trainer') ||
    name === 'textual_inversion' ||
    (words[0] === 'train' && words.some((word) => topics.has(word)))
  );
}

const topics = wordSet('dreambooth controlnet pix2pix unconditional lcm cogvideox image');
