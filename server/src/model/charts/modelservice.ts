import { asBoolean, asText, type Cursor, getIn, isTemplated, items, type Located } from '../../yaml/cursor.ts';
import { product } from '../count.ts';
import type { PodCount, PodSetSource } from '../kinds/kind.ts';
import { exactly, times } from '../kinds/pod-sets.ts';
import { lowerContainers, lowerCount, text } from '../pod.ts';
import { firstOf, isMap, podSetOf, unwritten } from '../values-parts.ts';
import type { AcceleratorRequest, Container } from '../workload.ts';
import type { Chart, ChartBlock } from './chart.ts';

/** The chart of llm-d's model servers. */
export const modelserviceChart: Chart = {
  names: ['llm-d-modelservice'],
  source: 'https://github.com/llm-d-incubation/llm-d-modelservice/tree/main/charts/llm-d-modelservice/templates',
  date: '2026-11-30',
  owns: (values) => isMap(getIn(values, 'modelArtifacts')) && isMap(firstOf(values, ['decode', 'prefill'])),
  blocks: (values) => ['decode', 'prefill'].flatMap((role) => serversOf(values, role)),
};

/** The template requests tensor × local data parallelism in each container, unless its `limits` have their own number. */
function serversOf(values: Cursor, role: string): readonly ChartBlock[] {
  const block = getIn(values, role);
  if (block?.node.kind !== 'map') return [];
  const sizes = getIn(block, 'parallelism');
  const resource = acceleratorOf(getIn(values, 'accelerator'));
  const count = product(lowerCount(getIn(sizes, 'tensor'), 1), localData(sizes));
  const containers = lowerContainers(block).map((written) => {
    const container = withModel(written, getIn(values, 'modelArtifacts'), sizes);
    const isSimulator = container.image?.value.includes('llm-d-inference-sim') === true;
    if (container.type !== 'app' || isSimulator || resource === undefined) return container;
    return { ...container, accelerators: completed(container.accelerators, resource, count) };
  });
  const multinode = asBoolean(getIn(values, 'multinode')) === true;
  const pods = times(replicasOf(block, role), multinode ? workers(sizes) : 1);
  const podSet = { ...podSetOf(block, containers), ...nodesOf(block), name: role, pods };
  return [{ root: block, podSet, role: 'serving' }];
}

/** What the template adds to the written requests: its own, or the limit that one lacks. */
function completed(
  written: readonly AcceleratorRequest[],
  resource: string,
  count: number | null,
): readonly AcceleratorRequest[] {
  if (written.length === 0) return [unwritten(resource, count)];
  return written.map((one) =>
    one.resource === resource && one.limit === undefined ? unwritten(resource, count) : one,
  );
}

/** A container with the command line and the volume for the model that its `modelCommand` and `mountModelVolume` turn on. */
function withModel(container: Container, artifacts: Cursor | undefined, sizes: Cursor | undefined): Container {
  const [uri, start] = [getIn(artifacts, 'uri'), asText(getIn(container.at, 'modelCommand'))];
  const [protocol = '', address = ''] = (isTemplated(uri) ? '' : (asText(uri) ?? '')).split('://', 2);
  const size = getIn(artifacts, 'size');
  const isMounted = protocol === 'hf' && asBoolean(getIn(container.at, 'mountModelVolume')) === true;
  const stored = isMounted && size !== undefined ? { ...container, modelStorage: size } : container;
  const model = modelAt(protocol, address, artifacts);
  if (uri === undefined || model === undefined || (start !== 'vllmServe' && start !== 'imageDefault')) return stored;
  // The template writes these words, so no edit changes them.
  const word = (value: string): Located<string> => ({ value, at: { ...uri, shared: true } });
  const own = [
    ...(start === 'vllmServe' ? [] : [word('--model')]),
    word(model),
    ...sizeFlags.flatMap(([key, flag]) => sizeFlag(getIn(sizes, key), flag)),
  ];
  const command = start === 'vllmServe' ? [word('vllm'), word('serve')] : [];
  return { ...stored, command, args: [...own, ...container.args] };
}

/** What the server loads: a model of the Hub, or a directory in the claim. */
function modelAt(protocol: string, address: string, artifacts: Cursor | undefined): string | undefined {
  if (address === '') return undefined;
  if (protocol === 'hf') return address;
  const [, ...path] = address.split('/');
  if (protocol === 'pvc+hf') return path.length < 2 ? undefined : path.slice(-2).join('/');
  const mountPath = asText(getIn(artifacts, 'mountPath')) ?? '/model-cache';
  return protocol === 'pvc' && path.length > 0 ? `${mountPath}/${path.join('/')}` : undefined;
}

const sizeFlags = [
  ['tensor', '--tensor-parallel-size'],
  ['data', '--data-parallel-size'],
  ['dataLocal', '--data-parallel-size-local'],
] as const;

/** The template leaves out sizes of 1. */
function sizeFlag(size: Cursor | undefined, flag: string): readonly Located<string>[] {
  const value = text(size);
  return size === undefined || value === undefined || value.value === '1' ? [] : [{ value: flag, at: size }, value];
}

/** The template makes node affinity of `acceleratorTypes`, and adds the fields of `extraConfig` to the pod. */
function nodesOf(block: Cursor): Partial<PodSetSource> {
  const key = getIn(block, 'acceleratorTypes', 'labelKey');
  const label = isTemplated(key) ? undefined : asText(key);
  const values = getIn(block, 'acceleratorTypes', 'labelValues');
  const named = isTemplated(values) ? [] : items(values).flatMap((value) => text(value) ?? []);
  const extra = getIn(block, 'extraConfig');
  const nodeSelector = getIn(extra, 'nodeSelector');
  const nodeSelectorTerms = getIn(extra, 'affinity', 'nodeAffinity', ...requiredTerms);
  return {
    ...(label !== undefined &&
      named.length > 0 &&
      values !== undefined && { selectors: [{ key: label, values: named, from: 'affinity', at: values }] }),
    ...(nodeSelector && { nodeSelector }),
    ...(nodeSelectorTerms && { nodeSelectorTerms }),
    ...(getIn(extra, 'tolerations') && extra && { tolerated: extra }),
  };
}

const requiredTerms = ['requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'] as const;

/** Releases of the chart differ in whether prefill has a replica by default. */
function replicasOf(block: Cursor, role: string): PodCount {
  if (asBoolean(getIn(block, 'create')) === false) return exactly(0);
  const replicas = getIn(block, 'replicas');
  return exactly(replicas === undefined && role === 'prefill' ? null : lowerCount(replicas, 1));
}

/** The resource of an accelerator type; undefined for CPUs, for claims, and for types of the project's own. */
function acceleratorOf(accelerator: Cursor | undefined): string | undefined {
  if (asBoolean(getIn(accelerator, 'dra')) === true || getIn(accelerator, 'resources') !== undefined) return undefined;
  return modelserviceResources.get(asText(getIn(accelerator, 'type')) ?? 'nvidia');
}

const modelserviceResources: ReadonlyMap<string, string> = new Map([
  ['nvidia', 'nvidia.com/gpu'],
  ['amd', 'amd.com/gpu'],
  ['intel-gaudi', 'habana.ai/gaudi'],
  ['intel-i915', 'gpu.intel.com/i915'],
  ['intel-xe', 'gpu.intel.com/xe'],
  ['google', 'google.com/tpu'],
]);

/** Older releases derive it from `data`. */
function localData(sizes: Cursor | undefined): number | null {
  const local = getIn(sizes, 'dataLocal');
  if (local !== undefined) return lowerCount(local, 1);
  return lowerCount(getIn(sizes, 'data'), 1) === 1 ? 1 : null;
}

/** Older releases derive it from `data` and `dataLocal`. */
function workers(sizes: Cursor | undefined): number | null {
  const written = getIn(sizes, 'workers');
  if (written !== undefined) return lowerCount(written, 1);
  return getIn(sizes, 'data') === undefined ? 1 : null;
}
