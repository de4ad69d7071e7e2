import { readFlags } from '../command/flags.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type Word } from '../command/shell.ts';
import { commandLineOf, commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { mayRunMore } from './launch.ts';
import { isOfDiffusers } from './missing-resume.ts';
import { isHarmless } from './sole-server.ts';

/** A program that uses a number of GPUs, whatever the container has. */
export interface OwnGpus {
  readonly count: number;
  /** As written: `run_alphafold.py`. */
  readonly text: string;
  readonly words: readonly [Word, Word];
}

/** The GPUs that the only program of a container uses by itself; undefined if a launcher, a flag or other programs may use more. */
export function ownGpus(container: Container): OwnGpus | undefined {
  const { complete, statements } = commandLineOf(container);
  if (!complete || mayRunMore(container) || statements.some(({ kind }) => kind !== 'command')) return undefined;
  const [only, ...others] = commandsIn(container).filter((command) => !isHarmless(command));
  if (only === undefined || others.length > 0 || only.background || only.after === '|') return undefined;
  const [first] = only.words;
  // Behind a launcher, each of several processes has its own.
  const words = programWords(only);
  const text = words[0] ?? '';
  const interpreted = /^python[\d.]*$/.test(baseName(text)) && words[1]?.endsWith('.py') === true;
  const program = baseName((interpreted ? words[1] : text) ?? '');
  if (first === undefined || only.words.some(({ dynamic }) => dynamic)) return undefined;
  const flags = readFlags(only.words);
  const flag = (...names: readonly string[]) => flags.find(({ name }) => names.includes(name));
  if (flags.some(({ name }) => /gpus|devices/.test(name))) return undefined;
  const is =
    uses.get(program) ??
    (program.endsWith('.py') && isScript(program.slice(0, -3), flag(...ofScripts) !== undefined) ? [] : undefined);
  if (is === undefined || flag(...is) !== undefined) return undefined;
  const line = words.join(' ');
  if (program === 'train_net.py' && flag('config-file') === undefined) return undefined;
  if (program === 'yolo' && (!/^(?:-?\d)?$/.test(flag('device')?.value ?? '') || line.includes('cfg=')))
    return undefined;
  if (program === 'lm_eval' || program === 'lm-eval') {
    const model = flag('model')?.value ?? 'hf';
    // Its short flags differ from version to version.
    if (model !== 'hf' || /parallelize|device_map|max_memory|\s(?:-[mMcC]|--config)\b/.test(line)) return undefined;
  }
  const last = only.words.find((word) => baseName(word.text) === program) ?? first;
  return { count: 1, text: program, words: [last, last] };
}

/**
 * Programs that use one GPU unless one of the flags, or one for the number of GPUs, says otherwise.
 * AlphaFold: https://github.com/google-deepmind/alphafold/issues/66
 * ColabFold: https://github.com/sokrypton/ColabFold
 * nnU-Net: https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/how_to_use_nnunet.md
 * Boltz: https://github.com/jwohlwend/boltz/blob/main/docs/prediction.md
 * Nerfstudio: https://docs.nerf.studio/reference/cli/ns_train.html
 * Ultralytics: https://docs.ultralytics.com/modes/train/#multi-gpu-training
 * lm_eval: https://github.com/EleutherAI/lm-evaluation-harness#multi-gpu-evaluation-with-hugging-face-accelerate
 * Detectron2: https://github.com/facebookresearch/detectron2/blob/main/detectron2/engine/defaults.py
 */
const uses: ReadonlyMap<string, readonly string[]> = new Map([
  ['run_alphafold.py', []],
  ['colabfold_batch', []],
  ['nnUNetv2_train', []],
  ['boltz', []],
  ['ns-train', []],
  ['yolo', []],
  ['lm_eval', []],
  ['lm-eval', []],
  ['train_net.py', ['num-machines', 'cfg', 'launcher']],
]);

/** Scripts for Accelerate, which starts no processes itself: examples of Diffusers, and https://github.com/kohya-ss/sd-scripts. */
function isScript(name: string, isKnown: boolean): boolean {
  if (name.endsWith('_no_trainer')) return true;
  return isKnown && (isOfDiffusers(name) || /^(?:sdxl_|flux_|sd3_)?train_(?:network|db|textual_inversion)$/.test(name));
}

/** Flags of these scripts that others with such a name hardly have. */
const ofScripts = ['pretrained-model-name-or-path', 'checkpointing-steps'];
