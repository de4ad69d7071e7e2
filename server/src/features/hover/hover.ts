import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import {
  instanceType,
  isGpuLabel,
  isInstanceTypeLabel,
  knownAccelerator,
  migByResource,
  providerName,
  spotSelector,
  spotTaintKeys,
} from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { formatHourly } from '../../cost/money.ts';
import { modelsInLabel, modelsOfNodeLabel } from '../../model/named-models.ts';
import { acceleratorByName, type RequestedResource } from '../../model/requested-resource.ts';
import type {
  AcceleratorRequest,
  PodAccelerator,
  PodSet,
  Selector,
  Toleration,
  Workload,
} from '../../model/workload.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { getIn, keySpanOf, spanOf } from '../../yaml/cursor.ts';
import { isAt, type Span, shiftSpan } from '../../yaml/span.ts';
import { fitBlocks } from '../cluster/fit-blocks.ts';
import { roleWords } from '../completion/role-words.ts';
import { poolHover } from '../pool-lens.ts';
import { budgetFacts } from './budget-facts.ts';
import { capacityFacts } from './capacity-facts.ts';
import { type CostBlocks, costBlocks } from './cost-blocks.ts';
import { floorFacts } from './floor-facts.ts';
import { acceleratedWorkloads, cardsOfMachine, describeGpu, formatShare } from './gpu-words.ts';
import { lostWorkFacts } from './lost-work.ts';
import { memoryFacts } from './memory-facts.ts';
import { modelNameAt, runFields } from './own-places.ts';
import type { Block, HoverContent } from './render.ts';
import { scalerHover } from './scaler-facts.ts';
import { speedFacts } from './speed-facts.ts';
import { trainingFacts } from './training-facts.ts';
import { whatWillRun } from './will-run.ts';

/**
 * The cost of the workload at an offset of the file: on an accelerator request, on `kind` (with the pods that will run), on fields that set
 * the number of pods and when a job runs, on selectors of a GPU, an instance type or a capacity type, and on tolerations of GPU and spot nodes. The
 * memory that a served model needs, on its name.
 */
export function hover(file: FileAnalysis, offset: number): HoverContent | undefined {
  for (const { workload, document } of acceleratedWorkloads(file)) {
    const inside = offset - document.base;
    if (!isAt(spanOf(workload.manifest.root), inside)) continue;
    const hit = firstHit(workload, inside, document, file.config);
    if (hit === undefined) continue;
    const paid = cost(hit, workload, document, file.config);
    const fits = hit.cost ? fitBlocks(workload, document) : [];
    const blocks = arranged({ ...hit, facts: [...fits, ...hit.facts] }, paid, guessed(workload));
    if (blocks.length > 0) return { span: shiftSpan(hit.span, document.base), blocks };
  }
  return scalerHover(file, offset) ?? poolHover(file, offset);
}

function cost(
  { cost: shown }: Hit,
  workload: Workload,
  document: DocumentAnalysis,
  config: ProjectConfig,
): CostBlocks | undefined {
  return shown ? costBlocks(workload, document, config) : undefined;
}

/** The answer, the next step, the table, other facts, and the basis last. */
function arranged(
  { facts, first = [], between = [], basis = [] }: Hit,
  paid: CostBlocks | undefined,
  notes: readonly string[],
): readonly Block[] {
  const isLead = ({ kind }: Block) => kind === 'lead';
  const isAnswered = first.some(isLead);
  const items = [...(paid?.basis ?? []), ...basis, ...notes];
  return [
    ...first.filter(isLead),
    ...(isAnswered ? [] : [...(paid?.lead ?? []), ...(paid?.action ?? [])]),
    ...first.filter((block) => !isLead(block)),
    ...(isAnswered ? (paid?.lead ?? []).map(asText) : []),
    ...(paid?.table ?? []),
    ...between,
    // The answer to another question than what the workload costs leaves no room for levers.
    ...(isAnswered ? [] : (paid?.levers ?? [])),
    ...facts,
    ...(items.length === 0 ? [] : [{ kind: 'list', title: 'Basis', items } as const]),
  ];
}

function asText(block: Block): Block {
  return block.kind === 'lead' ? { ...block, kind: 'text' } : block;
}

/** A note that the pods of an unknown kind were recognized by shape, because the amounts depend on it. */
function guessed({ byShape, kind }: Workload): readonly string[] {
  return byShape ? [`Unknown kind ${kind}: pods and their number inferred from its structure`] : [];
}

interface Hit {
  readonly span: Span;
  /** Facts about the field itself. */
  readonly facts: readonly Block[];
  /** Whether the hover shows the cost of the workload. */
  readonly cost: boolean;
  /** Blocks before the cost. */
  readonly first?: readonly Block[];
  /** Blocks after the amounts. */
  readonly between?: readonly Block[];
  /** What these blocks rest on, one line each. */
  readonly basis?: readonly string[];
}

function firstHit(
  workload: Workload,
  offset: number,
  document: DocumentAnalysis,
  config: ProjectConfig,
): Hit | undefined {
  const result = document.costOf(workload);
  for (const { podSet, container, request } of requestsOf(workload)) {
    for (const quantity of [request.limit, request.request]) {
      const span = quantity && entryAt(quantity.at, offset);
      if (span === undefined) continue;
      const memory =
        workload.role === 'training'
          ? trainingFacts(workload, podSet, container, request, result, config)
          : memoryFacts(workload, podSet, container, request, config);
      const facts = sliceFacts(podSet.accelerators, request);
      const speed =
        workload.role === 'training' ? [] : speedFacts(workload, podSet, container, request, result, config);
      return { span, facts, cost: true, between: [...memory.total, ...speed], basis: memory.basis };
    }
  }
  const { manifest, scaling, podSets } = workload;
  for (const { at: place, requested } of podSets.flatMap(({ accelerators }) => accelerators)) {
    const span = place && (entryAt(place, offset) ?? smallMapAt(place, offset));
    if (span !== undefined) return { span, facts: [], cost: true, first: requestedFacts(requested) };
  }
  for (const podSet of podSets) {
    for (const selector of podSet.selectors) {
      const hit = selectorHit(selector, offset, config) ?? capacityHit(podSet, selector, offset, config);
      if (hit !== undefined) return hit;
    }
    for (const toleration of podSet.tolerations) {
      const hit = tolerationHit(podSet, toleration, offset, config);
      if (hit !== undefined) return hit;
    }
  }
  for (const container of podSets.flatMap(({ containers }) => containers)) {
    const lost = lostWorkFacts(workload, container, offset, result, config);
    if (lost !== undefined) return { ...lost, cost: false };
  }
  for (const { podSet, container, request } of requestsOf(workload)) {
    const span = modelNameAt(workload, container, offset);
    if (span === undefined) continue;
    const { total, basis } = memoryFacts(workload, podSet, container, request, config);
    const [need, ...others] = total;
    if (need?.kind === 'text')
      return { span, facts: [], cost: false, first: [{ kind: 'lead', text: need.text }, ...others], basis };
  }
  const kind = getIn(manifest.root, 'kind');
  const onKind = kind && entryAt(kind, offset);
  if (onKind !== undefined) {
    const text = whatWillRun(workload);
    const role = roleWords(workload);
    const facts: readonly Block[] = [
      ...(role === undefined ? [] : [{ kind: 'text', text: role } as const]),
      ...budgetFacts(workload, document.crossReferences),
    ];
    return { span: onKind, facts, cost: true, first: text === undefined ? [] : [{ kind: 'text', text }] };
  }
  const onFloor = scaling?.min && entryAt(scaling.min, offset);
  if (scaling && onFloor !== undefined)
    return {
      span: onFloor,
      facts: [],
      cost: true,
      first: floorFacts(workload, scaling, result, config),
    };
  const ofRuns = result.cost?.run === undefined ? [] : runFields(manifest);
  for (const cursor of [scaling?.max, ...podSets.map(({ replicas }) => replicas), ...ofRuns]) {
    const span = cursor && entryAt(cursor, offset);
    if (span !== undefined) return { span, facts: [], cost: true };
  }
  return undefined;
}

function requestsOf(workload: Workload) {
  return workload.podSets.flatMap((podSet) =>
    podSet.containers.flatMap((container) => container.accelerators.map((request) => ({ podSet, container, request }))),
  );
}

/** A field or object that requests devices instead of a resource. */
function requestedFacts({ kind, name }: RequestedResource): readonly Block[] {
  const text = requestedSentence(kind, name);
  return text === undefined ? [] : [{ kind: 'text', text }];
}

function requestedSentence(kind: RequestedResource['kind'], name: string): string | undefined {
  if (kind === 'deviceClass') return `Devices of class ${name}, requested by a claim (dynamic resource allocation).`;
  if (kind === 'claim') return `Devices of claim ${name}, shared by all pods that reference it.`;
  return kind === 'annotation' ? `Part of a GPU, requested by the annotation ${name}.` : undefined;
}

function selectorHit(selector: Selector, offset: number, config: ProjectConfig): Hit | undefined {
  const values = selector.values.map(({ value }) => value);
  const isKnown = isGpuLabel(selector.key) || isInstanceTypeLabel(selector.key);
  if (!isKnown && modelsInLabel(selector.key, values).length === 0) return undefined;
  for (const { value, at: cursor } of selector.values) {
    if (isAt(spanOf(cursor), offset))
      return { span: spanOf(cursor), facts: valueFacts(selector.key, value, config), cost: true };
  }
  const span = entryAt(selector.at, offset);
  const facts = selector.values.flatMap(({ value }) => valueFacts(selector.key, value, config));
  return span === undefined ? undefined : { span, facts, cost: true };
}

/** On a label that selects a capacity type. */
function capacityHit(
  podSet: PodSet,
  { key, values, at: cursor }: Selector,
  offset: number,
  config: ProjectConfig,
): Hit | undefined {
  if (!values.some(({ value }) => spotSelector(key, value) !== undefined)) return undefined;
  const value = values.find((one) => isAt(spanOf(one.at), offset));
  const span = value === undefined ? entryAt(cursor, offset) : spanOf(value.at);
  return span && { span, facts: [], cost: true, first: capacityFacts(podSet, key, config) };
}

/** On a toleration of GPU nodes or spot nodes. */
function tolerationHit(
  podSet: PodSet,
  { key, value, at: item }: Toleration,
  offset: number,
  config: ProjectConfig,
): Hit | undefined {
  if (key === undefined || !isAt(spanOf(item), offset)) return undefined;
  const isSpot = spotTaintKeys.includes(key.value) || spotSelector(key.value, value?.value ?? '') === 'spot';
  if (!isSpot && knownAccelerator(key.value) === undefined) return undefined;
  const span = entryAt(key.at, offset) ?? (value && entryAt(value.at, offset));
  if (span === undefined) return undefined;
  const nodes = isSpot ? 'spot nodes' : `nodes with the taint ${key.value}`;
  const note = `The toleration allows pods on ${nodes} but does not select such nodes; a nodeSelector does.`;
  return { span, facts: [{ kind: 'text', text: note }], cost: false, first: capacityFacts(podSet, key.value, config) };
}

/** The facts about a node with this label value. */
function valueFacts(key: string, value: string, { prices }: ProjectConfig): readonly Block[] {
  if (isInstanceTypeLabel(key)) {
    const type = instanceType(value);
    if (type === undefined) return [];
    const parts = [
      cardsOfMachine(type),
      type.vcpu === null ? null : `${type.vcpu} vCPU`,
      type.memoryGiB === null ? null : `${type.memoryGiB} GiB memory`,
      type.rdma,
    ];
    return [{ kind: 'text', text: `${providerName(type.provider)} ${type.name}: ${parts.filter(Boolean).join(', ')}` }];
  }
  return modelsOfNodeLabel(key, value).map((gpu): Block => {
    const range = priceRange(gpuPrices(gpu, undefined, prices));
    const price = range === null ? '' : `; ${formatHourly(range)} on demand, depending on the provider`;
    return { kind: 'text', text: `${gpu.name}: ${describeGpu(gpu)}${price}` };
  });
}

/** The size of a MIG slice on each GPU; empty for other requests. */
function sliceFacts(accelerators: readonly PodAccelerator[], request: AcceleratorRequest): readonly Block[] {
  if (request.form !== 'mig') return [];
  const model = acceleratorByName(accelerators, request.resource)?.model ?? null;
  const found = migByResource(request.resource).filter(({ gpu }) => model === null || gpu.id === model);
  if (found.length === 0) return [];
  return [
    {
      kind: 'table',
      head: ['GPU', 'Slice', 'Memory', 'Compute', 'Slices per GPU'],
      rows: found.map(({ gpu, table, profile }) => [
        gpu.name,
        profile.name,
        `${profile.memoryGiB} GB`,
        formatShare(profile.computeSlices / table.computeSlices),
        String(profile.maxInstances),
      ]),
    },
  ];
}

/** The key or the value of an entry, if the offset is in one of them. */
function entryAt(cursor: Cursor, offset: number): Span | undefined {
  if (cursor.entry !== undefined && isAt(keySpanOf(cursor), offset)) return keySpanOf(cursor);
  if (cursor.node.kind === 'scalar' && isAt(spanOf(cursor), offset)) return spanOf(cursor);
  return undefined;
}

/** A small mapping, such as a pod's claim: its name and its reference. */
function smallMapAt({ node }: Cursor, offset: number): Span | undefined {
  const isSmall = node.kind === 'map' && node.span.end - node.span.start < 300;
  return isSmall && isAt(node.span, offset) ? node.span : undefined;
}
