import { imageParts } from '../catalog/images.ts';
import { either, oneOf, wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { commandsIn, useOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { cudaDevice, runsOnCpu } from './gpu-launch.ts';
import { type GpuFlag, gpuImage, isForCpus, isTool, offloadedLayers } from './gpu-programs.ts';

/**
 * What says that a container without a request computes on a GPU, other than the name of a server: a flag, a launcher, a variable, or the image in
 * which it trains. Undefined if anything says that it computes on the CPU.
 * @param name the name of its object
 */
export function neededGpu(container: Container, name: string, document: YamlDocument): GpuFlag | undefined {
  const flag = offloadedLayers(container) ?? cudaDevice(container, document);
  if (flag !== undefined) return flag;
  const names = [name, container.name ?? ''].join(' ');
  if (runsOnCpu(container) || isForCpus(container) || isTool(container) || /\bcpu/i.test(names)) return undefined;
  if (container.env.some(turnsOff)) return undefined;
  return inCommands(container, document) ?? inVariables(container) ?? byImage(container);
}

/** A variable that turns the GPU of a program off, or may: `USE_GPU=false`. */
function turnsOff({ name, value }: Container['env'][number]): boolean {
  if (name === 'CUDA_VISIBLE_DEVICES') return /^(?:-1|none|)$/i.test(value?.value ?? '');
  return gpuSetting.test(name) && (value === undefined || /^(?:0|-1|false|no|off|none|)$/i.test(value.value));
}

/** A variable that turns the GPU of a program on: `USE_CUDA=true`. */
function turnsOn({ name, value }: Container['env'][number]): boolean {
  return (
    switchedOn.test(name) &&
    !/(?:^|_)(?:NO|NOT|DO?NT|DISABLE|BUILD|COMPILE|INSTALL)_/i.test(name) &&
    isTrue.test(value?.value ?? '')
  );
}

const switchedOn = either(/^(?:\w+_)?(?:USE|ENABLE|WITH)_(?:GPU|CUDA)$/, /^(?:\w+_)?(?:GPU|CUDA)_ENABLED?$/);
const isTrue = /^(?:1|true|yes|on)$/i;

const gpuSetting = either(
  new RegExp(`^(?:\\w+_)?(?:${oneOf('USE ENABLE WITH NUM N HAS')})_?(?:GPUS?|CUDA)$`, 'i'),
  /^(?:GPUS?|CUDA)(?:_ENABLED?|_COUNT)?$/,
);

/** Programs that start the command elsewhere or share out the GPUs of other pods. */
const elsewhere = wordSet('ray sky kubectl ssh srun sbatch mpirun mpiexec horovodrun docker runai dask');

function inCommands(container: Container, document: YamlDocument): GpuFlag | undefined {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => hints.test(value)) || lines.some(({ at }) => isTemplated(at))) return undefined;
  const commands = commandsIn(container);
  const isRemote = container.env.some(({ name }) => name.startsWith('RAY_'));
  if (isRemote || commands.some(({ words }) => words.some(({ text }) => elsewhere.has(baseName(text)))))
    return undefined;
  const trains = useOf(container).use === 'training';
  for (const command of commands) {
    const found = launcher(command) ?? backendOf(command) ?? needingFlag(command, trains);
    const span = found && spanOfWords(document, lines, found.words);
    if (found && span)
      return {
        text: found.text,
        span,
        effect: 'needs a GPU, but the container requests none: it fails, or uses',
      };
  }
  return undefined;
}

const hints = either(
  /gpu|cuda|device|fp16|in[-_][48]bit|accelerator|nccl/i,
  /\b(?:deepspeed|axolotl|llamafactory-cli)\b/,
);

interface Need {
  readonly text: string;
  readonly words: readonly [Word, Word];
}

/** Launchers that find the GPUs of their own container: https://www.deepspeed.ai/getting-started/, https://docs.axolotl.ai/docs/cli.html */
function launcher({ words }: SimpleCommand): Need | undefined {
  const [program, next] = words;
  const name = baseName(program?.text ?? '');
  if (program === undefined || next === undefined) return undefined;
  const isDeepSpeed =
    name === 'deepspeed' &&
    words.some(({ text }) => text.endsWith('.py')) &&
    !readFlags(words).some((flag) => /^(?:h|hostfile|help|include|bind-cores-to-rank)$/.test(flag.name));
  if (isDeepSpeed) return { text: name, words: [program, program] };
  const trains = (name === 'axolotl' || name === 'llamafactory-cli') && next.text === 'train';
  return trains ? { text: `${name} train`, words: [program, next] } : undefined;
}

/** The backend of a process group that only has GPUs, also among the arguments of an image's own program. https://docs.pytorch.org/docs/stable/distributed.html#backends */
function backendOf(command: SimpleCommand): Need | undefined {
  const [first = ''] = programWords(command);
  if (!first.startsWith('-') && !isPython(first)) return undefined;
  const flag = readFlags(command.words).find(
    ({ name, value, dynamic, isVariable }) =>
      backends.has(name.slice(name.lastIndexOf('.') + 1)) && !dynamic && !isVariable && value?.toLowerCase() === 'nccl',
  );
  if (flag === undefined) return undefined;
  const { word, valueWord = word } = flag;
  return { text: valueWord === word ? word.text : `${word.text} ${valueWord.text}`, words: [word, valueWord] };
}

const backends = wordSet('backend dist-backend distributed-backend ddp-backend comm-backend process-group-backend');

function isPython(program: string): boolean {
  return /^python[\d.]*$|\.py$|^(?:torchrun|accelerate|lightning)$/.test(baseName(program));
}

function needingFlag(command: SimpleCommand, trains: boolean): Need | undefined {
  if (!isPython(programWords(command)[0] ?? '')) return undefined;
  const flag = readFlags(command.words).find((one) => !one.dynamic && !one.isVariable && isNeeding(one, trains));
  if (flag === undefined) return undefined;
  const { word, value } = flag;
  const last = isBoolean(value) || value === undefined || !/\.py$/.test(value) ? (flag.valueWord ?? word) : word;
  return { text: last === word ? word.text : `${word.text} ${last.text}`, words: [word, last] };
}

/** Whether a flag makes a program compute on a GPU, or choose one. */
function isNeeding({ name, value = 'true', word }: Flag, trains: boolean): boolean {
  // Hydra and LightningCLI have the accelerator under a key: `trainer.accelerator=gpu`.
  if (name.slice(name.lastIndexOf('.') + 1) === 'accelerator') return value === 'gpu' || value === 'cuda';
  if (!word.text.startsWith('-')) return false;
  const isOn = /^(?:true|1|yes)$/i.test(value) || value.endsWith('.py');
  if (isOn && (switches.has(name) || (trains && name === 'fp16'))) return true;
  if (name === 'mixed-precision') return value === 'fp16';
  // torchrun counts the GPUs, and ends if there are none.
  if (name === 'nproc-per-node') return value === 'gpu';
  if (trains && numbers.has(name)) return /^\d(?:,\d)*$/.test(value);
  return trains && counts.has(name) && /^[1-9]\d?$/.test(value);
}

function isBoolean(value: string | undefined): boolean {
  return /^(?:true|false|[01])$/i.test(value ?? '');
}

const switches = wordSet('use-gpu use-cuda cuda gpu multi-gpu multigpu load-in-4bit load-in-8bit');
/** Numbers of the GPUs on which a program trains: `--device 0,1`. */
const numbers = wordSet('device gpu-id gpu-ids device-id device-ids');
const counts = wordSet('gpus num-gpus n-gpu n-gpus ngpu ngpus num-gpu');

/** A variable that makes a program compute on a GPU, unless another one, or anything else, keeps it on the CPU. */
export function gpuVariable(container: Container): GpuFlag | undefined {
  if (runsOnCpu(container) || isForCpus(container) || isTool(container) || container.env.some(turnsOff))
    return undefined;
  return inVariables(container);
}

/**
 * The variable by which CUDA chooses the GPUs of a program, or one that names CUDA as the program's device or NCCL as its backend, or turns its GPU on.
 */
function inVariables({ env }: Container): GpuFlag | undefined {
  const needs = ({ name, value }: Container['env'][number]) =>
    (/(?:^|_)(?:DEVICE(?:_TYPE)?|ACCELERATOR)$/.test(name) &&
      !ofOthers.test(name) &&
      /^(?:cuda(?::\d)?|gpu)$/i.test(value?.value ?? '')) ||
    (/(?:^|_)BACKEND$/.test(name) && value?.value.toLowerCase() === 'nccl');
  const offloads = ({ name, value }: Container['env'][number]) =>
    layers.test(name) && /^(?:-1|[1-9]\d{0,3})$/.test(value?.value ?? '');
  const chooses = ({ name, value }: Container['env'][number]) =>
    name === 'CUDA_VISIBLE_DEVICES' && /^\d{1,2}(?:,\d{1,2})*$/.test(value?.value ?? '');
  const found = env.find((one) => needs(one) || chooses(one) || turnsOn(one) || offloads(one) || configures(one));
  if (found?.value === undefined || isTemplated(found.value.at)) return undefined;
  const effect = chooses(found)
    ? 'chooses GPUs, but the container requests none: it gets none, or uses'
    : turnsOn(found)
      ? 'turns the GPU on, but the container requests none: it fails, or uses the CPU or'
      : offloads(found)
        ? 'moves layers to a GPU, but the container requests none: the server runs on the CPU, or on'
        : configures(found)
          ? 'is for a GPU, but the container requests none: it gets none, or uses'
          : 'needs a GPU, but the container requests none: it fails, or uses';
  return { text: `${found.name}=${found.value.value}`, span: spanOf(found.value.at), effect };
}

/** What a service gives to the pods that it starts: `DEFAULT_ACCELERATOR`. */
const ofOthers = /^(?:DEFAULT|JOB|POD|NODE)_/;

/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
const layers = /^(?:\w+_)?N?_?GPU_LAYERS$/;

/** Whether a variable has no effect but on GPUs. */
function configures({ name, value }: Container['env'][number]): boolean {
  // Tdarr's `transcodegpuWorkers`: https://docs.tdarr.io/docs/installation/docker/run-compose
  if (/gpu_?workers$/i.test(name)) return /^[1-9]\d?$/.test(value?.value ?? '');
  return gpuSettings.has(name) && !/^(?:|none|false|0)$/.test(value?.value ?? '');
}

/**
 * https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html#driver-capabilities
 * https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf
 * https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
 */
const gpuSettings = wordSet('NVIDIA_DRIVER_CAPABILITIES PYTORCH_CUDA_ALLOC_CONF TF_FORCE_GPU_ALLOW_GROWTH');

/** The image of a program that trains, or of a notebook, if its publisher also has images for CPUs: PyTorch's own are all named after CUDA. */
function byImage(container: Container): GpuFlag | undefined {
  const { image } = container;
  if (image === undefined || isTemplated(image.at)) return undefined;
  const { repository } = imageParts(image.value);
  const { use } = useOf(container);
  const isNotebook = use === 'interactive' || (use === null && notebooks.test(repository));
  if (use !== 'training' && !isNotebook) return undefined;
  if (/(?:^|\/)pytorch\/pytorch$/.test(repository)) return undefined;
  if (gpuImage(container) === undefined && !forGpus.test(repository)) return undefined;
  const who = isNotebook ? 'notebook' : 'container that trains';
  const effect = `is built for GPUs, but the ${who} requests none: it uses the CPU or`;
  return { text: 'The image', span: spanOf(image.at), effect, isChoice: isNotebook };
}

const notebooks = /(?:^|[/_-])(?:jupyter(?:lab)?|notebook)(?:$|[_-])/;

/** Images without a build for CPUs: https://catalog.ngc.nvidia.com, https://hub.docker.com/r/unsloth/unsloth, https://docs.axolotl.ai/docs/docker.html */
const forGpus = either(
  /^nvcr\.io\/nvidia\/(?:pytorch|tensorflow|jax|nemo)$/,
  /(?:^|\/)(?:unsloth\/unsloth|axolotlai\/axolotl|winglian\/axolotl|deepspeed\/deepspeed)/,
);
