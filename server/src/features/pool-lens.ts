import type { WrittenPool } from '../analysis/related-pools.ts';
import type { FileAnalysis } from '../analysis.ts';
import { instanceType, isGpuCountLabel, isGpuLabel, isInstanceTypeLabel } from '../catalog/index.ts';
import type { ProjectConfig } from '../config.ts';
import { unlistedWords } from '../cost/assumption-words.ts';
import { basisOf } from '../cost/estimate.ts';
import { formatAmount, formatHourly, formatMonthlyAmount, plural, pricingWords } from '../cost/money.ts';
import { type PoolCost, type PoolProblem, type PricedMachine, poolCost } from '../cost/pool-cost.ts';
import { poolProblemWords } from '../cost/pool-cost-words.ts';
import type { CostBasis, Range } from '../cost/types.ts';
import { locatedPools } from '../evidence/gpu-pools.ts';
import { poolsWithTemplates } from '../evidence/machine-templates.ts';
import type { CloudSign } from '../model/cloud-sign.ts';
import type { NodePool } from '../model/node-pool.ts';
import { allowedValues, type NodeRequirement } from '../model/node-terms.ts';
import { selectorsOfTerms } from '../model/nodes-of-others.ts';
import { lowerPlacement } from '../model/placement.ts';
import type { Manifest } from '../model/workload.ts';
import { noNeeds } from '../model/workload.ts';
import { cloudOfPools, poolsInFile } from '../workspace/landing.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type Cursor, entries, getIn, items, keySpanOf, rootCursor, spanOf } from '../yaml/cursor.ts';
import { lazy } from '../yaml/lazy.ts';
import { parseYaml } from '../yaml/parse.ts';
import { isAt, type Span, shiftSpan } from '../yaml/span.ts';
import { formatShare, isRegion } from './hover/gpu-words.ts';
import type { Block, HoverContent } from './hover/render.ts';

// The cost of node pools: above their objects and node groups, and on their kind, name, requirements and limits.

interface PricedPool {
  readonly pool: NodePool;
  readonly cost: PoolCost | PoolProblem;
  /** The mapping of the pool, and the entry on which the hover opens. */
  readonly span: Span;
  readonly target: Span;
  /** All places on which it opens. */
  readonly targets: readonly Span[];
}

/** One line above a pool, and where its hover opens. Spans are of the file. */
interface PoolLens {
  readonly span: Span;
  readonly title: string;
  readonly target: Span;
}

/** What a node of each pool costs, and all nodes at the limit; or why that is unknown. */
export function poolLenses(file: FileAnalysis): readonly PoolLens[] {
  return poolsOf(file).flatMap(({ pool, cost, span, target }) => {
    const title = titleOf(pool, cost);
    return title === undefined ? [] : [{ span, title, target }];
  });
}

/** The price of a pool. Totals of workloads do not include it: their pods run on such nodes. */
export interface PoolRow {
  readonly name: string | null;
  /** All of it in words. */
  readonly title: string;
  /** Why it has no price; null if it has one. */
  readonly problem: string | null;
  /** US dollars per hour for one node; null if it is unknown. */
  readonly nodeHourly: Range | null;
  /** At the limit of the pool; null without a limit, or if it is unknown. */
  readonly nodes: Range | null;
  readonly limitHourly: Range | null;
  readonly basis: readonly CostBasis[];
  /** Where the pool starts, in the file. */
  readonly start: number;
  readonly replaces?: WrittenPool;
}

/** The pools in a file. The templates of their machines and their autoscalers may be in other files of the workspace. */
export function poolRows(file: FileAnalysis, workspace?: Workspace): readonly PoolRow[] {
  const joined = lazy(() => (workspace ? poolsInFile(workspace, file.uri) : []));
  const all = lazy(() => manifestsOf(file));
  return file.documents.flatMap(({ pooled, base, crossReferences }) =>
    pooled.flatMap(({ manifest, replaces }) => {
      const located = locatedPools(manifest, all);
      const described = located.length === 0 ? (poolsWithTemplates(manifest) ?? []) : [];
      const ofOthers = described.flatMap(({ pool: { name, machines }, at }) =>
        joined().flatMap((pool) =>
          pool.machines !== undefined && pool.name === name && pool.machines.name === machines?.name
            ? { pool, at }
            : [],
        ),
      );
      const sized = (pool: NodePool) => {
        const size = manifest.kind === 'MachineSet' && joined().find(({ name }) => name === pool.name)?.size;
        return size ? { ...pool, size } : pool;
      };
      const pools = [...located, ...ofOthers].map(({ pool, at }) => ({ pool: sized(pool), at }));
      return pools.flatMap(({ pool, at }) =>
        rowsOf(
          pool,
          costOf(pool, at, file.config, () => crossReferences.cloudOfPools()),
          at.node.span.start + base,
          replaces,
        ),
      );
    }),
  );
}

/** The pools in a file of Terraform, which has no positions. */
export function terraformPoolRows(workspace: Workspace, uri: string, config: ProjectConfig): readonly PoolRow[] {
  return poolsInFile(workspace, uri).flatMap((pool) => {
    const terms = pool.terms?.map((term) => term.filter(({ disk }) => disk === undefined));
    const cost = costOf({ ...pool, ...(terms && { terms }) }, nowhere(), config, () => cloudOfPools(workspace));
    return rowsOf(pool, cost, 0);
  });
}

/** The selectors of a pool need a place, which nothing shows. */
const nowhere = lazy((): Cursor => {
  const root = parseYaml('{}').documents[0]?.root;
  if (!root) throw new Error('a mapping is a document');
  return rootCursor(root);
});

function rowsOf(
  pool: NodePool,
  cost: PoolCost | PoolProblem,
  start: number,
  replaces?: WrittenPool,
): readonly PoolRow[] {
  const { name } = pool;
  const title = titleOf(pool, cost);
  if (title === undefined) return [];
  const own = { name, title, start, ...(replaces !== undefined && { replaces }) };
  if ('kind' in cost) {
    const problem = poolProblemWords(cost);
    return [{ ...own, problem, nodeHourly: null, nodes: null, limitHourly: null, basis: [] }];
  }
  const { machines, node: nodeHourly, nodes, limit: limitHourly } = cost;
  const basis = machines.map(({ offer, pricing }) => basisOf({ name: name ?? '' }, { offer, pricing, share: 1 }));
  return [{ ...own, problem: null, nodeHourly, nodes, limitHourly, basis }];
}

/** Undefined for a pool that may have no devices. */
function titleOf(pool: NodePool, cost: PoolCost | PoolProblem): string | undefined {
  const name = pool.name ?? 'Pool';
  if (!('kind' in cost)) return [name, machineWords(cost), nodeWords(cost), ...limitsIn(pool, cost)].join(' · ');
  const { terms = [] } = pool;
  const named = allowedValues(terms, isInstanceTypeLabel) ?? [];
  const machines = named.filter((one) => pool.gpus?.length || instanceType(one)?.gpu);
  if (machines.length === 0 && cost.kind !== 'otherCloud' && !terms.every((term) => term.some(asksForDevices)))
    return undefined;
  const listed = machines.length === 0 ? [] : [machines.slice(0, 2).join(' or ')];
  return [name, ...listed, `price unknown: ${poolProblemWords(cost)}`].join(' · ');
}

/** Whether only nodes with accelerators meet a requirement. */
function asksForDevices({ key, operator }: NodeRequirement): boolean {
  const isPositive = operator === 'In' || operator === 'Exists' || operator === 'Gt';
  return isPositive && (isGpuLabel(key) || isGpuCountLabel(key));
}

function limitsIn(pool: NodePool, cost: PoolCost): readonly string[] {
  const { unlisted } = cost;
  return [limitWords(pool, cost), ...(unlisted.length === 0 ? [] : [`not priced: ${unlistedWords(unlisted)}`])];
}

/** The prices of a pool, on its kind or its name, and on what bounds its machines. */
export function poolHover(file: FileAnalysis, offset: number): HoverContent | undefined {
  const [found] = poolsOf(file).flatMap(({ targets, ...one }) => {
    const target = targets.find((span) => isAt(span, offset));
    return target === undefined ? [] : [{ ...one, target }];
  });
  if (found === undefined) return undefined;
  const { pool, cost, target } = found;
  if ('kind' in cost) {
    const lead: Block = { kind: 'lead', text: `Price unknown: ${poolProblemWords(cost)}` };
    return titleOf(pool, cost) === undefined ? undefined : { span: target, blocks: [lead] };
  }
  const words = [machineWords(cost), nodeWords(cost), ...limitsIn(pool, cost)];
  const lead: Block = { kind: 'lead', text: words.join(' · ') };
  const capacity = capacityWords(cost);
  const isMixed = capacity === 'spot or on demand';
  const rows = cost.machines.slice(0, maxRows).map(({ offer, pricing, hourly }) => {
    const amount = isMixed ? `${formatAmount(hourly)} ${pricingWords(pricing)}` : formatAmount(hourly);
    const region = isRegion(offer.region) ? offer.region : '';
    return [offer.instanceType, region, formatShare(offer.gpuCount), amount, formatMonthlyAmount(hourly)];
  });
  const table: Block = {
    kind: 'table',
    head: ['Machine', 'Region', 'GPUs', isMixed ? '$/h' : `$/h ${capacity}`, '$/month'],
    rows,
  };
  const left = cost.machines.length - rows.length;
  const more: readonly Block[] = left > 0 ? [{ kind: 'text', text: `And ${left} more, at higher prices.` }] : [];
  return { span: target, blocks: [lead, table, ...more] };
}

/** A pool that allows more machines shows the cheapest. */
const maxRows = 8;

function manifestsOf({ documents }: FileAnalysis): readonly Manifest[] {
  return documents.flatMap(({ manifests }) => manifests);
}

function poolsOf(file: FileAnalysis): readonly PricedPool[] {
  const { documents, config } = file;
  const all = lazy(() => manifestsOf(file));
  return documents.flatMap(({ pooled, base, crossReferences }) =>
    pooled.flatMap(({ manifest }) =>
      locatedPools(manifest, all).map(({ pool, at }): PricedPool => {
        const cost = costOf(pool, at, config, () => crossReferences.cloudOfPools());
        const entry = getIn(at, 'kind') ?? getIn(at, 'name') ?? at;
        const [span, target] = [shiftSpan(at.node.span, base), shiftSpan(keySpanOf(entry), base)];
        return { pool, cost, span, target, targets: [target, ...boundsIn(at).map((one) => shiftSpan(one, base))] };
      }),
    ),
  );
}

/** What bounds the machines of a Karpenter pool: its requirements and limits, and their keys. */
function boundsIn(pool: Cursor): readonly Span[] {
  const requirements = getIn(pool, 'spec', 'template', 'spec', 'requirements');
  const limits = getIn(pool, 'spec', 'limits');
  const keys = [requirements, limits].flatMap((bound) => bound ?? []);
  return [...[...keys, ...entries(limits)].map(keySpanOf), ...[...items(requirements), ...entries(limits)].map(spanOf)];
}

/** @param sign the cloud of all pools, with the region of those that state none */
function costOf(
  pool: NodePool,
  at: Cursor,
  config: ProjectConfig,
  sign: () => CloudSign | undefined,
): PoolCost | PoolProblem {
  const { terms = [] } = pool;
  const stated = lowerPlacement(selectorsOfTerms(terms, [], at), config, [], undefined, { terms, needs: noNeeds });
  const near = stated.region === null && stated.regions === undefined ? sign() : undefined;
  const placement = near?.provider === stated.provider && near ? { ...stated, region: near.region } : stated;
  return poolCost(pool, placement, config.prices);
}

function machineWords({ machines }: PoolCost): string {
  const names = [...new Set(machines.map(({ offer }) => offer.instanceType))];
  return names.length <= 2 ? names.join(' or ') : `${names.length} machines from ${names[0]} to ${names.at(-1)}`;
}

function nodeWords(cost: PoolCost): string {
  return `${formatHourly(cost.node)} ${capacityWords(cost)} per node`;
}

function capacityWords({ machines, isEither }: PoolCost): string {
  const has = (one: PricedMachine['pricing']) => machines.some(({ pricing }) => pricing === one);
  if (has('spot') && has('on-demand')) return 'spot or on demand';
  const [known, other] = has('spot') ? (['spot', 'on demand'] as const) : (['on demand', 'spot'] as const);
  return isEither ? `${known}, ${other} price unknown,` : known;
}

function limitWords({ size, limits }: NodePool, { nodes, limit }: PoolCost): string {
  if (limit === null || nodes === null) return size === undefined && limits === null ? 'no limit' : 'limit unknown';
  return `at most ${formatHourly(limit.max)} for ${plural(nodes, 'node')}`;
}
