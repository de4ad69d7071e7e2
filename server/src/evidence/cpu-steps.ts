import { imageParts } from '../catalog/images.ts';
import { either, oneOf, partOf, wordSet } from '../catalog/word-patterns.ts';
import { chosenTask } from '../command/chosen-task.ts';
import { endsByItself, pythonCode } from '../command/inline-python.ts';
import { wordsOf } from '../command/name-words.ts';
import { plainService } from '../command/plain-services.ts';
import { programWords, recognizeProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { isViewer } from '../command/viewers.ts';
import { processInput, useOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';

/** What a container does that needs no accelerator. */
export interface CpuStep {
  /** In words: `downloads files`. */
  readonly task: string;
  /** The words that say so: a command or names, as written. */
  readonly by: readonly string[];
  /** Such programs may also use an accelerator, or only names say what it does. */
  readonly maybe: boolean;
}

/** The step that is all that a container's command line does; undefined if it may do anything else. */
export function cpuStepOf(container: Container): CpuStep | undefined {
  const commands = commandsOf(container);
  if (commands === undefined || commands.some((one) => one.background || usesDevices(one))) return undefined;
  const steps = commands.map(stepOf);
  const all = commands.every((one, index) => steps[index] !== undefined || isAuxiliary(one));
  if (!all) return undefined;
  const isWhole = steps.some((step) => step !== undefined);
  return isWhole
    ? (steps.find((step) => step?.maybe) ?? steps.find((step) => step !== undefined))
    : (copyOf(commands) ?? installOf(commands));
}

/** The copy of files that is all that commands do. */
function copyOf(commands: readonly SimpleCommand[]): CpuStep | undefined {
  const copy = commands.find((one) => /^(?:cp|mv)$/.test(baseName(programWords(one)[0] ?? '')));
  return copy && { task: 'copies files', by: copy.words.map(({ text }) => text), maybe: false };
}

/** The installation of packages that is all that commands do. Some builds look for a device. */
function installOf(commands: readonly SimpleCommand[]): CpuStep | undefined {
  const install = commands.find((one) => installs.test(programWords(one).join(' ')));
  return install && { task: 'installs packages', by: install.words.map(({ text }) => text), maybe: true };
}

const installs =
  /^(?:\S*\/)?(?:(?:conda|mamba|micromamba) (?:env )?(?:create|install|update)|pip3? install|uv sync)(?: |$)/;

/**
 * The step that a container does by its names, if its command says nothing else: at least two of the names of the container, its workload and its
 * image say the same, and none says anything that may need a device.
 */
export function cpuStepByName(container: Container, podSet: PodSet, workload: Workload): CpuStep | undefined {
  const commands = commandsOf(container);
  const { use } = useOf(container);
  if (commands === undefined || (use !== null && use !== 'batch') || commands.some(usesDevices)) return undefined;
  const { repository } = imageParts(container.image?.value ?? '');
  // The name of a pipeline is that of all its steps.
  const object = workload.podSets.length > 1 ? podSet.name : (workload.name ?? '');
  const names = [container.name ?? '', object, baseName(repository)];
  if (names.some((name) => mentionsDevices(name) || wordsOf(name).some((word) => otherWork.has(word))))
    return undefined;
  const tasks = names.map((name) => taskOf(wordsOf(name))?.task);
  const task = tasks.find((one) => one !== undefined);
  const by = names.filter((_, index) => tasks[index] !== undefined);
  const isAgreed = tasks.every((one) => one === undefined || one === task);
  return task !== undefined && by.length > 1 && isAgreed ? { task, by: [...new Set(by)], maybe: true } : undefined;
}

function commandsOf(container: Container): readonly SimpleCommand[] | undefined {
  const { command, args, env } = processInput(container);
  const entrypoint = command.length === 0 ? entrypointOf(container, args) : [];
  const line = readCommandLine(entrypoint.length > 0 ? entrypoint : command, args, env);
  return line.complete ? allCommands(line.statements).filter(({ words }) => words.length > 0) : undefined;
}

/** The program that an image of one tool runs with the arguments: that of its name (`curlimages/curl`, `amazon/aws-cli`). */
function entrypointOf({ image }: Container, args: readonly string[]): readonly string[] {
  if (image === undefined || isTemplated(image.at) || args.length === 0) return [];
  const { repository } = imageParts(image.value);
  const program = baseName(repository).replace(/-cli$/, '');
  const isTool = fetchers.has(program) || clients.has(program) || program === 'kubectl';
  return isTool && args[0] !== program && !/^\/|\.sh$/.test(args[0] ?? '') ? [program] : [];
}

/** Whether all that a container does is to fetch files. */
export function onlyFetches(container: Container): boolean {
  const step = cpuStepOf(container);
  return step !== undefined && step.task === downloads;
}

/** The commands of a container that only fetches files. */
export function fetchCommands(container: Container): readonly SimpleCommand[] {
  return onlyFetches(container) ? (commandsOf(container) ?? []) : [];
}

/** Whether the image has the program, so that the first word is not of the text. */
export function startsEntrypoint(container: Container): boolean {
  return container.command.length === 0 && entrypointOf(container, processInput(container).args).length > 0;
}

const downloads = 'downloads files';

/** Words on a command line, in lower case, that mention devices, formats of devices, or FFmpeg's and other libraries that work on them. */
const deviceWords = new RegExp(
  oneOf(
    'cuda gpu (?:^|[-=])device nccl fp16 bf16 float16 quanti[sz] tensorrt trt engine(?!er)',
    'nvenc nvdec cuvid hwaccel hwdevice hwupload qsv vaapi vulkan opencl npp placebo amf dnn whisper',
    'rapids cudf dali\\b curator isaac headless',
  ),
);

const mentionsDevices = (text: string): boolean => deviceWords.test(text.toLowerCase());

function usesDevices({ words, heredoc }: SimpleCommand): boolean {
  return words.some(({ text }) => mentionsDevices(text)) || mentionsDevices(heredoc?.text ?? '');
}

function stepOf(command: SimpleCommand): CpuStep | undefined {
  const words = programWords(command);
  const name = baseName(words[0] ?? '');
  const by = command.words.map(({ text }) => text);
  const program = recognizeProgram([command])?.program;
  if (name === 'curl' && words.some((word) => /^(?:-X(?:POST|PUT)?|--request|-d|--data(?:-\w+)?|--json)$/.test(word)))
    return { task: 'sends requests', by, maybe: false };
  if (fetchers.has(name) || program === 'huggingface-cli' || program === 'hf') {
    const uploads = words.some(
      (word, index) => word === 'upload' || (index > 2 && /^(?:s3|gs):/.test(words.at(-1) ?? '')),
    );
    return { task: uploads ? 'uploads files' : downloads, by, maybe: false };
  }
  if (isViewer(words)) return { task: words[2] === 'http.server' ? 'serves files' : 'shows results', by, maybe: false };
  if (unpackers.has(name)) return { task: 'unpacks files', by, maybe: false };
  const other = otherTask(words, name);
  if (other !== undefined) return { task: other, by, maybe: false };
  const service = plainService(words);
  if (service !== undefined) return { ...service, by };
  const code = pythonCode(command);
  if (code !== undefined) return onlyDownloads(code) ? { task: downloads, by, maybe: false } : undefined;
  const interpreted = /^(?:python[\d.]*|(?:ba|da|z)?sh|Rscript|julia|node|make|just|papermill)$/.test(name);
  // Installed programs may use a device to choose what to fetch.
  const script = interpreted ? scriptOf(words.slice(1)) : extension.test(name) ? words[0] : undefined;
  if (script === undefined || script.length > 200) return undefined;
  const parts = script.replace(extension, '').split(/[/.:]+/);
  // A folder or a package often names the step of a script such as main.py.
  const named = parts.slice(-2).flatMap(wordsOf);
  const next = words.slice(words.indexOf(script) + 1);
  const task = chosenTask(next) ?? '';
  const byName = taskOf(wordsOf(parts.at(-1) ?? '')) ?? taskOf(named);
  const found = byName ?? taskOf([...named, ...wordsOf(task)]);
  // After `--stage`, others may follow.
  const isChosen = byName === undefined && task !== next[0];
  const readsModel = words.some((word) => modelFlag.test(word));
  // Words alone do not say that nothing computes, if a flag names a model.
  if ((found?.maybe === true && readsModel) || (isChosen && words.some((word) => anyModelFlag.test(word))))
    return undefined;
  // A model may filter or write the data.
  const isData = found?.task === 'prepares data' || found?.task === 'collects data';
  const maybe = found?.maybe === true || isChosen || (isData && words.some((word) => /^--?model/.test(word)));
  return found && { ...found, by, maybe };
}

const modelFlag = /^--?(?:model|detector|weights|checkpoint|ckpt|llm)(?![a-z])/;
/** Also that of a part of the program: `--embedding_model`. */
const anyModelFlag = new RegExp(`^--?(?:[a-z]+[-_])?(?:${oneOf('model weights llm encoder embedder vae')})(?![a-z])`);

/** Whether Python code only fetches files from a hub. */
function onlyDownloads(code: string): boolean {
  const fetches = /\b(?:snapshot_download|hf_hub_download|urlretrieve|load_dataset)\s*\(/;
  return fetches.test(code) && !computes.test(code) && endsByItself(code);
}

const computes = partOf(
  'cuda gpu \\.to\\( model\\(',
  'train \\.fit\\( generate pipeline encode predict',
  'subprocess os\\.system',
);

/** Clients of servers and of schedulers, whose accelerators are in other pods. */
function otherTask(words: readonly string[], name: string): string | undefined {
  const line = words.slice(0, 4).join(' ');
  if (clients.has(name) || /^vllm bench serve\b|\bsglang\.bench_serving\b|\bbenchmark_serving\.py\b/.test(line))
    return 'sends requests';
  // A variable may name a codec or a filter of the GPU.
  if (isOfDatabase.test(line)) return 'runs database commands';
  if (/^(?:python[\d.]* -m )?celery\b.*\s(?:beat|flower)(?:\s|$)/.test(words.slice(0, 10).join(' ')))
    return 'schedules or shows tasks';
  if (name === 'ffmpeg' && words.includes('-i') && !words.some((word) => word.includes('$')))
    return 'converts media on the CPU';
  return name === 'kubectl' || name === 'argo' || /^ray job submit\b/.test(line) ? 'starts work elsewhere' : undefined;
}

const isOfDatabase = either(
  /^(?:alembic|flask db|prisma migrate|flyway|liquibase|rails db:\w+)(?:\s|$)/,
  /(?:^|[\s/])manage\.py (?:migrate|makemigrations|collectstatic|createsuperuser|loaddata)(?:\s|$)/,
);

const unpackers = wordSet('tar unzip unrar gunzip gzip unxz unzstd zstd 7z pigz');
const clients = wordSet('locust k6 wrk hey oha ab guidellm genai-perf perf_analyzer inference-perf aiperf');
const extension = /\.(?:py|sh|bash|r|jl|m?js|ipynb)$/i;

/** The script or module that an interpreter runs. */
function scriptOf(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => !word.startsWith('-'));
  const script = words[at];
  return words[at - 1] === '-c' ? undefined : script;
}

/** Words for the weights of a model in the names of scripts. */
const weightWords: readonly string[] = [
  ...[
    'checkpoint',
    'checkpoints',
    'ckpt',
    'weights',
    'hf',
    'huggingface',
    'lora',
    'adapter',
    'peft',
    'safetensors',
    'gguf',
  ],
];

/** Words for work that may need a device, or that say the opposite. */
const otherWork = wordSet(
  'train trainer training finetune serve server serving api eval evaluate infer inference predict generate',
  'benchmark bench test onnx embed embedding embeddings transcribe encode caption no skip worker notebook jupyter',
  'demo ui predictions synthetic synth augment augmented rollout rollouts distill distillation preference label annotate',
  'llm llms vlm clip sam bert latent latents vae codec encodec vqvae',
);

/** Data that is often prepared on devices. */
const mediaWords = /^(?:images?|videos?|audio|frames?|features?|latents?|speech)$/;

/** Stems of verbs for what is done to data before training. */
const preparing = wordSet(
  'prep prepar process build split shard clean dedup filter extract',
  'get write writ convert pack shuffl scrap crawl pull sync',
);

/** Verbs for what a model may also do. */
const generating = wordSet('make mak create creat collect');

/** Data, its formats, and what is derived from it. */
const dataWords = wordSet(
  'data dataset datasets corpus corpora tfrecord tfrecords webdataset webdatasets parquet jsonl mds lmdb vocab vocabulary',
);

/** Formats of files with prepared data. */
const fileFormats = ['tfrecord', 'tfrecords', 'parquet', 'arrow', 'csv', 'jsonl', 'lmdb', 'hdf5', 'shards', 'splits'];

/** Verbs for what makes a data set from other files. */
const making = [
  ...['make', 'create', 'write', 'pack', 'convert', 'get', 'gather', 'collect', 'ingest', 'to', 'merge', 'generate'],
];
const drawing = ['plot', 'plots', 'plotting', 'charts'];

/** Features of tables, unlike those that a model extracts. */
function isEngineering(words: readonly string[]): boolean {
  const isFeature = words.some((word) => /^features?$/.test(word));
  return (
    isFeature && words.some((word) => /^(?:engineer|engineering|build|builder|store|select|selection)$/.test(word))
  );
}

/** The task that the words of a script's name describe. */
function taskOf(written: readonly string[]): Pick<CpuStep, 'task' | 'maybe'> | undefined {
  // `preprocessing2.py`, but also `hdf5`.
  const words = [...new Set([...written, ...written.map((word) => word.replace(/\d+$/, ''))])];
  const has = (...some: readonly string[]) => some.some((word) => words.includes(word));
  const starts = (stem: RegExp) => words.some((word) => stem.test(word));
  const isFile = has(...fileFormats);
  if (
    has('split', 'splits', 'splitting') &&
    has('train', 'data', 'dataset') &&
    has('test', 'val', 'valid', 'validation')
  )
    return { task: 'prepares data', maybe: false };
  if (words.some((word) => otherWork.has(word) && !((isFile || has('report')) && word === 'generate')))
    return undefined;
  // Words may be joined: `datadownload`, `downloadmodels`.
  if (starts(/download(?:s|er|ers|ing|models?|data|weights)?$|^(?:pre)?fetch\w{0,3}$/)) {
    return { task: downloads, maybe: false };
  }
  if (starts(/tokeni[sz](?:e|es|ing|ation)$/)) return { task: 'tokenizes data', maybe: false };
  const data = has(...dataWords);
  const does = (verbs: ReadonlySet<string>) =>
    words.some((word) => verbs.has(word) || verbs.has(word.replace(/(?:e|es|er|s|ing|lication|ation)$/, '')));
  const prepares = does(preparing);
  const generates = !prepares && data && does(generating);
  if (
    starts(/preproc(?:ess|esses|essing|essor)?$|^dataprep(?:aration)?$|^etl$/) ||
    (data && (prepares || generates) && !starts(mediaWords))
  ) {
    return { task: 'prepares data', maybe: generates };
  }
  if (starts(/^(?:crawl|scrap)(?:e|es|er|ing)?$/)) return { task: 'collects data', maybe: false };
  // A library for data frames may use a device, and a program that makes data a model.
  if (isEngineering(words) || ((data || has(...fileFormats)) && has(...making) && !starts(mediaWords)))
    return { task: 'prepares data', maybe: true };
  // Such tools decode and scale on the CPU unless a flag says otherwise.
  if (starts(/^(?:resiz|rescal|crop|thumbnail)(?:e|es|er|ing|s|per|ping)?$/) && starts(mediaWords))
    return { task: 'prepares data', maybe: true };
  if (has('frame', 'frames') && starts(/^extract(?:s|or|ing|ion)?$/)) return { task: 'prepares data', maybe: true };
  if (has('aggregate', 'collect', 'summarize', 'summarise') && has('results', 'metrics', 'logs', 'stats'))
    return { task: 'writes a report', maybe: true };
  if (has(...drawing) && !starts(mediaWords)) return { task: 'draws charts', maybe: true };
  if (has('report', 'reports') && has('make', 'create', 'write', 'build', 'render', 'generate'))
    return { task: 'writes a report', maybe: true };
  if (has('model') && has('register', 'publish', 'push')) return { task: 'uploads files', maybe: false };
  if (starts(/^upload(?:s|er|ing)?$/)) return { task: 'uploads files', maybe: false };
  const weights = has(...weightWords);
  const merges = starts(/^merg(?:e|es|ing)$/);
  if (starts(/^consolidat(?:e|es|ing|ion)$/)) return { task: 'converts a checkpoint', maybe: true };
  if (weights && (merges || starts(/^conver(?:t|ts|ter|ting|sion)$/)))
    return { task: merges ? 'merges weights' : 'converts a checkpoint', maybe: true };
  return undefined;
}

function isAuxiliary(command: SimpleCommand): boolean {
  const words = programWords(command);
  return auxiliary.has(baseName(words[0] ?? '')) || ofConda.test(words.join(' '));
}

const ofConda =
  /^(?:\S*\/)?(?:conda|mamba|micromamba) (?:(?:env )?(?:create|install|update)|activate|init|clean)(?: |$)/;

const fetchers = wordSet(
  'wget curl aws gsutil gcloud azcopy rclone s5cmd mc git git-lfs aria2c kaggle s3cmd rsync gdown dvc oras',
  'modelscope',
);

/** Programs that accompany such a step. */
const auxiliary = wordSet(
  // An assignment has no program.
  '',
  'echo printf test [ [[ mkdir ls rm mv cp ln cd chmod chown date',
  'set export md5sum sha256sum touch cat find du df exit',
  'wc sort uniq head grep sed awk',
  'true : pip pip3 apt-get apt apk sleep uv source . pwd env zcat',
);
