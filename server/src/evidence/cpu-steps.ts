import { wordsOf } from '../command/name-words.ts';
import { programWords, recognizeProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** What a container does that needs no accelerator. */
export interface CpuStep {
  /** In words: `downloads files`. */
  readonly task: string;
  /** The command, as written. */
  readonly command: SimpleCommand;
  /** Such programs may also use an accelerator. */
  readonly maybe: boolean;
}

/** The step that is all that a container's command line does; undefined if it may do anything else. */
export function cpuStepOf(container: Container): CpuStep | undefined {
  const { command, args, env } = processInput(container);
  const line = readCommandLine(command, args, env);
  const commands = allCommands(line.statements).filter(({ words }) => words.length > 0);
  if (!line.complete || commands.some((one) => one.background || usesDevices(one))) return undefined;
  const steps = commands.map(stepOf);
  const all = commands.every((one, index) => steps[index] !== undefined || isAuxiliary(one));
  return all ? (steps.find((step) => step?.maybe) ?? steps.find((step) => step !== undefined)) : undefined;
}

/** Whether all that a container does is to fetch files. */
export function onlyFetches(container: Container): boolean {
  const step = cpuStepOf(container);
  return step !== undefined && step.task === downloads;
}

const downloads = 'downloads files';

/** Words on a command line that mention devices or formats of devices. */
function usesDevices({ words }: SimpleCommand): boolean {
  return words.some(({ text }) =>
    /cuda|gpu|(?:^|[-=])device|fp16|bf16|float16|tensorrt|trt|engine|quanti[sz]|nccl/i.test(text),
  );
}

function stepOf(command: SimpleCommand): CpuStep | undefined {
  const words = programWords(command);
  const name = baseName(words[0] ?? '');
  const program = recognizeProgram([command])?.program;
  if (fetchers.has(name) || program === 'huggingface-cli' || program === 'hf') {
    const uploads = words.some(
      (word, index) => word === 'upload' || (index > 2 && /^(?:s3|gs):/.test(words.at(-1) ?? '')),
    );
    return { task: uploads ? 'uploads files' : downloads, command, maybe: false };
  }
  const other = otherTask(words, name);
  if (other !== undefined) return { task: other, command, maybe: false };
  const interpreted = /^python[\d.]*$/.test(name) || /^(?:ba)?sh$/.test(name);
  // Installed programs may use a device to choose what to fetch.
  const script = interpreted ? scriptOf(words.slice(1)) : /\.(?:py|sh)$/.test(name) ? name : undefined;
  const found = script === undefined || script.length > 100 ? undefined : taskOf(wordsOf(script.replace(/\.\w+$/, '')));
  return found && { ...found, command };
}

/** Clients of servers and of schedulers, whose accelerators are in other pods. */
function otherTask(words: readonly string[], name: string): string | undefined {
  const line = words.slice(0, 4).join(' ');
  if (clients.has(name) || /^vllm bench serve\b|\bsglang\.bench_serving\b|\bbenchmark_serving\.py\b/.test(line))
    return 'sends requests';
  return name === 'kubectl' || name === 'argo' || /^ray job submit\b/.test(line) ? 'starts work elsewhere' : undefined;
}

const clients: ReadonlySet<string> = new Set([
  ...['locust', 'k6', 'wrk', 'hey', 'oha', 'ab', 'guidellm', 'genai-perf', 'perf_analyzer', 'inference-perf', 'aiperf'],
]);

/** The script or module that an interpreter runs. */
function scriptOf(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => !word.startsWith('-'));
  const script = words[at];
  return script === undefined || words[at - 1] === '-c'
    ? undefined
    : baseName(script.replaceAll('.', '/').replace(/\/(?=(?:py|sh)$)/, '.'));
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

/** The task that the words of a script's name describe. */
function taskOf(words: readonly string[]): Pick<CpuStep, 'task' | 'maybe'> | undefined {
  const has = (...some: readonly string[]) => some.some((word) => words.includes(word));
  const starts = (stem: RegExp) => words.some((word) => stem.test(word));
  if (
    has('train', 'training', 'serve', 'server', 'eval', 'evaluate', 'infer', 'inference', 'benchmark', 'test', 'onnx')
  )
    return undefined;
  if (has('download', 'downloader', 'prefetch')) return { task: downloads, maybe: false };
  if (starts(/^(?:pre)?tokeni[sz](?:e|es|ing|ation)$/)) return { task: 'tokenizes data', maybe: false };
  const data = has('data', 'dataset', 'datasets', 'corpus');
  if (starts(/^preprocess(?:es|ing)?$/) || (data && has('prepare', 'process', 'build', 'split', 'shard'))) {
    return { task: 'prepares data', maybe: false };
  }
  if (has('upload', 'uploader')) return { task: 'uploads files', maybe: false };
  const weights = has(...weightWords);
  const merges = starts(/^merg(?:e|es|ing)$/);
  if (starts(/^consolidat(?:e|es|ing|ion)$/)) return { task: 'converts a checkpoint', maybe: true };
  if (weights && (merges || starts(/^conver(?:t|ts|ter|ting|sion)$/)))
    return { task: merges ? 'merges weights' : 'converts a checkpoint', maybe: true };
  return undefined;
}

function isAuxiliary(command: SimpleCommand): boolean {
  return auxiliary.has(baseName(programWords(command)[0] ?? ''));
}

const fetchers: ReadonlySet<string> = new Set([
  ...[
    'wget',
    'curl',
    'aws',
    'gsutil',
    'gcloud',
    'azcopy',
    'rclone',
    's5cmd',
    'mc',
    'git',
    'git-lfs',
    'aria2c',
    'kaggle',
  ],
]);

/** Programs that accompany such a step. */
const auxiliary: ReadonlySet<string> = new Set([
  ...['', 'echo', 'printf', 'test', '[', '[[', 'mkdir', 'ls', 'rm', 'mv', 'cp', 'ln', 'cd', 'chmod', 'chown', 'date'],
  ...['set', 'export', 'md5sum', 'sha256sum', 'tar', 'unzip', 'gunzip', 'touch', 'cat', 'find', 'du', 'df', 'exit'],
  ...['true', ':', 'pip', 'pip3', 'apt-get', 'apt', 'apk', 'sleep', 'uv', 'source', '.', 'pwd', 'env', 'zcat', 'gzip'],
]);
