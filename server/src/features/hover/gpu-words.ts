import type { FileAnalysis } from '../../analysis.ts';
import type { GpuModel } from '../../catalog/index.ts';
import { acceleratorResource, gpus, migByResource } from '../../catalog/index.ts';
import { formatCount, formatNumber, plural } from '../../cost/format.ts';
import { requestedWords } from '../../cost/requested-words.ts';
import { isRequested } from '../../model/accelerators.ts';
import { plus } from '../../model/count.ts';
import { times } from '../../model/kinds/pod-sets.ts';
import { knownResource, resourceName } from '../../model/requested-resource.ts';
import { isValues } from '../../model/values.ts';
import type { PodAccelerator, PodSet, Workload } from '../../model/workload.ts';
import { getIn, keySpanOf } from '../../yaml/cursor.ts';
import type { Span } from '../../yaml/span.ts';

// One wording of GPUs for lens, hover, pickers and status bar.

/** `1–3 × H100 80GB SXM`, `2 GPUs`, `4 × MIG 1g.10gb of A100 80GB SXM + 1 × L4`; the empty string where nothing is requested. */
export function describeAccelerators(workload: Workload): string {
  const counts = new Map<string, Count & { readonly known: boolean }>();
  for (const podSet of workload.podSets) {
    for (const accelerator of requestedDevices(podSet)) {
      const { name, known } = nameOfAccelerator(accelerator);
      const before = counts.get(name) ?? { min: 0, max: 0, known };
      const count = times(podSet.pods, accelerator.perPod);
      counts.set(name, { min: plus(before.min, count.min), max: plus(before.max, count.max), known });
    }
  }
  return [...counts]
    .map(([name, count]) => (count.known ? `${formatCount(count)} × ${name}` : plural(count, name)))
    .join(' + ')
    .concat(counts.size > 0 && isValues(workload) ? ' per replica' : '');
}

/** The accelerators that the pods of a set take and that stand for devices; counters of a device's cores and memory only refine others. */
export function requestedDevices(podSet: PodSet): readonly PodAccelerator[] {
  const taken = podSet.accelerators.filter(isRequested);
  const devices = taken.filter(({ form }) => form === 'whole' || form === 'mig' || form === 'shared');
  return devices.length > 0 ? devices : taken.slice(0, 1);
}

/** The workloads of a file that ask for an accelerator and run by themselves, or are priced by the replica, with the document they are in. */
export function acceleratedWorkloads(file: FileAnalysis): readonly {
  readonly workload: Workload;
  readonly document: FileAnalysis['documents'][number];
}[] {
  if (!file.hasAccelerators) return [];
  return file.documents.flatMap((document) =>
    document.costed
      .map((workload) => workload.replica ?? workload)
      .filter(
        ({ role, podSets }) => role !== 'definition' && podSets.some((podSet) => requestedDevices(podSet).length > 0),
      )
      .map((workload) => ({ workload, document })),
  );
}

/** Where a workload's hover with the details opens: its kind, or the first request where it has none. Of the document. */
export function detailsAt({ manifest, podSets }: Workload): Span {
  const [request] = podSets.flatMap(({ containers }) => containers.flatMap(({ accelerators }) => accelerators));
  return keySpanOf(getIn(manifest.root, 'kind') ?? (request?.limit ?? request?.request)?.at ?? manifest.root);
}

/** What to call requested devices: only some are called GPUs. */
export function nounOfDevices(accelerators: readonly PodAccelerator[]): string {
  return deviceNoun(accelerators.map(({ requested, model }) => ({ resource: resourceName(requested) ?? '', model })));
}

/** The same by resource names. */
export function deviceNoun(
  accelerators: readonly { readonly resource: string; readonly model: string | null }[],
): string {
  const nouns = new Set(accelerators.map(({ resource, model }) => nounOf(resource, model)));
  return nouns.size > 1 ? 'accelerator' : ([...nouns][0] ?? 'GPU');
}

function nounOf(resource: string, model: string | null): string {
  switch (acceleratorResource(resource)?.vendor ?? gpus.get(model ?? '')?.vendor) {
    case 'google':
      return 'TPU chip';
    case 'aws':
      return 'Neuron device';
    case 'habana':
    case 'huawei':
    case 'qualcomm':
      return 'accelerator';
    default:
      return 'GPU';
  }
}

/** `Deployment/llama`, `Pod`. */
export function describeWorkload({ kind, name }: Workload): string {
  return name === null ? kind : `${kind}/${name}`;
}

/** `Hopper, 80 GB, 3,350 GB/s, 989 bf16 TFLOPS, MIG`; what rests on no source is left out. */
export function describeGpu(gpu: GpuModel): string {
  const sourced = <T>(field: string, value: T): T | null => (gpu.unsourced.includes(field) ? null : value);
  const memory = sourced('memoryGiB', gpu.memoryGiB);
  const bandwidth = sourced('memoryBandwidth', gpu.memoryBandwidth);
  const tflops = sourced('tflops', gpu.tflops.bf16);
  return [
    sourced('architecture', gpu.architecture),
    memory === null ? null : `${formatNumber(memory)} GB`,
    bandwidth === null ? null : `${formatNumber(bandwidth)} GB/s`,
    tflops === null ? null : `${formatNumber(tflops)} dense bf16 TFLOPS`,
    gpu.migCapable ? 'MIG' : null,
  ]
    .filter((part) => part !== null && part !== '')
    .join(', ');
}

/** Some providers have one price in all their regions; the catalogue then names none. */
export function isRegion(region: string): boolean {
  return region !== '' && region !== 'all' && region !== 'global';
}

/** `1/8`, `3/7`, `37.7%`; a share of more parts is written in percent. */
export function formatShare(share: number, mostParts = 16): string {
  for (let parts = 1; parts <= mostParts; parts += 1) {
    const taken = share * parts;
    if (Math.abs(taken - Math.round(taken)) < 1e-6 && taken >= 0.5)
      return parts === 1 ? formatNumber(taken) : `${Math.round(taken)}/${parts}`;
  }
  return `${formatNumber(share * 100)}%`;
}

interface Count {
  readonly min: number | null;
  readonly max: number | null;
}

function nameOfAccelerator({ requested, form, model, candidates, perPod, devices }: PodAccelerator): {
  name: string;
  known: boolean;
} {
  // A counter of mebibytes or percent counts no devices.
  if (form === 'memory' || form === 'percent') return { name: requestedWords(requested), known: true };
  const gpu = model === null ? undefined : gpus.get(model)?.name;
  if (form === 'mig') {
    const resource = resourceName(requested) ?? '';
    const slice = `MIG ${migByResource(resource)[0]?.profile.name ?? resource.replace(/^.*mig-/, '')}`;
    return { name: gpu === undefined ? slice : `${slice} of ${gpu}`, known: true };
  }
  if (gpu !== undefined) {
    const part = form === 'whole' && perPod !== null && devices !== null && devices < perPod;
    const name = part ? `${formatShare(devices / perPod)} of ${gpu}` : gpu;
    return { name: form === 'shared' ? `shared ${gpu}` : name, known: true };
  }
  const alternatives = candidates.map((id) => gpus.get(id)?.name ?? id);
  if (form === 'shared') return { name: 'shared GPU', known: false };
  if (alternatives.length > 1 && alternatives.length <= 3) return { name: alternatives.join(' or '), known: true };
  const vendor = knownResource(requested)?.vendor;
  if (vendor === 'google') return { name: 'TPU chip', known: false };
  if (vendor === 'aws') return { name: form === 'core' ? 'NeuronCore' : 'Neuron device', known: false };
  return { name: /gpu|^amd\.com|^nvidia\.com/.test(requested.name) ? 'GPU' : 'accelerator', known: false };
}
