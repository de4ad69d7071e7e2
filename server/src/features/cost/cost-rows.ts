import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import { gpus, providerName } from '../../catalog/index.ts';
import { amountCaveat, amountNotes } from '../../cost/amount-notes.ts';
import { type Budget, covers } from '../../cost/budget.ts';
import { gpusOf } from '../../cost/estimate.ts';
import { formatHourly, fromWords } from '../../cost/money.ts';
import { noEstimateWords } from '../../cost/no-estimate-words.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import { monthOf, scheduleWords } from '../../cost/run-cost.ts';
import type { CostBasis, CostEstimate, Range } from '../../cost/types.ts';
import { isValues } from '../../model/values.ts';
import type { Capacity, Role, Workload } from '../../model/workload.ts';
import type { Located } from '../../yaml/cursor.ts';
import { keyOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';
import {
  describeAccelerators,
  detailsAt,
  nounOfDevices,
  requestedDevices,
  runningWorkloads,
} from '../hover/gpu-words.ts';

/** What one workload costs while it runs: a leaf of every total that gpulint shows. Amounts are US dollars. */
export interface CostRow {
  /** `Values` for a part of a values file. */
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string | null;
  /** The value of a label that names the owner. */
  readonly team: string | null;
  readonly role: Role;
  /** What the price is for; without a price, what the pods select. */
  readonly capacity: Capacity;
  /** Devices in all pods, from minimum to maximum; null if unknown. */
  readonly gpus: { readonly min: number | null; readonly max: number | null };
  /** What one of them is called: `GPU`, `TPU chip`, `Neuron device`, `accelerator`. */
  readonly device: string;
  /** `2 × H100 80GB SXM`. */
  readonly accelerators: string;
  /** The names of the models, sorted; empty if unknown. */
  readonly cards: readonly string[];
  /** The names of the providers whose prices apply; empty if the price is the project's own, or unknown. */
  readonly providers: readonly string[];
  /** null without a price. */
  readonly hourly: Range | null;
  /** What the amount alone would hide: ` (node p5.48xlarge $55.04/h)`. */
  readonly amountNotes: string;
  /** What the amount is not: `spot price unknown`, `in us-east-1, eu-west-1 unknown`; null if it is what it seems. */
  readonly caveat: string | null;
  /** The number of pods has no known bound: the ceiling of `hourly` counts fewer than may run. */
  readonly isOpen: boolean;
  /** 730 hours, or the runs of a schedule; null for a workload that ends if they are unknown, and without a price. */
  readonly monthly: Range | null;
  /** `at most $55.04 in 60 min`, for a workload that ends. */
  readonly run: string | null;
  /** US dollars per hour from the cheapest to the most expensive GPU, if nothing names the GPU; otherwise null. */
  readonly possibleHourly: Range | null;
  /** US dollars per hour and node, for the pods of a DaemonSet: the number of nodes is unknown. null for others and without a price. */
  readonly nodeHourly: Range | null;
  /** Per hour with replicas at their floor, for servers; null for others and without a price. */
  readonly idleHourly: number | null;
  readonly spotHourly: Range | null;
  /** Why there is no price. */
  readonly problem: string | null;
  /** For values: the name of their file, which stands for one release. */
  readonly release: string | null;
  /** Another file that fills in values of this one: `values.yaml`. */
  readonly readWith: string | null;
  /** The budgets of the config that cover it. */
  readonly budgets: readonly Budget[];
  /** Where its object starts, in the file. */
  readonly start: number;
  /** Where the hover with the details opens, in the file. */
  readonly span: Span;
}

/** The price of a row: an amount, `$0.53/h … $17.80/h` over possible GPUs, or `$0.80/h per node`; undefined without any. */
export function rowAmount(
  { hourly, isOpen, possibleHourly, nodeHourly }: RowAmounts,
  format: (amount: Range | number) => string = formatHourly,
): string | undefined {
  if (hourly !== null) return fromWords(hourly, isOpen, format);
  if (possibleHourly !== null) return spreadWords(possibleHourly, format);
  return nodeHourly ? `${format(nodeHourly)} per node` : undefined;
}

/** Earlier reports have no price per node. */
type RowAmounts = Pick<CostRow, 'hourly' | 'isOpen' | 'possibleHourly'> & Partial<Pick<CostRow, 'nodeHourly'>>;

/**
 * Whether reports list a row: also an object that is scaled to 0, which costs $0. Not one that requests 0 devices per pod, nor a part of values
 * that is turned off.
 */
export function isListed({ gpus, hourly, release }: Pick<CostRow, 'gpus' | 'hourly' | 'release'>): boolean {
  return gpus.max !== 0 || (hourly !== null && release === null);
}

/** US dollars per hour and node, for the pods of a DaemonSet: the number of nodes is unknown. null for others and without a price. */
export function nodePrice(workload: Workload, costOf: DocumentAnalysis['costOf']): CostEstimate | null {
  return workload.replica?.per === 'node' && costOf(workload).cost === null ? costOf(workload.replica).cost : null;
}

/** The rows of a file, in file order: of each workload that runs on its own, and of each release of values. */
export function costRows(file: FileAnalysis): readonly CostRow[] {
  const name = fileName(file.uri);
  return runningWorkloads(file).map(({ workload, document }) => costRow(workload, document, name, file.config.budgets));
}

/**
 * @param fileName the name of the file, for releases of values
 * @param budgets of the file's config
 */
export function costRow(
  workload: Workload,
  { base, costOf, rangeOf }: Pick<DocumentAnalysis, 'base' | 'costOf' | 'rangeOf'>,
  fileName: string,
  budgets: readonly Budget[],
): CostRow {
  const { cost, unknown } = costOf(workload);
  const onNode = nodePrice(workload, costOf);
  const accelerators = workload.podSets.flatMap(requestedDevices);
  const models = accelerators.flatMap(({ model }) => (model === null ? [] : (gpus.get(model)?.name ?? model)));
  const basis = (cost ?? onNode)?.basis ?? [];
  const providers = basis.flatMap(({ provider }) => (provider === null ? [] : providerName(provider)));
  const isIdle = workload.role === 'serving' && workload.roleConfidence !== 'guess';
  const { kind, namespace, name, role } = workload;
  return {
    kind,
    namespace,
    name,
    team: teamOf(workload),
    role,
    capacity: capacityOf(workload, basis),
    gpus: gpusOf(workload),
    device: nounOfDevices(accelerators),
    accelerators: describeAccelerators(workload),
    cards: sorted(models),
    providers: sorted(providers),
    hourly: cost?.hourly ?? null,
    amountNotes:
      cost === null ? '' : `${cost.isOpen ? ', maximum number of pods unknown' : ''}${amountNotes(cost, workload)}`,
    caveat: (cost && amountCaveat(cost, workload).replace(/^,? /, '')) || null,
    isOpen: cost?.isOpen ?? false,
    monthly: cost && monthOf(cost),
    run: (cost && !cost.isOpen && scheduleWords(cost)) || null,
    possibleHourly: rangeOf(workload)?.hourly ?? null,
    nodeHourly: onNode?.hourly ?? null,
    idleHourly: isIdle && cost !== null ? cost.idleHourly : null,
    spotHourly: cost?.spotHourly ?? null,
    problem: unknown === null ? null : noEstimateWords(unknown),
    release: isValues(workload) ? fileName : null,
    readWith: workload.readWith ?? null,
    budgets: budgets.filter((budget) => covers(budget, workload)),
    start: base + workload.manifest.root.node.span.start,
    span: shiftSpan(detailsAt(workload), base),
  };
}

/**
 * The last words of keys that name an owner, most specific first. Kubecost and OpenCost group by the same ones by default:
 * https://docs.kubecost.com/using-kubecost/navigating-the-kubecost-ui/cost-allocation
 */
const ownerWords = ['team', 'squad', 'owner', 'department', 'dept', 'cost-center', 'costcenter', 'cost_center'];

function teamOf({ manifest, podSets }: Workload): string | null {
  const labels: readonly Located<string>[] = [
    ...manifest.labels,
    ...podSets.flatMap((podSet) => podSet.labels),
    ...manifest.annotations,
  ];
  for (const word of ownerWords) {
    const found = labels.find(({ at, value }) => value !== '' && lastWord(keyOf(at)) === word);
    if (found !== undefined) return found.value;
  }
  return null;
}

/** `team` of `app.kubernetes.io/team`. */
function lastWord(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).toLowerCase();
}

/** Without a spot price, pods on spot nodes have the price on demand. */
function capacityOf({ podSets }: Workload, basis: readonly CostBasis[]): Capacity {
  const used = podSets.filter((podSet) => requestedDevices(podSet).length > 0);
  const all = new Set(used.map(({ placement }) => placement.capacity));
  const [first = 'unknown'] = all;
  if (all.size > 1) return 'unknown';
  if (first !== 'spot' || basis.every(({ pricing }) => pricing === 'spot')) return first;
  return basis.every(({ pricing }) => pricing === 'on-demand') ? 'on-demand' : 'unknown';
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

/** The decoded last name in the URI of a file or folder. */
export function fileName(uri: string): string {
  const name = uri.slice(uri.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
