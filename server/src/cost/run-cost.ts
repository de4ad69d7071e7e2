import type { RunLength } from '../model/run-length.ts';
import type { Workload } from '../model/workload.ts';
import { formatAmount, formatDuration, formatHourly, formatNumber, HOURS_PER_MONTH } from './money.ts';
import type { PodSetCost } from './pod-set-cost.ts';
import { nothing, sumOf, timesCount } from './range.ts';
import type { CostEstimate, Range, RunCost } from './types.ts';

/**
 * What one run costs, if the workload ends.
 * @param parts its pod sets, for runs that only the deadlines of their pods bound
 */
export function runCost(
  run: RunLength | undefined,
  hourly: Range,
  parts: readonly PodSetCost[],
): Pick<CostEstimate, 'run'> {
  if (run === undefined) return {};
  return { run: { ...run, total: run.hours === null ? ofSteps(run, parts) : timesCount(hourly, run.hours) } };
}

function ofSteps({ podSeconds }: RunLength, parts: readonly PodSetCost[]): Range | null {
  const each = parts.map(({ name, pod }) => {
    const seconds = podSeconds?.get(name);
    return pod === undefined || seconds === undefined ? undefined : timesCount(pod, seconds / 3600);
  });
  const known = each.flatMap((one) => one ?? []);
  return known.length === 0 || known.length < each.length ? null : sumOf(known);
}

/** The estimate of a schedule or a job that is suspended: nothing runs, and `whileRunning` has the amount of a run. */
export function atRest(cost: CostEstimate): CostEstimate {
  const { run, hourly } = cost;
  if (run?.suspended !== true) return cost;
  const none = { hourly: nothing, monthly: nothing, idle: nothing, idleHourly: 0, spotHourly: null };
  return { ...cost, ...none, run: { ...run, whileRunning: hourly } };
}

/** The month of replicas that a schedule sets, if they have one price. */
export function onAverage({ scaledBy }: Workload, cost: CostEstimate): CostEstimate {
  const { average: replicas, max } = scaledBy?.facts ?? {};
  if (replicas === undefined || !max || cost.basis.length > 1) return cost;
  const month = (cost.hourly.max / max) * replicas * HOURS_PER_MONTH;
  const monthly = { min: month, max: month };
  return { ...cost, monthly, assumptions: [...cost.assumptions, { kind: 'average', replicas, monthly }] };
}

/** `suspended: $16.29/h while running, at most $16.29 per run`, or the same as `runWords`. */
export function scheduleWords(cost: Pick<CostEstimate, 'run' | 'hourly' | 'monthly'>): string | undefined {
  const words = runWords(cost);
  if (cost.run?.whileRunning === undefined) return words;
  return [
    `suspended: ${formatHourly(cost.run.whileRunning)} while running`,
    ...(words === undefined ? [] : [words]),
  ].join(', ');
}

/** What 730 hours cost: without a pause, or those of the runs; null for a workload that ends if its runs or their length are unknown. */
export function monthOf({ run, hourly, monthly }: Pick<CostEstimate, 'run' | 'hourly' | 'monthly'>): Range | null {
  if (run === undefined) return monthly;
  const hours = hoursPerMonth(run);
  if (hours !== null) return timesCount(hourly, hours);
  const { total, perMonth } = run;
  if (total === null || perMonth === null || perMonth === undefined) return null;
  const all = timesCount(total, perMonth);
  const most = (end: 'min' | 'max') => Math.min(all[end], run.oneAtATime ? hourly[end] * HOURS_PER_MONTH : Infinity);
  return { min: most('min'), max: most('max') };
}

/** The hours of all runs of a month; null if they are unknown, or if the workload runs once. Runs may overlap. */
export function hoursPerMonth({ hours, perMonth, oneAtATime, suspended }: RunLength): number | null {
  if (suspended) return 0;
  if (hours === null || perMonth === null || perMonth === undefined) return null;
  const all = hours * perMonth;
  return oneAtATime ? Math.min(all, HOURS_PER_MONTH) : all;
}

/** `at most $87.83 in 2 h`, `at most $87.83 per run, $2,671.50 a month`; undefined if the length of a run is unknown. */
export function runWords({
  run,
  hourly,
  monthly,
}: Pick<CostEstimate, 'run' | 'hourly' | 'monthly'>): string | undefined {
  if (run === undefined) return undefined;
  const { hours, total, perMonth } = run;
  if (total === null) return undefined;
  const isMost = run.from === 'deadline';
  const amount = isMost ? `at most ${formatAmount(total.max)}` : `about ${formatAmount(total)}`;
  if (hours === null && perMonth === undefined) return `${amount} per run`;
  if (hours !== null && perMonth === undefined) return `${amount} in ${formatDuration(hours * 3600)}`;
  const month = run.suspended ? null : monthOf({ run, hourly, monthly });
  return `${amount} per run${month === null ? '' : `, ${formatAmount(isMost ? month.max : month)} per month`}`;
}

/** How the length and the number of the runs are known, for hovers and reports. */
export function runBasis(run: RunCost): string | undefined {
  const { hours, from, field, podsInTurn, perMonth, oneAtATime, suspended, total } = run;
  if (suspended) return 'No runs: suspended';
  const runs =
    perMonth === undefined || perMonth === null ? undefined : `${formatNumber(toTenths(perMonth))} runs per month`;
  const steps = total === null ? [] : ['Each step runs until its deadline at most'];
  if (hours === null) return [...steps, ...(runs === undefined ? [] : [runs])].join(', ') || undefined;
  const duration = formatDuration(hours * 3600);
  const turns = podsInTurn === undefined ? '' : ` of up to ${podsInTurn} pods in turn, with retries`;
  const length =
    from === 'deadline'
      ? `At most ${duration} per run (${field}${turns})`
      : `${duration}: steps × training.stepSeconds`;
  if (runs === undefined) return length;
  const isCapped = oneAtATime && hours * (perMonth ?? 0) > HOURS_PER_MONTH;
  return isCapped ? `${length}, one at a time (concurrencyPolicy)` : `${length}, ${runs}`;
}

/** Schedules of less than a run per month keep their digits. */
function toTenths(runs: number): number {
  return runs < 1 ? runs : Math.round(runs * 10) / 10;
}
