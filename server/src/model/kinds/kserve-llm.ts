import type { Cursor, Located } from '../../yaml/cursor.ts';
import { asText, at, isTemplated } from '../../yaml/cursor.ts';
import { deviceOf } from '../claims.ts';
import { lookUp } from '../manifest.ts';
import { countOf, lowerCount } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import type { KindEntry, KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, fromPodSpec, times, untilStopped, written } from './pod-sets.ts';

/** KServe's definitions of runtimes, and its services of large models. https://github.com/kserve/kserve/tree/master/pkg/apis/serving */
export const kserveLlmKinds: readonly KindEntry[] = [
  {
    group: 'serving.kserve.io',
    kinds: ['ServingRuntime', 'ClusterServingRuntime'],
    role: 'definition',
    lower: ({ root }) => lowerRuntime(at(root, 'spec')),
  },
  { group: 'serving.kserve.io', kinds: ['LLMInferenceService'], role: 'serving', lower: lowerLlmService },
  { group: 'serving.kserve.io', kinds: ['LLMInferenceServiceConfig'], role: 'definition', lower: lowerLlmService },
];

function lowerRuntime(spec: Cursor | undefined): KindLowering {
  const podSets = [
    ...fromPodSpec('predictor', spec, exactly(null)),
    ...fromPodSpec('worker', at(spec, 'workerSpec'), exactly(null)),
  ];
  return { podSets, retries: null, scaling: null, partial: true };
}

/** What it leaves out comes from configs of the cluster, so it is always partial. */
function lowerLlmService({ root, annotations }: KindInput): KindLowering {
  const spec = at(root, 'spec');
  const claimed = annotatedClaim(annotations);
  const podSets = [...rolePods('decode', spec), ...rolePods('prefill', at(spec, 'prefill'))];
  const scheduler = at(spec, 'router', 'scheduler', 'template');
  return {
    podSets: [...podSets.map((set) => ({ ...set, claimed })), ...fromPodSpec('scheduler', scheduler, exactly(1))],
    retries: untilStopped,
    scaling: null,
    partial: true,
  };
}

/** One role: a head and, where there is a worker, a group of as many pods as its parallelism needs. */
function rolePods(name: string, role: Cursor | undefined): readonly PodSetSource[] {
  const groups = replicasOf(role);
  const heads = fromPodSpec(name, at(role, 'template'), groups, at(role, 'replicas'));
  const worker = at(role, 'worker');
  if (worker === undefined) return heads;
  const size = groupSize(at(role, 'parallelism'));
  const others = times(groups, size === null ? null : Math.max(size - (heads.length > 0 ? 1 : 0), 0));
  return [...heads, ...fromPodSpec(`${name} worker`, worker, others)];
}

/** `replicas`, or bounds under `scaling`; never both. */
function replicasOf(role: Cursor | undefined): PodCount {
  const scaling = at(role, 'scaling');
  if (scaling === undefined) return written(at(role, 'replicas'));
  const max = at(scaling, 'maxReplicas');
  return between(lowerCount(at(scaling, 'minReplicas'), 1), max === undefined ? null : lowerCount(max, 0));
}

/** Pods of one group: data ranks by those on one node, or the stages of the pipeline. */
function groupSize(parallelism: Cursor | undefined): number | null {
  const data = at(parallelism, 'data');
  const local = at(parallelism, 'dataLocal');
  if (data === undefined && local === undefined) return lowerCount(at(parallelism, 'pipeline'), 1);
  const ranks = lowerCount(data, 1);
  const each = lowerCount(local, 1);
  return ranks === null || each === null ? null : Math.max(Math.floor(ranks / Math.max(each, 1)), 1);
}

/** KServe makes a claim for the main container of every pod where annotations ask for one. */
function annotatedClaim(annotations: readonly Located<string>[]) {
  const deviceClass = lookUp(annotations, 'serving.kserve.io/exp-dra-device-class');
  if (deviceClass === undefined || isTemplated(deviceClass.at)) return [];
  const count = lookUp(annotations, 'serving.kserve.io/exp-dra-device-count');
  const selector = lookUp(annotations, 'serving.kserve.io/exp-dra-cel-selector');
  return deviceOf(
    deviceClass.value,
    count === undefined ? 1 : countOf(lowerQuantity(count.at)),
    selector === undefined ? [] : [asText(selector.at) ?? ''],
    deviceClass.at,
  );
}
