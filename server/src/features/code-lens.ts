import type { FileAnalysis } from '../analysis.ts';
import { amountNotes, runsNoPods } from '../cost/amount-notes.ts';
import { formatHourly, formatMonthly, plural } from '../cost/money.ts';
import { missingFor } from '../cost/no-estimate.ts';
import type { PossibleCost } from '../cost/possible-cost.ts';
import { rangeWords } from '../cost/possible-cost-words.ts';
import { runWords } from '../cost/run-cost.ts';
import type { CostEstimate, CostResult, Range } from '../cost/types.ts';
import type { Workload } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import { type Span, shiftSpan } from '../yaml/span.ts';
import { fitTitle } from './cluster/fit-blocks.ts';
import {
  acceleratedWorkloads,
  describeAccelerators,
  detailsAt,
  nounOfDevices,
  requestedDevices,
} from './hover/gpu-words.ts';
import { memoryNote } from './memory-records.ts';
import { poolLenses } from './pool-lens.ts';
import { shownFindings } from './shown-findings.ts';
import { trainingNote } from './training-records.ts';

/** One line above a workload. Spans are of the file. */
export interface Lens {
  readonly span: Span;
  readonly title: string;
  /** `show-fixes`: the light bulb at the target. */
  readonly action: 'show-cost' | 'set-gpu' | 'show-fixes' | 'show-pods';
  /** `show-pods`: the workload as the cluster knows it; a namespace that the file does not name is unknown. */
  readonly owner?: { readonly kind: string; readonly name: string; readonly namespace: string | null };
  /** Where the hover with the details opens. */
  readonly target: Span;
}

/**
 * The cost of each workload that requests accelerators, above the workload, and whether it would run in the connected cluster.
 * @param changes how the price of each changed workload changed, by the start of its object
 */
export function codeLenses(file: FileAnalysis, changes: ReadonlyMap<number, string> = new Map()): readonly Lens[] {
  const ofWorkloads = acceleratedWorkloads(file).map(({ workload, document }): Lens => {
    const { root } = workload.manifest;
    const result = document.costOf(workload);
    const span = shiftSpan(root.node.span, document.base);
    const change = changes.get(span.start);
    return {
      span,
      title: `${lensTitle(workload, document, file.config)}${change === undefined ? '' : ` · ${change}`}`,
      action: missingFor(result.unknown) === 'gpu' ? 'set-gpu' : 'show-cost',
      target: shiftSpan(detailsAt(workload), document.base),
    };
  });
  const ofFits = acceleratedWorkloads(file).flatMap(({ workload, document }): Lens[] => {
    const title = fitTitle(workload, document);
    const span = shiftSpan(workload.manifest.root.node.span, document.base);
    const target = shiftSpan(detailsAt(workload), document.base);
    return title === undefined
      ? []
      : [{ span, title, action: 'show-cost', target }, ...podsLens(workload, document, span)];
  });
  const ofPools = poolLenses(file).map((lens): Lens => ({ ...lens, action: 'show-cost' }));
  return [...ofWorkloads, ...ofFits, ...ofPools];
}

/** From a manifest to its pods in the connected cluster. */
function podsLens(workload: Workload, document: FileAnalysis['documents'][number], span: Span): readonly Lens[] {
  const { kind, name, namespace } = workload.manifest;
  const fit = document.fitOf(workload);
  if (fit === undefined || name === null) return [];
  const { context, running, waiting } = fit;
  const pods = running + waiting;
  // Its pods may be in another namespace than the one that the file leaves out.
  if (pods === 0 && namespace !== null) return [];
  const title = `${pods === 0 ? 'pods' : plural(pods, 'pod')} in ${shorten(context)}${waiting === 0 ? '' : `, ${waiting} pending`}`;
  return [{ span, title, action: 'show-pods', target: span, owner: { kind, name, namespace } }];
}

/** Advice above the line that it concerns, for users who want squiggles only for mistakes. */
export function adviceLenses(file: FileAnalysis): readonly Lens[] {
  return shownFindings(file)
    .filter(({ finding }) => finding.severity === 'info')
    .map(({ finding: { message, span }, base }): Lens => {
      const place = shiftSpan(span, base);
      return { span: place, title: message, action: 'show-fixes', target: place };
    });
}

function lensTitle(
  workload: Workload,
  document: FileAnalysis['documents'][number],
  config: FileAnalysis['config'],
): string {
  const result = document.costOf(workload);
  const cost = costWords(workload, result, document.rangeOf(workload));
  const parts = [
    describeAccelerators(workload),
    cost,
    ...releaseWords(workload, document),
    ...memoryNote(workload, config),
    ...trainingNote(workload),
  ];
  return `${workload.readWith === undefined ? '' : `with ${workload.readWith}: `}${parts.join(' · ')}`;
}

/** `3 replicas $41.28/h`, for values that state more than one replica. */
export function releaseWords(
  { release }: Workload,
  { costOf }: Pick<FileAnalysis['documents'][number], 'costOf'>,
): readonly string[] {
  const [pods] = release?.podSets.map((podSet) => podSet.pods) ?? [];
  const cost = release && costOf(release).cost;
  if (!cost || pods === undefined || pods.min === null || pods.max === null || pods.max < 2) return [];
  return [`${plural(pods, 'replica')} ${formatHourly(cost.hourly)}`];
}

function spotAmount(hourly: Range, isOpen: boolean): string {
  return formatHourly(isOpen ? hourly.min : hourly);
}

/** `$5,022/month idle`; `idle from $2,336/month` if the price of a pod is a range. */
function idleWords({ idle, idleHourly }: CostEstimate): string {
  const month = formatMonthly(idleHourly);
  return formatMonthly(idle) === month ? `${month} idle` : `idle from ${month}`;
}

/** `$6.88–$20.64/h on demand · $3.30–$9.90/h spot · $5,022/month idle`, a range over models, or which fact is missing. */
export function costWords(workload: Workload, { cost, unknown }: CostResult, range: PossibleCost | undefined): string {
  if (range !== undefined) return rangeWords(range);
  if (cost === null) {
    if (unknown?.kind === 'priceUnknown' && unknown.spot !== undefined)
      return `on-demand price unknown, ${formatHourly(unknown.spot.hourly)} per pod on spot`;
    if (missingFor(unknown) !== 'gpu') return 'price unknown';
    return nounOfDevices(workload.podSets.flatMap(requestedDevices)) === 'GPU' ? 'GPU model unknown' : 'model unknown';
  }
  if (runsNoPods(workload)) return `$0/h${amountNotes(cost, workload)}`;
  const pricings = new Set(cost.basis.map(({ pricing }) => pricing));
  const [pricing, ...others] = [...pricings];
  const onSpot = pricing === 'spot' && others.length === 0;
  const least = cost.isOpen ? 'from ' : '';
  const { whileRunning } = cost.run ?? {};
  const running = cost.run?.perMonth === undefined && whileRunning === undefined ? '' : ' while running';
  const hourly = whileRunning ?? cost.hourly;
  const amount = formatHourly(cost.isOpen ? hourly.min : hourly);
  const words = pricing === undefined || others.length > 0 ? '' : ` ${pricing.replace('-', ' ')}`;
  const parts = [`${least}${amount}${words}${running}`];
  parts[0] += amountNotes(cost, workload);
  const spot = onSpot || cost.spotHourly === null ? amount : spotAmount(cost.spotHourly, cost.isOpen);
  // What runs on spot already may decide the amount.
  if (spot !== amount) parts.push(`${least}${spot} spot`);
  if (whileRunning !== undefined) parts.unshift('$0/h, suspended');
  const run = cost.isOpen ? undefined : runWords(cost);
  if (run !== undefined) parts.push(run);
  // Only serving can be idle; a job ends.
  if (workload.role === 'serving' && workload.roleConfidence !== 'guess') parts.push(idleWords(cost));
  return parts.join(' · ');
}
