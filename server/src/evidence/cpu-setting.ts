import { imageParts } from '../catalog/images.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { allCommands, readCommandLine, type Word } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { isHarmless } from './sole-server.ts';

/** What makes a program run on the CPU: a flag of its command, or a variable of the container. */
export interface CpuSetting {
  /** As written: `--device cpu`. */
  readonly text: string;
  readonly place: { readonly words: readonly [Word, Word] } | { readonly value: Cursor };
  /** The variable has the name of a device, so that of a GPU could be its value. */
  readonly namesDevice: boolean;
  /** The image may have a setting of its own. */
  readonly isLikely?: true;
}

/**
 * The setting with which the only program of a container leaves its GPUs alone; undefined without one, if several programs run, or if another setting
 * names a GPU: parts of one program may use different devices.
 */
export function cpuSetting(container: Container, names: readonly string[]): CpuSetting | undefined {
  const lines = [...container.command, ...container.args];
  const hints =
    lines.some(({ value }) => /cpu|cuda|gpu|layers|ngl|llama_cpp|^serve$|[ =]-1\b|^-1$/i.test(value)) ||
    container.env.some(mayBeSetting) ||
    keepsLayers(container.image?.value ?? '');
  if (!hints || lines.some(({ at }) => isTemplated(at))) return undefined;
  const { image } = container;
  const { command, args, env } = processInput(container);
  const line = readCommandLine(command, args, env);
  const programs = allCommands(line.statements).filter((one) => !isHarmless(one));
  if (!line.complete || programs.length > 1 || programs.some(({ background }) => background)) return undefined;
  const words = programs[0]?.words ?? [];
  const values = [
    ...words.map(({ text }) => text.slice(text.lastIndexOf('=') + 1)),
    ...env.map(({ value }) => value ?? ''),
  ];
  if (values.some((value) => gpuDevice.test(value)) || env.some(numbersDevice)) return undefined;
  const flag =
    flagSetting(words) ??
    defaultSetting(words, image?.value ?? '') ??
    (mayHaveVariables(container) ? undefined : defaultLayers(words, image?.value ?? '', env));
  if (flag !== undefined) return flag;
  const runsTorch = [...words.map(({ text }) => text), image?.value ?? ''].some((text) => /torch/i.test(text));
  const own = new Set([...names, container.name ?? '', container.image?.value ?? ''].flatMap(wordsOf));
  for (const words of sameThing) if (words.some((word) => own.has(word))) for (const word of words) own.add(word);
  const set = container.env.find(
    ({ name, value }) =>
      value !== undefined &&
      (leavesGpus(name, value.value, own) || passesSwitch(name, value.value)) &&
      !(runsTorch && isOfJax(name)),
  );
  if (
    set?.value === undefined ||
    isTemplated(set.value.at) ||
    lines.some(({ value }) => value.includes(`${set.name}=`))
  )
    return undefined;
  return {
    text: `${set.name}=${set.value.value}`,
    place: { value: set.value.at },
    namesDevice: set.value.value.toLowerCase() === 'cpu' && wordsOf(set.name).includes('device'),
  };
}

/** The last flag counts where one is repeated. */
function flagSetting(words: readonly Word[]): CpuSetting | undefined {
  const flags = readFlags(words);
  for (const { name, written, value, dynamic, word, valueWord, isVariable } of flags) {
    if (dynamic || isVariable || flags.some((other) => other.word.start > word.start && other.name === name)) continue;
    const parts = name.split(/[-_.]/);
    const isDevice =
      value?.toLowerCase() === 'cpu' &&
      (parts.includes('device') || parts.includes('accelerator')) &&
      parts.every((part) => general.has(part));
    // Of GROMACS: https://manual.gromacs.org/current/onlinehelp/gmx-mdrun.html
    const isProvider = isCpuProvider(value ?? '') && parts.every((part) => providers.has(part) || general.has(part));
    const isForces = name === 'nb' && value === 'cpu' && words.some(({ text }) => text === 'mdrun');
    // Behind a switch, the script of a launcher may follow.
    const isSwitch = switches.has(name) && (value === undefined || /^(?:true|1|all)$|\.py$/i.test(value));
    // `--gpus 0` may name a GPU, and `--gpus -1` all of them. Parts of a program may have their own numbers: `--num-gpus-per-worker`.
    const isNone =
      ((value === '0' && counts.has(name)) || (value === '-1' && numbers.has(name))) &&
      !flags.some((other) => other.name !== name && namesOthers(other));
    // `--use_gpu 0` may name a GPU.
    const isSwitchedOff = (gpuSwitches.has(name) || gpuWords.has(name)) && /^(?:false|no|off)$/i.test(value ?? '');
    const hasNoLayers = layerFlags.has(name) && value === '0' && !flags.some((other) => partOnGpu.test(other.name));
    if (!isDevice && !isProvider && !isForces && !isSwitch && !isSwitchedOff && !isNone && !hasNoLayers) continue;
    const dashes = /^[-+]*/.exec(word.text)?.[0] ?? '';
    return {
      text: value === undefined || value.endsWith('.py') ? word.text : `${dashes}${written} ${value}`,
      place: { words: [word, value?.endsWith('.py') ? word : (valueWord ?? word)] },
      namesDevice: isDevice && parts.includes('device'),
    };
  }
  return undefined;
}

/** A server that computes on the CPU without its flag. https://tabby.tabbyml.com/docs/quick-start/installation/docker/ */
function defaultSetting(words: readonly Word[], image: string): CpuSetting | undefined {
  const [serve, last] = [words.find(({ text }) => text === 'serve'), words.at(-1)];
  const isTabby = /(?:^|\/)tabbyml\/tabby(?:[:@]|$)/.test(image);
  if (!isTabby || serve === undefined || last === undefined || words.some(({ dynamic }) => dynamic)) return undefined;
  if (readFlags(words).some(({ name }) => name === 'device' || name.endsWith('-device'))) return undefined;
  return { text: 'tabby serve without --device', place: { words: [serve, last] }, namesDevice: false };
}

/**
 * Whether an image has an older build of llama.cpp for GPUs, which moves no layers to them by default. The old registry has no newer builds.
 * https://github.com/ggml-org/llama.cpp/blob/b4700/src/llama.cpp
 */
function keepsLayers(image: string): boolean {
  const { repository, tag = '' } = imageParts(image);
  const [, owner] = /^ghcr\.io\/(ggerganov|ggml-org)\/llama\.cpp$/.exec(repository) ?? [];
  const build = Number(/-b(\d{3,6})$/.exec(tag)?.[1] ?? (owner === 'ggerganov' ? 0 : Number.NaN));
  return owner !== undefined && /^server-(?:cuda|rocm|vulkan|intel|musa)/.test(tag) && build < 5000;
}

/** llama-cpp-python moves no layers by default. https://github.com/abetlen/llama-cpp-python/blob/52861468b2f5/llama_cpp/server/settings.py */
function defaultLayers(
  words: readonly Word[],
  image: string,
  env: readonly { readonly name: string }[],
): CpuSetting | undefined {
  const isBinding = words.some(({ text }, index) => text === 'llama_cpp.server' && words[index - 1]?.text === '-m');
  if (
    !(isBinding || keepsLayers(image)) ||
    words.some(({ dynamic }) => dynamic) ||
    env.some(({ name }) => /LAYERS|LLAMA_ARG/.test(name))
  )
    return undefined;
  const flags = readFlags(words);
  const model = flags.find(
    ({ name }) => /^(?:m|model|hf|hf-repo|mu|model-url)$/.test(name) && !(isBinding && name === 'm'),
  );
  if (model === undefined || flags.some(({ name }) => layerFlags.has(name) || /layers|device|^ngl|config/.test(name)))
    return undefined;
  const place = { words: [model.word, model.valueWord ?? model.word] as const };
  const text = isBinding ? 'llama_cpp.server without --n_gpu_layers' : 'llama.cpp without --n-gpu-layers';
  return { text, place, namesDevice: false, ...(isBinding && { isLikely: true as const }) };
}

/** The value of a setting that gives a part of the program a GPU. */
const gpuDevice = /^["']?(?:cuda|gpu|rocm|hip|xpu|vulkan)[:.]?\d{0,3}["']?$/i;

/** A device of a part of the program, by its number: `WHISPER_DEVICE=0`. */
function numbersDevice({ name, value }: { readonly name: string; readonly value?: string | undefined }): boolean {
  return /^\d$/.test(value ?? '') && /(?:^|_)DEVICE$/i.test(name);
}

/** A program that computes with PyTorch may only load its data with JAX. */
function isOfJax(name: string): boolean {
  return name.startsWith('JAX_');
}

/** Words for what one program does: its settings may use another than its names. */
const sameThing = [
  ['speaches', 'asr', 'stt', 'whisper', 'transcriber', 'transcription'],
  ['yolo', 'detector', 'detection'],
  ['embed', 'embedder', 'embedding', 'embeddings'],
  ['ocr', 'paddleocr', 'easyocr'],
];

/** Words of a name that mean the device of the whole program. */
const general = wordSet(
  'device type torch pytorch inference compute execution target model default runtime',
  // PyTorch Lightning and Blender.
  'accelerator trainer cycles',
);

/** https://github.com/comfyanonymous/ComfyUI https://huggingface.co/docs/accelerate/package_reference/cli */
const switches: ReadonlySet<string> = wordSet(
  'cpu use-cpu cpu-only force-cpu no-cuda disable-cuda no-gpu no-use-gpu no-use-cuda',
);

/** Numbers of GPUs, and those of one or a list of them, where pix2pix and others take -1 for none: https://github.com/junyanz/pytorch-CycleGAN-and-pix2pix */
const counts = wordSet('num-gpus num-gpu n-gpus n-gpu ngpus ngpu');
const numbers = wordSet('gpu gpu-id gpu-ids gpuid gpu-idx gpu-index device-id');
const otherDevices = partOf('xpu npu hpu tpu device accelerator');

/** Whether a flag gives a part of the program GPUs or another device. */
function namesOthers({ name, value }: Flag): boolean {
  return otherDevices.test(name) || (name.includes('gpu') && value !== '0');
}

/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md https://github.com/LostRuins/koboldcpp/wiki */
const layerFlags: ReadonlySet<string> = new Set(['n-gpu-layers', 'gpu-layers', 'ngl', 'gpulayers']);

/** Models next to the main one, which llama.cpp moves to the GPU by themselves. */
const partOnGpu = /^(?:ngld|gpu-layers-draft|n-gpu-layers-draft|mmproj|mm|md|model-draft)$/;

function mayBeSetting({ name, value }: Container['env'][number]): boolean {
  return (
    value !== undefined &&
    (value.value.toLowerCase() === 'cpu' ||
      /cpu|cuda|gpu/i.test(name) ||
      isCpuProvider(value.value) ||
      passesSwitch(name, value.value))
  );
}

/** Whether a variable with arguments of the program has a switch for the CPU: `CLI_ARGS=--cpu`. */
function passesSwitch(name: string, value: string): boolean {
  if (!/(?:^|_)(?:ARGS|ARGUMENTS|FLAGS|OPTS|OPTIONS)$/i.test(name) || value.length > 2000) return false;
  const words = value.split(/\s+/);
  return words.some((word, index) => {
    const next = words[index + 1] ?? '--';
    if (!word.startsWith('--') || !switches.has(word.slice(2))) return false;
    // `--use-cpu interrogate` is for a part of the program.
    return next.startsWith('-') || next === 'all';
  });
}

/**
 * Whether a variable makes the program compute on the CPU. Words of a device's name that are neither general nor in the names of the container or its
 * workload mean a part of the program.
 * https://docs.jax.dev/en/latest/config_options.html https://huggingface.co/docs/accelerate/package_reference/cli
 */
function leavesGpus(name: string, value: string, own: ReadonlySet<string>): boolean {
  const words = wordsOf(name);
  const text = value.trim().toLowerCase();
  if (isCpuProvider(value)) return words.every((word) => providers.has(word) || general.has(word) || own.has(word));
  if (text === 'cpu')
    return (
      /^JAX_PLATFORM(?:S|_NAME)$/.test(name) ||
      ((words.includes('device') || words.includes('accelerator')) &&
        words.every((word) => general.has(word) || own.has(word)))
    );
  const [isOn, isOff] = [/^(?:1|true|yes|on)$/.test(text), /^(?:0|false|no|off)$/.test(text)];
  const plain = words.filter((word) => word !== 'accelerate');
  // A container that is called `gpu-worker` has the word of the switch in its own name.
  return [plain, plain.filter((word) => !own.has(word))].some((some) => {
    const written = some.join('-');
    return (
      (isOn && (switches.has(written) || written === 'disable-gpu')) ||
      (isOff && gpuSwitches.has(written)) ||
      // `GPU=0` may name a GPU.
      (/^(?:false|no|off)$/.test(text) && gpuWords.has(written)) ||
      (text === '0' && (layerNames.has(written) || countNames.has(written)))
    );
  });
}

/** Whether ONNX Runtime is to use nothing but its provider for CPUs. https://onnxruntime.ai/docs/execution-providers/ */
function isCpuProvider(value: string): boolean {
  return /^[\s"'[]*CPUExecutionProvider[\s"'\]]*$/.test(value);
}

const providers = wordSet('onnx onnxruntime ort ep execution provider providers');

const gpuSwitches: ReadonlySet<string> = new Set([
  'use-gpu',
  'use-cuda',
  'enable-gpu',
  'enable-cuda',
  'gpu-enabled',
  'cuda-enabled',
]);

const gpuWords = wordSet('gpu cuda prefer-gpu');
const countNames = wordSet('num-gpus gpu-count gpus-count');

const layerNames: ReadonlySet<string> = new Set(['n-gpu-layers', 'gpu-layers', 'llama-arg-n-gpu-layers']);
