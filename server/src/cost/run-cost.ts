import type { RunLength } from '../model/run-length.ts';
import { formatAmount, formatDuration, formatNumber } from './money.ts';
import { timesCount } from './range.ts';
import type { CostEstimate, Range, RunCost } from './types.ts';

/** What one run costs, if the workload ends. */
export function runCost(run: RunLength | undefined, hourly: Range): Pick<CostEstimate, 'run'> {
  if (run === undefined) return {};
  return { run: { ...run, total: run.hours === null ? null : timesCount(hourly, run.hours) } };
}

/** The cost of the runs of a month; null if it is unknown. At most that of a month without a pause. */
export function monthOf({ total, perMonth }: RunCost): Range | null {
  return total === null || perMonth === null || perMonth === undefined ? null : timesCount(total, perMonth);
}

/** `at most $87.83 in 2 h`, `at most $87.83 per run, $2,671.50 a month`; undefined if the length of a run is unknown. */
export function runWords(run: RunCost): string | undefined {
  const { hours, total, perMonth } = run;
  if (hours === null || total === null) return undefined;
  const amount = `${bound(run)} ${formatAmount(total)}`;
  if (perMonth === undefined) return `${amount} in ${formatDuration(hours * 3600)}`;
  const month = monthOf(run);
  return `${amount} per run${month === null ? '' : `, ${formatAmount(month)} a month`}`;
}

/** How the length and the number of the runs are known, for hovers and reports. */
export function runBasis({ hours, from, perMonth }: RunCost): string | undefined {
  const runs = perMonth === undefined || perMonth === null ? undefined : `${formatNumber(perMonth)} runs a month`;
  if (hours === null) return runs;
  const duration = formatDuration(hours * 3600);
  const length =
    from === 'deadline'
      ? `At most ${duration} per run (activeDeadlineSeconds)`
      : `${duration}: steps × training.stepSeconds`;
  return runs === undefined ? length : `${length}, ${runs}`;
}

function bound({ from }: RunCost): string {
  return from === 'deadline' ? 'at most' : 'about';
}
