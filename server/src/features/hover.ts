import type { FileAnalysis } from '../analysis.ts';
import { gpus, gpusByLabel, instanceType, isGpuLabel, migByResource, providerName } from '../catalog/index.ts';
import { formatHourly } from '../cost/format.ts';
import { isInstanceTypeLabel } from '../model/devices.ts';
import type { AcceleratorRequest, Selector, Workload } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { at, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { type Span, shiftSpan } from '../yaml/span.ts';
import { costBlocks } from './cost-blocks.ts';
import { acceleratedWorkloads, describeGpu, formatShare } from './gpu-words.ts';
import type { Block } from './markdown.ts';
import { gpuPrices, priceRange } from './prices.ts';

/** What is shown at a place. The span is of the file. */
export interface HoverContent {
  readonly span: Span;
  readonly blocks: readonly Block[];
}

/**
 * What the workload at an offset of the file costs: on an accelerator request, on `kind`, on the fields that say how many pods
 * run, and on selectors that name a GPU or an instance type.
 */
export function hover(file: FileAnalysis, offset: number): HoverContent | undefined {
  for (const { workload, document } of acceleratedWorkloads(file)) {
    const inside = offset - document.base;
    if (!touches(spanOf(workload.manifest.root), inside)) continue;
    const hit = firstHit(workload, inside);
    if (hit === undefined) continue;
    const { facts, cost } = hit;
    const blocks = cost ? [...costBlocks(workload, document.costOf(workload)), ...facts] : facts;
    return { span: shiftSpan(hit.span, document.base), blocks };
  }
  return undefined;
}

interface Hit {
  readonly span: Span;
  /** What is known of the thing itself. */
  readonly facts: readonly Block[];
  /** Whether the workload's cost belongs here. */
  readonly cost: boolean;
}

function firstHit(workload: Workload, offset: number): Hit | undefined {
  for (const { podSet, request } of requestsOf(workload)) {
    for (const quantity of [request.limit, request.request]) {
      const span = quantity && entryAt(quantity.at, offset);
      if (span !== undefined) return { span, facts: sliceFacts(podSet.accelerators, request), cost: true };
    }
  }
  for (const selector of workload.podSets.flatMap(({ selectors }) => selectors)) {
    const hit = selectorHit(selector, offset);
    if (hit !== undefined) return hit;
  }
  const { manifest, scaling, podSets } = workload;
  const counts = [at(manifest.root, 'kind'), scaling?.min, scaling?.max, ...podSets.map(({ replicas }) => replicas)];
  for (const cursor of counts) {
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

function selectorHit(selector: Selector, offset: number): Hit | undefined {
  if (!isGpuLabel(selector.key) && !isInstanceTypeLabel(selector.key)) return undefined;
  for (const { value, at: cursor } of selector.values) {
    if (touches(spanOf(cursor), offset))
      return { span: spanOf(cursor), facts: valueFacts(selector.key, value), cost: true };
  }
  const span = entryAt(selector.at, offset);
  const facts = selector.values.flatMap(({ value }) => valueFacts(selector.key, value));
  return span === undefined ? undefined : { span, facts, cost: true };
}

/** What a label's value says of the node. */
function valueFacts(key: string, value: string): readonly Block[] {
  if (isInstanceTypeLabel(key)) {
    const type = instanceType(value);
    if (type === undefined) return [];
    const gpu = type.gpu === null ? undefined : gpus.get(type.gpu);
    const parts = [
      `${type.gpuCount ?? '?'} × ${gpu?.name ?? 'GPU'}`,
      type.vcpu === null ? null : `${type.vcpu} vCPU`,
      type.memoryGiB === null ? null : `${type.memoryGiB} GiB memory`,
      type.rdma,
    ];
    return [{ kind: 'text', text: `${providerName(type.provider)} ${type.name}: ${parts.filter(Boolean).join(', ')}` }];
  }
  return gpusByLabel(key, value).map((gpu): Block => {
    const range = priceRange(gpuPrices(gpu));
    const price = range === null ? '' : `; ${formatHourly(range)} on demand, by provider`;
    return { kind: 'text', text: `${gpu.name}: ${describeGpu(gpu)}${price}` };
  });
}

/** What a MIG slice is of a card; nothing for other requests. */
function sliceFacts(
  accelerators: readonly { readonly resource: string; readonly model: string | null }[],
  request: AcceleratorRequest,
): readonly Block[] {
  if (request.form !== 'mig') return [];
  const model = accelerators.find(({ resource }) => resource === request.resource)?.model ?? null;
  const found = migByResource(request.resource).filter(({ gpu }) => model === null || gpu.id === model);
  if (found.length === 0) return [];
  return [
    {
      kind: 'table',
      head: ['GPU', 'Slice', 'Memory', 'Compute', 'Slices a card'],
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

/** The key or the value of an entry, whichever the offset is in. */
function entryAt(cursor: Cursor, offset: number): Span | undefined {
  if (cursor.entry !== undefined && touches(keySpanOf(cursor), offset)) return keySpanOf(cursor);
  if (cursor.node.kind === 'scalar' && touches(spanOf(cursor), offset)) return spanOf(cursor);
  return undefined;
}

/** The end counts as inside: that is where the caret stands after a word. */
function touches(span: Span, offset: number): boolean {
  return span.start <= offset && offset <= span.end;
}
