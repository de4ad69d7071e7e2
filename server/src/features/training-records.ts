import { gpus, usableCardGiB } from '../catalog/index.ts';
import { formatNumber } from '../cost/money.ts';
import { estimateTraining, type TrainingEstimate, trainingFit } from '../memory/training.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { type TrainingRun, trainingRun } from '../model/training-run.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import type { MemoryRecord } from './memory-records.ts';
import { gib, settingsWords, whyUnknown } from './training-words.ts';

/** The containers of a workload that train a named model, each with what one GPU needs or why that is unknown. */
export function trainingRecords(workload: Workload): readonly MemoryRecord[] {
  if (workload.role !== 'training') return [];
  return trainersOf(workload).flatMap(({ podSet, container }): MemoryRecord[] => {
    const { run, unknown } = trainingRun(container, workload);
    const common = { podSet: podSet.name, container: container.name, use: 'training', server: null } as const;
    if (run === null) {
      const why = whyUnknown(unknown);
      const model = 'name' in unknown && unknown.kind === 'noShape' ? unknown.name : '';
      const none = { needGiB: null, weightsGiB: null, kvCacheGiB: null, overheadGiB: null, haveGiB: null, fits: null };
      return why === undefined ? [] : [{ ...common, ...none, model, devices: null, unknown: why, assumptions: [] }];
    }
    const estimate = estimateTraining(run.shape, run.settings);
    const have = haveGiB(podSet, container);
    const fit = have === null ? 'unknown' : trainingFit(estimate, have);
    return [
      {
        ...common,
        model: run.name,
        ...sizes(estimate),
        kvCacheGiB: null,
        haveGiB: have === null ? null : rounded(have),
        fits: fit === 'unknown' ? null : fit === 'fits',
        devices: run.settings.devices,
        unknown: estimate.totalGiB === null ? openWords(estimate) : null,
        assumptions: assumptionsOf(run, estimate),
      },
    ];
  });
}

/** `trains in about 66 of 79 GiB per GPU`, for the first container whose card and need are known; empty if there is none. */
export function trainingNote(workload: Workload): readonly string[] {
  if (workload.role !== 'training') return [];
  for (const { podSet, container } of trainersOf(workload)) {
    const { run } = trainingRun(container, workload);
    const have = haveGiB(podSet, container);
    if (run === null || have === null) continue;
    const { totalGiB } = estimateTraining(run.shape, run.settings);
    if (totalGiB !== null)
      return [`trains in about ${formatNumber(Math.ceil(totalGiB))} of ${formatNumber(Math.round(have))} GiB per GPU`];
  }
  return [];
}

function sizes({ weightsGiB, fixedGiB, totalGiB }: TrainingEstimate) {
  return {
    needGiB: totalGiB === null ? null : rounded(totalGiB),
    weightsGiB: rounded(weightsGiB),
    overheadGiB: totalGiB === null ? null : rounded(totalGiB - fixedGiB),
  };
}

function openWords({ fixedGiB }: TrainingEstimate): string {
  return `batch size or sequence length unknown: at least ${gib(fixedGiB)} GiB, and activations`;
}

function assumptionsOf({ settings }: TrainingRun, { gradientsGiB, optimizerGiB }: TrainingEstimate): readonly string[] {
  return [
    settingsWords(settings),
    `Gradients ${gib(gradientsGiB)} GiB, optimizer states ${gib(optimizerGiB)} GiB; the overhead includes activations`,
  ];
}

/** The containers with devices, or all of a pod whose devices another object requests. */
function trainersOf({ podSets }: Workload): readonly { readonly podSet: PodSet; readonly container: Container }[] {
  return podSets.flatMap((podSet) => {
    if (podSet.accelerators.length === 0) return [];
    const apps = podSet.containers.filter(({ type }) => type === 'app');
    const holders = apps.filter(({ accelerators }) => accelerators.length > 0);
    return (holders.length > 0 ? holders : apps).map((container) => ({ podSet, container }));
  });
}

/** What a process sees on one GPU; null for parts of a GPU and unknown models. */
function haveGiB({ accelerators }: PodSet, container: Container): number | null {
  const [request] = container.accelerators;
  const [only] = accelerators;
  const device = request === undefined ? only : acceleratorByName(accelerators, request.resource);
  const gpu = gpus.get(device?.model ?? '');
  return gpu === undefined || device?.form !== 'whole' ? null : usableCardGiB(gpu);
}

function rounded(size: number): number {
  return Math.round(size * 100) / 100;
}
