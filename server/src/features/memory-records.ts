import { containerMemory } from '../memory/container-memory.ts';
import type { StatedSizes } from '../model/model-params.ts';
import { fieldModel } from '../model/served-fields.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { assumptionsOf, fitWords, unknownWords } from './memory-words.ts';

/** What a container's model needs on each device, as reports have it; without a figure, the reason. GiB of one device. */
export interface MemoryRecord {
  readonly podSet: string;
  readonly container: string;
  readonly model: string;
  readonly use: 'serving' | 'training';
  readonly needGiB: number | null;
  readonly weightsGiB: number | null;
  readonly kvCacheGiB: number | null;
  readonly overheadGiB: number | null;
  readonly haveGiB: number | null;
  readonly fits: boolean | null;
  readonly devices: number | null;
  readonly server: string | null;
  readonly unknown: string | null;
  readonly assumptions: readonly string[];
}

/** The containers of a workload that serve a model, each with what it needs or why that is unknown. */
export function memoryRecords(workload: Workload, options: StatedSizes = {}): readonly MemoryRecord[] {
  return workload.podSets.flatMap((podSet) =>
    serversOf(workload, podSet).flatMap((container): readonly MemoryRecord[] => {
      const { estimate, unknown, fit } = memoryOf(workload, podSet, container, options);
      const { model: served } = servedModel(container, workload);
      const common = { podSet: podSet.name, container: container.name, use: 'serving' } as const;
      if (estimate === null) {
        const why = unknownWords(unknown);
        const none = {
          needGiB: null,
          weightsGiB: null,
          kvCacheGiB: null,
          overheadGiB: null,
          haveGiB: null,
          fits: null,
        };
        const server = served?.engine ?? null;
        return why === undefined
          ? []
          : [{ ...common, ...none, model: served?.name ?? '', devices: null, server, unknown: why, assumptions: [] }];
      }
      return [
        {
          ...common,
          model: estimate.served.name,
          needGiB: rounded(estimate.neededGiB),
          weightsGiB: rounded(estimate.weightsGiB),
          kvCacheGiB: rounded(estimate.cacheGiB),
          overheadGiB: rounded(estimate.overheadGiB),
          haveGiB: fit === null ? null : rounded(fit.haveGiB),
          fits: fit?.fits ?? null,
          devices: estimate.devices,
          server: estimate.served.engine,
          unknown: null,
          assumptions: assumptionsOf(estimate),
        },
      ];
    }),
  );
}

/** `fits in 16 of 22 GiB`, for the first model of a workload whose card is known; empty if there is none. */
export function memoryNote(workload: Workload, options: StatedSizes = {}): readonly string[] {
  for (const podSet of workload.podSets) {
    for (const container of serversOf(workload, podSet)) {
      const { estimate, fit } = memoryOf(workload, podSet, container, options);
      if (estimate !== null && fit !== null) return [fitWords(estimate, fit)];
    }
  }
  return [];
}

function memoryOf(workload: Workload, podSet: PodSet, container: Container, options: StatedSizes) {
  const [request] = container.accelerators;
  return containerMemory(workload, podSet, container, request, options);
}

/** The containers with devices; of pods that their kind describes by fields, one that stands for them. */
function serversOf(workload: Workload, podSet: PodSet): readonly Container[] {
  if (podSet.accelerators.length === 0) return [];
  const apps = podSet.containers.filter(({ type }) => type === 'app');
  const holders = apps.filter(({ accelerators }) => accelerators.length > 0);
  if (holders.length > 0) return holders;
  if (apps.length > 0) return apps;
  return fieldModel(undefined, workload) === undefined ? [] : [unwrittenContainer(podSet)];
}

function unwrittenContainer({ name, pod }: PodSet): Container {
  return {
    ...{ type: 'app', name, at: pod, image: undefined, command: [], args: [], env: [], resources: undefined },
    ...{ accelerators: [], volumeMounts: [], scripts: [] },
  };
}

function rounded(gib: number): number {
  return Math.round(gib * 100) / 100;
}
