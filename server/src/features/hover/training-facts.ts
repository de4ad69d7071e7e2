import { gpus, providerName, usableCardGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { secondsToWrite } from '../../cost/interruption-cost.ts';
import { formatAmount, formatDuration, formatGiB, formatNumber, plural } from '../../cost/money.ts';
import type { CostResult } from '../../cost/types.ts';
import { trainingGpuHours } from '../../memory/speed.ts';
import { checkpointGiB, estimateTraining, type TrainingEstimate, trainingFit } from '../../memory/training.ts';
import { type TrainingLever, trainingLevers } from '../../memory/training-levers.ts';
import { grantedSeconds, platformOf } from '../../model/platform.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { type TrainingRun, trainingRun } from '../../model/training-run.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import { shorten } from '../../yaml/shorten.ts';
import { gib, settingsWords, tenth, trainingFitWords, whyUnknown } from '../training-words.ts';
import { sourceName } from './gpu-words.ts';
import type { MemoryFacts } from './memory-facts.ts';
import type { Block } from './render.ts';

/** The memory that a container's training takes on each GPU, what takes less, and how long the run takes at best; empty if it does not train. */
export function trainingFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  result: CostResult,
  config: ProjectConfig,
): MemoryFacts {
  const { run, unknown } = trainingRun(container, workload);
  if (run === null) {
    const why = whyUnknown(unknown);
    return { total: why === undefined ? [] : [text(`Training memory unknown: ${why}.`)], basis: [] };
  }
  const { name, shape, settings } = run;
  const estimate = estimateTraining(shape, settings);
  // Everything that is certain is on the host.
  if (estimate.totalGiB === null && estimate.fixedGiB < 1)
    return { total: [text('Training memory unknown: no batch size or sequence length is set.')], basis: [] };
  const gpu = gpus.get(acceleratorByName(podSet.accelerators, request.resource)?.model ?? '');
  const memory = gpu === undefined || request.form !== 'whole' ? null : usableCardGiB(gpu);
  const isPart = estimate.totalGiB === null;
  const levers = trainingLevers(shape, settings, (one) => (isPart ? one.fixedGiB : one.totalGiB)).map(leverWords);
  const hours = gpu === undefined ? undefined : hoursWords(run, gpu, result, config);
  const total: Block[] = [
    text(`${shorten(name)} ${estimateWords(estimate, memory)}`),
    ...(levers.length === 0
      ? []
      : [
          {
            kind: 'list',
            title: `Less memory per GPU${isPart ? ', without activations' : ''}`,
            items: levers,
          } as const,
        ]),
    ...(hours === undefined ? [] : [text(hours)]),
    ...checkpointWords(run, podSet, config).map(text),
  ];
  return {
    total,
    basis: [
      `${settingsWords(run)}; shape from ${sourceName(shape.source)}`,
      'Published peaks of similar runs differ from the estimate by 10% (median) and by up to 80%',
    ],
  };
}

function text(words: string): Block {
  return { kind: 'text', text: words };
}

/** `needs about 61 of 79.2 GiB per GPU: weights 15, gradients 15, …`. */
function estimateWords(estimate: TrainingEstimate, memory: number | null): string {
  const { weightsGiB, gradientsGiB, optimizerGiB, activationsGiB, totalGiB, fixedGiB } = estimate;
  const of = memory === null ? '' : ` of ${formatGiB(memory)}`;
  const which = memory === null ? '' : `, but each has ${formatGiB(memory)} GiB`;
  const parts = [
    ['weights', weightsGiB],
    ['gradients', gradientsGiB],
    ['optimizer', optimizerGiB],
    ['activations', activationsGiB ?? 0],
    ['buffers and runtime', totalGiB === null ? 0 : totalGiB - fixedGiB - (activationsGiB ?? 0)],
  ] as const;
  const list = parts.flatMap(([part, size]) => (size < 0.05 ? [] : `${part} ${gib(size)}`)).join(', ');
  const fit = memory === null ? 'unknown' : trainingFit(estimate, memory);
  if (fit === 'too-large')
    return `does not fit: training needs at least ${gib(fixedGiB)} GiB per GPU${which} (${list})`;
  if (totalGiB === null)
    return `needs at least ${gib(fixedGiB)}${of} GiB per GPU, and activations: ${list} (batch size or sequence length unknown)`;
  return `${memory === null ? `needs about ${gib(totalGiB)} GiB per GPU` : trainingFitWords(estimate, totalGiB, memory)}: ${list}`;
}

const leverNames = {
  recompute: 'Gradient checkpointing',
  shard: 'Sharded weights (FSDP or ZeRO 3)',
  'small-states': '8-bit optimizer states',
  lora: 'LoRA of rank 16 instead of full fine-tuning',
  qlora: 'QLoRA: LoRA on 4-bit weights',
  quantize: 'Base model in 4 bits (QLoRA)',
  batch: 'Batch size 1 per GPU',
} as const satisfies { readonly [kind in TrainingLever['kind']]: string };

function leverWords({ kind, savesGiB, totalGiB }: TrainingLever): string {
  return `${leverNames[kind]}: ${gib(savesGiB)} GiB less, about ${gib(totalGiB)} GiB`;
}

/** The least time of the run, from its steps. */
function hoursWords(
  { shape, settings, steps, accumulation, globalBatch }: TrainingRun,
  gpu: Parameters<typeof trainingGpuHours>[0],
  { cost }: CostResult,
  { training, origins }: ProjectConfig,
): string | undefined {
  const { batch, sequence, devices, tensor, pipeline, context, adapter } = settings;
  const replicas = devices / tensor / pipeline / context;
  const sequences = globalBatch ?? (batch === null ? null : batch * replicas * (accumulation ?? 1));
  if (steps === null || sequence === null || sequences === null) return undefined;
  const tokens = steps * sequences * sequence;
  const mfu = training.mfu ?? 0.5;
  const hours = trainingGpuHours(gpu, shape, tokens, mfu, adapter !== null);
  if (hours === null) return undefined;
  const amount = cost === null ? '' : `, ${formatAmount((cost.hourly.max / devices) * hours)}`;
  const from = origins?.['training.mfu'] ?? 'default';
  const length = formatDuration((hours / devices) * 3600);
  return `${formatNumber(steps)} steps of ${formatNumber(sequences * sequence)} tokens: ${plural(Math.ceil(hours), 'GPU-hour')}${amount}, ${length} at ${Math.round(mfu * 100)}% of peak speed (training.mfu, ${from})`;
}

/** The size of a checkpoint, and the speed that the notice of a spot node demands. */
function checkpointWords({ shape, settings }: TrainingRun, podSet: PodSet, config: ProjectConfig): readonly string[] {
  const size = checkpointGiB(shape, settings);
  const platform = podSet.placement.capacity === 'spot' ? platformOf(podSet, config) : undefined;
  const notice = platform && grantedSeconds(platform);
  const seconds = secondsToWrite(config.training, size);
  const writing = seconds === null ? '' : `, written in ${formatDuration(seconds)}`;
  const words = `A checkpoint with optimizer states is about ${gib(size)} GiB${writing}`;
  if (platform === undefined || notice === undefined) return [words];
  const provider = providerName(platform.facts.provider ?? '');
  const enough =
    seconds === null
      ? `is enough at ${tenth(size / notice)} GiB/s or more`
      : notice < seconds
        ? 'is too short'
        : 'is enough';
  return [`${words}: the ${notice} s notice of ${provider} spot nodes ${enough}`];
}
