import { tpuSlice } from '../cost/tpu-slices.ts';
import { topologyLabel } from '../model/placement.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, isIncomplete, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

/** The fewest chips of a node in a slice of several nodes. */
const chipsOfHost = 4;

/** What a Job on several TPU nodes lacks. */
export interface LackingPeers {
  readonly lacks: string;
  readonly span: Span;
}

/**
 * What keeps GKE from telling the pods of a Job on one TPU slice of each other: it sets their hostnames and indexes only in Indexed Jobs with a
 * subdomain. https://cloud.google.com/kubernetes-engine/docs/how-to/tpus#tpu-multi-host
 */
export function lackingPeers(podSet: PodSet, workload: Workload): LackingPeers | undefined {
  const { kind, apiVersion, manifest, partial } = workload;
  const spec = getIn(manifest.root, 'spec');
  if (partial || kind !== 'Job' || apiVersion !== 'batch/v1' || isIncomplete(spec) || isIncomplete(podSet.pod))
    return undefined;
  const perPod = acceleratorByName(podSet.accelerators, 'google.com/tpu')?.perPod ?? null;
  const topology = podSet.selectors.find(({ key }) => key === topologyLabel)?.values[0];
  const slice = tpuSlice(podSet);
  const pods = podSet.pods.min ?? 0;
  if (slice === undefined || topology === undefined || perPod === null || pods < 2 || slice.chips <= perPod)
    return undefined;
  if (podSet.containers.some(({ env }) => env.some(({ name }) => name.startsWith('TPU_')))) return undefined;
  // Pods with single chips share a node, and those of a queue of tasks do not meet.
  const completions = getIn(spec, 'completions');
  const isQueue = completions !== undefined && asText(completions) !== String(pods);
  if (perPod < chipsOfHost || isQueue || (pods * perPod) % slice.chips !== 0) return undefined;
  const mode = getIn(spec, 'completionMode');
  const isIndexed = (mode === undefined ? 'NonIndexed' : asText(mode)) !== 'NonIndexed';
  const lacks = [
    ...(isIndexed ? [] : ['completionMode Indexed']),
    ...(getIn(podSet.pod, 'subdomain') === undefined ? ['a subdomain'] : []),
  ];
  return lacks.length === 0 ? undefined : { lacks: lacks.join(' and '), span: spanOf(topology.at) };
}
