import { launcherNames } from '../catalog/program-records.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { commandLineOf, commandsIn, useOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { isOfDiffusers } from './missing-resume.ts';
import { isHarmless } from './sole-server.ts';

/** A program that uses a number of GPUs, whatever the container has. */
export interface OwnGpus {
  readonly count: number;
  /** As written: `run_alphafold.py`. */
  readonly text: string;
  /** The GPU that it names, counted from 0. */
  readonly index?: number;
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
  const chosen = chosenGpu(only);
  if (chosen !== undefined) return chosen;
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

/** A server that computes on one GPU by default, and that nothing tells to use more: its name, and the image that starts it. */
export function serverOfOneGpu(container: Container): { readonly name: string; readonly at: Cursor } | undefined {
  const { image, command, args, env, scripts } = container;
  const name = servers.get(useOf(container).program ?? '');
  if (name === undefined || image === undefined || isTemplated(image.at) || scripts.length > 0) return undefined;
  if (mayRunMore(container) || mayHaveVariables(container)) return undefined;
  const texts = [image, ...command, ...args].map(({ value }) => value);
  const variables = env.flatMap((one) => [one.name, one.value?.value ?? '']);
  return [...texts, ...variables].some((text) => severalGpus.test(text)) ? undefined : { name, at: image.at };
}

/**
 * ComfyUI: https://github.com/Comfy-Org/ComfyUI/issues/9695
 * speaches (`WHISPER__DEVICE_INDEX`): https://speaches.ai/configuration/ Kokoro: https://github.com/remsky/Kokoro-FastAPI
 * Stable Diffusion web UI: https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Command-Line-Arguments-and-Settings (`--device-id`)
 */
const servers: ReadonlyMap<string, string> = new Map([
  ['comfyui', 'ComfyUI'],
  ['stable-diffusion-webui', 'Stable Diffusion web UI'],
  ['speaches', 'speaches'],
  ['kokoro', 'Kokoro'],
]);

/** Words of several GPUs, of processes for them, and of programs that start more than one server. */
const severalGpus = partOf(
  'multi swarm parallel supervis devices gpus device[_-]id device[_-]index cuda-device nproc ray worker',
);

/** The one GPU that a flag of a Python program names, or a number of one: `--device cuda:0`, `--gpu 0`, `--num_gpus 1`. */
function chosenGpu(command: SimpleCommand): OwnGpus | undefined {
  const { words } = command;
  const launchers = launcherNames();
  const starts = words.map(({ text }) => baseName(text));
  if (!/^python[\d.]*$|\.py$|^(?:yolo|boltz)$/.test(baseName(programWords(command)[0] ?? ''))) return undefined;
  if (starts.some((name) => launchers.has(name) || elsewhere.has(name))) return undefined;
  const [only, ...others] = readFlags(words).filter(
    ({ name, value }) =>
      /gpu|device|cuda|rank|parallel|world|nproc|processes|^tp(?:-size)?$/.test(name) || /cuda:\d/.test(value ?? ''),
  );
  if (only?.valueWord === undefined || others.length > 0 || only.dynamic || only.isVariable) return undefined;
  const { word, valueWord, written, value = '' } = only;
  if (!isOneGpu(wordsOf(written), value)) return undefined;
  // `--gpu_ids 0 1 2 3`
  if (/^(?:cuda:)?\d/.test(words[words.indexOf(valueWord) + 1]?.text ?? '')) return undefined;
  const text = valueWord === word ? word.text : `${word.text} ${value}`;
  const isCount = wordsOf(written).some((part) => countWords.has(part));
  return { count: 1, text, words: [word, valueWord], ...(!isCount && { index: Number(value.replace('cuda:', '')) }) };
}

/** Whether the words of a flag with its value choose a single GPU, whether the value is a number of GPUs or that of one. */
function isOneGpu(parts: readonly string[], value: string): boolean {
  const has = (set: ReadonlySet<string>) => parts.some((part) => set.has(part));
  if (!has(gpuWords) || !parts.every((part) => gpuWords.has(part) || countWords.has(part) || idWords.has(part)))
    return false;
  if (/^cuda:\d{1,2}$/.test(value)) return true;
  if (has(countWords) || parts.includes('gpus') || parts.includes('devices')) return value === '1';
  // `--gpu 1` and `--cuda 1` may turn the use of all GPUs on.
  return value === '0' || (parts.includes('device') && value === '1') || (has(idWords) && /^\d$/.test(value));
}

const gpuWords = wordSet('gpu gpus ngpu ngpus device devices cuda');
const countWords = wordSet('num n number count ngpu ngpus');
const idWords = wordSet('id ids idx index');

/** Programs that start others, which have flags of their own. */
const elsewhere = wordSet('ray mpirun mpiexec horovodrun srun kubectl ssh docker parallel xargs');

/**
 * Programs that use one GPU unless one of the flags, or one for the number of GPUs, says otherwise.
 * AlphaFold: https://github.com/google-deepmind/alphafold/issues/66
 * ColabFold: https://github.com/sokrypton/ColabFold
 * nnU-Net: https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/how_to_use_nnunet.md
 * Boltz: https://github.com/jwohlwend/boltz/blob/main/docs/prediction.md
 * Whisper: https://github.com/openai/whisper/blob/main/whisper/transcribe.py https://github.com/m-bain/whisperX
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
  ['whisper', []],
  ['whisperx', []],
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
