import { memoryOfGpu, trainersOf } from '../evidence/training-fit.ts';
import { estimateTraining, type TrainingEstimate, trainingFit } from '../memory/training.ts';
import { tunedPreset } from '../model/served-fields.ts';
import { type TrainingRun, trainingRun } from '../model/training-run.ts';
import type { Workload } from '../model/workload.ts';
import type { MemoryRecord } from './memory-records.ts';
import { gib, settingsWords, trainingFitWords, whyUnknown } from './training-words.ts';

/** The containers of a workload that train a named model, each with what one GPU needs or why that is unknown. */
export function trainingRecords(workload: Workload): readonly MemoryRecord[] {
  if (workload.role !== 'training') return [];
  const preset = tunedPreset(workload);
  const [podSet] = workload.podSets;
  if (preset !== undefined && podSet?.containers.length === 0)
    return [
      unknownRecord(
        podSet.name,
        podSet.name,
        preset,
        'KAITO chooses the batch size, the sequence length and the adapter',
      ),
    ];
  return trainersOf(workload).flatMap(({ podSet, container }): MemoryRecord[] => {
    const { run, unknown } = trainingRun(container, workload);
    const common = { podSet: podSet.name, container: container.name, use: 'training', server: null } as const;
    if (run === null) {
      const why = whyUnknown(unknown);
      const model = unknown.kind === 'noShape' ? unknown.name : 'known' in unknown ? (unknown.known?.name ?? '') : '';
      return why === undefined ? [] : [unknownRecord(podSet.name, container.name, model, why)];
    }
    const estimate = estimateTraining(run.shape, run.settings);
    const have = memoryOfGpu(podSet, container)?.haveGiB ?? null;
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

function unknownRecord(podSet: string, container: string, model: string, unknown: string): MemoryRecord {
  const none = { needGiB: null, weightsGiB: null, kvCacheGiB: null, overheadGiB: null, haveGiB: null, fits: null };
  return { podSet, container, use: 'training', server: null, ...none, model, devices: null, unknown, assumptions: [] };
}

/** `needs about 66 of 79.2 GiB per GPU`, for the first container whose card and need are known; otherwise empty. */
export function trainingNote(workload: Workload): readonly string[] {
  if (workload.role !== 'training') return [];
  for (const { podSet, container } of trainersOf(workload)) {
    const { run } = trainingRun(container, workload);
    const have = memoryOfGpu(podSet, container)?.haveGiB ?? null;
    if (run === null || have === null) continue;
    const estimate = estimateTraining(run.shape, run.settings);
    if (estimate.totalGiB !== null) return [trainingFitWords(estimate, estimate.totalGiB, have)];
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

function assumptionsOf(run: TrainingRun, { gradientsGiB, optimizerGiB }: TrainingEstimate): readonly string[] {
  return [
    settingsWords(run),
    `Gradients ${gib(gradientsGiB)} GiB, optimizer states ${gib(optimizerGiB)} GiB; the overhead includes activations`,
  ];
}

function rounded(size: number): number {
  return Math.round(size * 100) / 100;
}
