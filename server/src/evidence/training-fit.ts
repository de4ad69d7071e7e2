import { type GpuModel, gpus, usableCardGiB } from '../catalog/index.ts';
import { baseName } from '../command/shell.ts';
import { estimateTraining, type TrainingEstimate, trainingFit } from '../memory/training.ts';
import { type TrainingLever, trainingLevers } from '../memory/training-levers.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { type TrainingRun, trainingRun } from '../model/training-run.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { mayUseOtherGpus } from './gpu-assignment.ts';
import { isExempt } from './requested-accelerators.ts';
import { hasRole } from './role-confidence.ts';
import { hasRun } from './run-status.ts';

/** Training whose weights, gradients and optimizer states exceed the memory of a GPU by more than the error of the estimate. */
export interface TrainingMisfit {
  readonly run: TrainingRun;
  /** The least that the settings can mean. */
  readonly estimate: TrainingEstimate;
  readonly gpu: GpuModel;
  readonly haveGiB: number;
  /** Changes after which weights, gradients and optimizer states fit, the largest saving first. */
  readonly levers: readonly TrainingLever[];
}

/** Why a container's training cannot fit; undefined if it fits, or if that is unknown or too close to decide. */
export function trainingMisfitOf(container: Container, workload: Workload, podSet: PodSet): TrainingMisfit | undefined {
  if (workload.partial || isExempt(workload) || !hasRole(workload, 'training')) return undefined;
  if (!trainersIn(podSet).has(container)) return undefined;
  const memory = memoryOfGpu(podSet, container);
  if (memory === undefined || memory.isHint) return undefined;
  const { run } = trainingRun(container, workload);
  if (run === null || run.settings.offload !== 'nothing') return undefined;
  if (!statesMethod(run) || mayUseOtherGpus(container) || hasRun(workload.manifest)) return undefined;
  const { haveGiB, gpu } = memory;
  const { engine, precision } = run.settings;
  // Newer versions of Transformers keep weights in the published 16 bits.
  const isLess = precision === 'mixed' && (engine === 'torch' || engine === 'fsdp');
  // The reference model can be elsewhere, or its answers computed in advance.
  const { reference: _, ...own } = run.settings;
  const settings = isLess ? { ...own, precision: 'half' as const } : own;
  const estimate = estimateTraining(run.shape, settings);
  if (trainingFit(estimate, haveGiB) !== 'too-large') return undefined;
  const levers = trainingLevers(run.shape, settings, ({ fixedGiB }) => fixedGiB);
  return { run, estimate, gpu, haveGiB, levers: levers.filter(({ totalGiB }) => totalGiB < 0.8 * haveGiB) };
}

/** Whether settings decide what is trained and how: a script of one's own may freeze, quantize or shard weights in its code. */
function statesMethod({ written: { words, settings, unread }, settings: { engine, adapter } }: TrainingRun): boolean {
  if (unread.length > 0) return false;
  const names = words.flatMap(({ text }) => [baseName(text), text.split('.')[0] ?? '']);
  const runs = (program: RegExp) => names.some((name) => program.test(name));
  // The launcher's defaults are a file in the image, except those of Axolotl, which sets them by its own file.
  if (runs(/^accelerate$/) && !runs(/^axolotl$/) && engine === 'torch') return false;
  if (runs(/^(?:llamafactory-cli|swift)$/)) return settings.some(({ name }) => methodNames.test(name));
  if (runs(/^litgpt$/)) return adapter !== null || runs(/^(?:pretrain|finetune_full)$/);
  return (
    runs(/^(?:axolotl|trl|torchtitan|run_(?:clm|mlm|fim|plm|glue|qa|summarization|translation)\.py)$/) || isMegatron()
  );

  function isMegatron(): boolean {
    return engine === 'megatron' && runs(/^pretrain_(?:gpt|bert|t5|mamba)\.py$/);
  }
}

const methodNames = /^(?:finetuning-type|train-type|tuner-type)$/;

/** The containers with devices, or all of a pod whose devices another object requests. */
export function trainersOf({
  podSets,
}: Workload): readonly { readonly podSet: PodSet; readonly container: Container }[] {
  return podSets.flatMap((podSet) => [...trainersIn(podSet)].map((container) => ({ podSet, container })));
}

function trainersIn(podSet: PodSet): ReadonlySet<Container> {
  const known = trainers.get(podSet);
  if (known !== undefined) return known;
  const apps = podSet.accelerators.length === 0 ? [] : podSet.containers.filter(({ type }) => type === 'app');
  const holders = apps.filter(({ accelerators }) => accelerators.length > 0);
  const found = new Set(holders.length > 0 ? holders : apps);
  trainers.set(podSet, found);
  return found;
}

/** A rule asks for each container of the same pods. */
const trainers = new WeakMap<PodSet, ReadonlySet<Container>>();

/** What a process sees on one GPU; undefined for parts of a GPU and unknown models. */
export function memoryOfGpu({ accelerators }: PodSet, container: Container) {
  const [request] = container.accelerators;
  const [only] = accelerators;
  const device = request === undefined ? only : acceleratorByName(accelerators, request.resource);
  const gpu = gpus.get(device?.model ?? '');
  const haveGiB = gpu === undefined || device?.form !== 'whole' ? null : usableCardGiB(gpu);
  return gpu === undefined || haveGiB === null ? undefined : { gpu, haveGiB, isHint: device?.modelHint !== undefined };
}
