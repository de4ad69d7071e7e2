import { imageParts, isDistributedImage } from '../catalog/images.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { findWaiting } from '../command/waiting.ts';
import { imageUseOf, useOf } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { processInput } from './launch.ts';
import { isLanguageNim } from './listening-port.ts';
import { isNcclBenchmark } from './several-processes.ts';

// What suggests several processes per container if its launch is unknown.

/** The name of a job's container whose launch is unknown, if it or the job is named after training: several GPUs are for several processes. */
export function trainingName(container: Container, { role, roleConfidence, manifest }: Workload): string | undefined {
  const { image, command, args } = container;
  const isJob = (role === 'training' || role === 'batch') && roleConfidence !== 'guess';
  if (!isJob || image === undefined || isTemplated(image.at) || isNcclBenchmark(container)) return undefined;
  const { use } = useOf(container);
  const isKnown = (use !== null && use !== 'training') || findWaiting(processInput(container)) !== undefined;
  const lines = [...command, ...args].map(({ value }) => value);
  const { repository } = imageParts(image.value);
  const names = [
    container.name ?? '',
    manifest.name ?? '',
    repository.slice(repository.lastIndexOf('/') + 1),
    ...lines,
  ];
  const words = names.flatMap((text) =>
    text
      .slice(0, 500)
      .toLowerCase()
      .split(/[^a-z]+/),
  );
  // A script in a file may start any launcher; a program that is named starts one process.
  const isUnknown = lines.length === 0 || lines.some((line) => /\.sh(?:\s|$)/.test(line));
  const isOther =
    !isUnknown ||
    lines.some((line) => processCount.test(line) || /\.py\b|python|mpi/.test(line)) ||
    words.some((word) => otherWork.has(word));
  return isKnown || isOther || !words.some((word) => trainingWords.has(word)) ? undefined : 'training';
}

const processCount = /nproc|num_processes|num_gpus|\b(?:sshd|ray)\b/;
const trainingWords = wordSet('train trainer training pretrain pretraining finetune finetuning sft');
/** What jobs do before or after training, and what uses its GPUs in one process. */
const otherWork = wordSet('eval evaluate evaluation test check download convert merge export infer inference serve');

/** The image of a container whose launch is unknown, if its framework starts one process per GPU. */
export function distributedImage(container: Container): string | undefined {
  const { image, command, args } = container;
  if (image === undefined || isTemplated(image.at) || isNcclBenchmark(container)) return undefined;
  const { use } = useOf(container);
  const { repository } = imageParts(image.value);
  // A program that nothing is known of, in the image of a server whose shards are processes.
  const shards =
    (shardingServers.has(imageUseOf(container).program ?? '') && (use === null || startsItself(container))) ||
    (startsItself(container) && isShardedNim(image.value));
  const isKnown = (use !== null && use !== 'training' && !shards) || findWaiting(processInput(container)) !== undefined;
  const one = [...command, ...args].some(({ value }) => processCount.test(value));
  return isKnown || one || !(isDistributedImage(repository) || shards)
    ? undefined
    : shorten(repository.slice(repository.lastIndexOf('/') + 1), 40);
}

/** Whether an image of someone's own starts the server, with flags that only its entrypoint knows. */
function startsItself({ image, command, args }: Container): boolean {
  const isPublished = /^(?:docker\.io\/)?(?:vllm|lmsysorg|openmmlab)\//.test(image?.value ?? '');
  return command.length === 0 && args.length === 0 && !isPublished;
}

/** Whether an image is NIM with a language model, which it splits over all GPUs of the container. Those that embed and rank run copies. */
function isShardedNim(image: string): boolean {
  return isLanguageNim(image) && !/embed|rerank|rank-?qa/.test(image);
}

const shardingServers: ReadonlySet<string> = new Set(['vllm', 'sglang', 'text-generation-launcher', 'lmdeploy']);
