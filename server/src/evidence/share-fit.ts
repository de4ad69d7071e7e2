import { gpus, usableCardGiB } from '../catalog/index.ts';
import { estimateOn } from '../memory/fit.ts';
import type { MemoryEstimate } from '../memory/serving.ts';
import { lookUp } from '../model/manifest.ts';
import { servedModel } from '../model/served-model.ts';
import { virtualMiB } from '../model/shares.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { getIn, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { claimedDevices, claimedGpus } from './claimed-devices.ts';
import { mayUseOtherGpus, spansPods } from './gpu-assignment.ts';
import { isScheduledByKai } from './kai.ts';
import { leastWeights, loadsAll } from './model-fit.ts';
import { isExempt, knownRequests, requestSpan } from './requested-accelerators.ts';
import { hasRun } from './run-status.ts';

/** A model server whose weights exceed the part of a GPU's memory that its pod requests. */
export interface ShareMisfit {
  readonly estimate: MemoryEstimate;
  /** The weights on each GPU, at 4 bits per parameter if their format is unknown. */
  readonly weightsGiB: number;
  /** The format of the weights; null if unknown. */
  readonly format: string | null;
  readonly share: Share;
}

interface Share {
  readonly eachGiB: number;
  readonly count: number;
  /** The annotation or the resource that says so. */
  readonly name: string;
  /** A library in the container limits its memory. Otherwise only the scheduler counts it. */
  readonly limited: boolean;
  readonly span: Span;
}

/** What exceeds the share by less may be an error of the estimate. */
const margin = 1.1;

/** The share of a model server that is smaller than its weights; undefined if it is large enough, or if either is unknown. */
export function shareMisfitOf(container: Container, workload: Workload, podSet: PodSet): ShareMisfit | undefined {
  if (isExempt(workload) || container.type !== 'app' || spansPods(workload)) return undefined;
  // A model in the values of KubeAI's chart has the fields of the object.
  const share = workload.partial
    ? isValues(workload)
      ? byField(podSet)
      : undefined
    : memoryShareOf(container, podSet);
  if (share === undefined || mayUseOtherGpus(container) || hasRun(workload.manifest)) return undefined;
  const served = servedModel(container, workload).model;
  if (served === null || served.open.length > 0 || !loadsAll.has(served.engine)) return undefined;
  if ((served.tensor ?? 1) * served.pipeline > share.count) return undefined;
  const estimate = estimateOn(served, { eachGiB: share.eachGiB, count: share.count });
  if (estimate === null || served.offloadGiB !== 0 || served.gpuLayers !== null) return undefined;
  const { weightsGiB, format } = leastWeights(estimate, served, share.count);
  const atLeast = weightsGiB * Math.min(1 / margin, 1 - estimate.weightsError);
  return atLeast > share.eachGiB ? { estimate, weightsGiB, format, share } : undefined;
}

function memoryShareOf(container: Container, podSet: PodSet): Share | undefined {
  return counted(container) ?? annotated(container, podSet) ?? byField(podSet) ?? claimed(container, podSet);
}

/** The cards that a field names instead of the container's resources: a profile of KubeAI. KAITO adds nodes until a model fits. */
function byField({ accelerators }: PodSet): Share | undefined {
  const [accelerator, ...more] = accelerators;
  if (accelerator === undefined || more.length > 0 || accelerator.modelHint !== undefined) return undefined;
  const { requested, at, form, perPod, devices, model } = accelerator;
  if (requested.kind !== 'field' || requested.system !== 'kubeai' || at === undefined || form !== 'whole')
    return undefined;
  const card = gpus.get(model ?? '');
  const eachGiB = card === undefined || card.vendor === 'google' ? null : usableCardGiB(card);
  if (eachGiB === null || perPod === null || perPod === 0 || devices !== perPod) return undefined;
  return { eachGiB, count: perPod, name: requested.name, limited: true, span: spanOf(at) };
}

/** Whole cards of the container's claims, if the selected nodes or the claim name their model. */
function claimed(container: Container, podSet: PodSet): Share | undefined {
  const at = getIn(container.resources, 'claims');
  if (at === undefined) return undefined;
  const count = claimedGpus(container, podSet);
  const [device, ...more] = claimedDevices(container, podSet);
  const card = gpus.get(device?.model ?? '');
  const eachGiB = card === undefined || device?.modelHint !== undefined ? null : usableCardGiB(card);
  if (count === null || count === 0 || more.length > 0 || eachGiB === null) return undefined;
  return { eachGiB, count, name: `The claimed ${card?.name}`, limited: true, span: keySpanOf(at) };
}

/** HAMi's counter gives each of the container's virtual GPUs so much. https://github.com/Project-HAMi/HAMi#resource-usage */
function counted(container: Container): Share | undefined {
  const requests = knownRequests(container);
  const memory = requests.find(({ resource }) => /^(?:nvidia|amd)\.com\/v?gpumem$/.test(resource));
  const mebibytes = memory === undefined ? 0 : virtualMiB([{ resource: memory.resource, perPod: memory.count }]);
  const [whole, ...others] = requests.filter(({ form }) => form === 'whole' || form === 'shared');
  if (memory === undefined || mebibytes === 0 || others.length > 0) return undefined;
  const span = requestSpan([memory], container);
  return { eachGiB: mebibytes / 1024, count: whole?.count ?? 1, name: memory.resource, limited: true, span };
}

/** The annotations of KAI and Run:ai, for the only container that can use the GPU. */
function annotated(container: Container, podSet: PodSet): Share | undefined {
  const { accelerators, annotations, containers } = podSet;
  const [accelerator, ...more] = accelerators;
  const isOnly = containers.every((other) => other === container || other.type !== 'app');
  if (accelerator?.requested.kind !== 'annotation' || accelerator.at === undefined || more.length > 0) return undefined;
  if (!isOnly || !isScheduledByKai(podSet)) return undefined;
  const { requested, memoryMiB, perPod, at, model, modelHint } = accelerator;
  const found = { name: requested.name, limited: false, span: keySpanOf(at) };
  if (memoryMiB !== undefined) return { eachGiB: memoryMiB / 1024, count: perPod ?? 1, ...found };
  const card = gpus.get(model ?? '');
  const cardGiB = card === undefined || modelHint !== undefined ? null : usableCardGiB(card);
  const isOne = lookUp(annotations, 'gpu-fraction-num-devices') === undefined;
  if (cardGiB === null || perPod === null || perPod >= 1 || !isOne) return undefined;
  return { eachGiB: cardGiB * perPod, count: 1, ...found };
}
