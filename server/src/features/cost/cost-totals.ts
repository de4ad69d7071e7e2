import { formatCount, formatDollars, fromWords, plural, roundedCount } from '../../cost/money.ts';
import { type RangedTotal, rangedWords } from '../../cost/possible-cost-words.ts';
import { sumOf } from '../../cost/range.ts';
import type { Range } from '../../cost/types.ts';
import type { CostRow } from './cost-rows.ts';

/** The part of a row that totals add up. */
export type CountedAmounts = Pick<CostRow, 'gpus' | 'hourly' | 'isOpen' | 'monthly' | 'possibleHourly' | 'idleHourly'> &
  Partial<Pick<CostRow, 'device' | 'nodeHourly'>>;

/** The sum of the known amounts of rows. */
export interface CostTotal {
  readonly workloads: number;
  /** Workloads without a price, which the amounts leave out. */
  readonly unpriced: number;
  /** Those of them that have a price per node: the number of nodes is unknown. */
  readonly perNode: number;
  /** Devices. A workload without an upper bound counts with its floor. */
  readonly gpus: Range;
  /** What each of them is called: `GPU`, or `accelerator` for several kinds. */
  readonly device: string;
  /** US dollars per hour. */
  readonly hourly: Range;
  /** A workload without an upper bound counts with its floor. */
  readonly isOpen: boolean;
  /** US dollars in 730 hours, of workloads that stay up and of schedules. */
  readonly monthly: Range;
  /** The priced workloads that `monthly` leaves out, because they end. */
  readonly ending: number;
  readonly idleHourly: number;
  /** The workloads without a price that have at least a range over GPUs, and the sum of their ranges. */
  readonly ranged: RangedTotal;
}

/** The total of the rows: the sum of the leaves, whatever shows them. */
export function totalOf(rows: readonly CountedAmounts[]): CostTotal {
  const priced = rows.flatMap(({ hourly }) => hourly ?? []);
  const ranges = rows.flatMap(({ possibleHourly }) => possibleHourly ?? []);
  return {
    workloads: rows.length,
    unpriced: rows.length - priced.length,
    perNode: rows.filter(({ hourly, nodeHourly }) => hourly === null && nodeHourly != null).length,
    gpus: sum(rows.map(({ gpus: { min, max } }) => ({ min: min ?? 0, max: max ?? min ?? 0 }))),
    device: deviceOf(rows),
    hourly: sum(priced),
    isOpen: rows.some(({ isOpen }) => isOpen),
    monthly: sum(rows.flatMap(({ monthly }) => monthly ?? [])),
    ending: rows.filter(({ hourly, monthly }) => hourly !== null && monthly === null).length,
    ranged: { workloads: ranges.length, hourly: sum(ranges) },
    idleHourly: withoutNoise(rows.reduce((total, { idleHourly }) => total + (idleHourly ?? 0), 0)),
  };
}

/** Reports of earlier versions name no devices: they are GPUs. */
function deviceOf(rows: readonly CountedAmounts[]): string {
  const names = new Set(rows.filter(({ gpus }) => gpus.max !== 0).map(({ device = 'GPU' }) => device));
  const [name = 'GPU'] = names;
  return names.size > 1 ? 'accelerator' : name;
}

/** Whether there are workloads and none has a price: a sum of $0 would be wrong. */
export function isUnpriced({ workloads, unpriced }: CostTotal): boolean {
  return workloads > 0 && unpriced === workloads;
}

/** What a total leaves out, but for ranges over GPUs: `1 workload with a price per node`, `2 workloads without a price`. */
export function leftOutWords(
  {
    unpriced,
    perNode,
    ranged,
  }: Pick<CostTotal, 'unpriced' | 'perNode'> & { readonly ranged: { readonly workloads: number } },
  count = (some: number) => plural(some, 'workload'),
): string {
  const unknown = unpriced - perNode - ranged.workloads;
  return [
    ...(perNode > 0 ? [`${count(perNode)} with a price per node`] : []),
    ...(unknown > 0 ? [`${count(unknown)} without a price`] : []),
  ].join(' and ');
}

/** `$57.66/h`; `from $57.66/h` if a workload has no upper bound. */
export function hourlyTotal({ hourly, isOpen }: CostTotal): string {
  return fromWords(hourly, isOpen);
}

/** `$1,909/month`, `$1,909/month without 1 job`; undefined if all workloads end. */
export function monthTotal({ workloads, unpriced, monthly, isOpen, ending }: CostTotal): string | undefined {
  if (ending > 0 && ending === workloads - unpriced) return undefined;
  const left = ending === 0 ? '' : ` without ${plural(ending, 'job')}`;
  return `${fromWords(monthly, isOpen, formatDollars)}/month${left}`;
}

/** `$6.88/h ($5,022/month)`; `$6.88/h ($5,022/month), or $7.94–$42.48/h with 1 workload of unknown GPU model`. */
export function totalAndRange(total: CostTotal): string {
  const month = monthTotal(total);
  const exact = `${hourlyTotal(total)}${month === undefined ? '' : ` (${month})`}`;
  return rangedWords(total.hourly, total.ranged, (sum) =>
    sum === total.hourly ? exact : fromWords(sum, total.isOpen),
  );
}

/** A sum of devices. */
export function countWords({ min, max }: Range): string {
  return formatCount({ min: roundedCount(min), max: roundedCount(max) });
}

/** The devices of a total: `2`, `2–4`, `at least 2`. */
export function countTotal({ gpus, isOpen }: Pick<CostTotal, 'gpus' | 'isOpen'>): string {
  return isOpen ? `at least ${countWords({ min: gpus.min, max: gpus.min })}` : countWords(gpus);
}

/** `2 GPUs`, `at least 2 GPUs`, `16 TPU chips`. */
export function gpusTotal(total: Pick<CostTotal, 'gpus' | 'device' | 'isOpen'>): string {
  const [min, max] = [roundedCount(total.gpus.min), roundedCount(total.gpus.max)];
  return `${total.isOpen ? 'at least ' : ''}${plural(total.isOpen ? { min, max: min } : { min, max }, total.device)}`;
}

/** Rounds the noise of binary fractions from sums of cents and shares. */
export function withoutNoise(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function sum(ranges: readonly Range[]): Range {
  const { min, max } = sumOf(ranges);
  return { min: withoutNoise(min), max: withoutNoise(max) };
}
