import type { FileAnalysis } from '../analysis.ts';
import { formatHourly, plural, roundedCount, spokenHourly } from '../cost/money.ts';
import { spreadWords } from '../cost/possible-cost-words.ts';
import { oldPriceAge, oldPriceWords } from '../cost/price-age.ts';
import { plus } from '../model/count.ts';
import { costWords, releaseWords } from './code-lens.ts';
import { type CostRow, costRows } from './cost/cost-rows.ts';
import { totalOf } from './cost/cost-totals.ts';
import {
  acceleratedWorkloads,
  describeAccelerators,
  describeWorkload,
  detailsAt,
  nounOfDevices,
  requestedDevices,
  runningWorkloads,
} from './hover/gpu-words.ts';

/** The accelerators and the cost of a whole file. */
export interface Summary {
  /** `3 GPUs $20.64/h`. */
  readonly text: string;
  /** One line per workload. */
  readonly tooltip: string;
  /** A sentence for a screen reader. */
  readonly label: string;
}

/** One workload of a file with its cost. */
export interface CostLine {
  readonly label: string;
  readonly description: string;
  /** Offset in the file where the hover with the details opens. */
  readonly offset: number;
}

/** For the status bar: the sum of the file's rows, with one release of values; undefined if no workload requests an accelerator. */
export function summarize(file: FileAnalysis): Summary | undefined {
  const rows = costRows(file);
  if (rows.length === 0) return undefined;
  const { unpriced, hourly, ranged } = totalOf(rows);
  const gpus = { min: rounded(sumOrNull(rows, 'min')), max: rounded(sumOrNull(rows, 'max')) };
  const noun = nounOfDevices(
    runningWorkloads(file).flatMap(({ workload }) => workload.podSets.flatMap(requestedDevices)),
  );
  const gpuWords = gpus.min === null && gpus.max === null ? `${noun}s` : plural(gpus, noun);
  const isPriced = unpriced < rows.length;
  const isFloor = unpriced > 0 || (gpus.max === null && gpus.min !== null);
  const text = isPriced
    ? `${gpuWords} ${isFloor ? '≥ ' : ''}${formatHourly(hourly)}`
    : ranged.workloads > 0
      ? `${gpuWords} ${spreadWords(ranged.hourly)}`
      : gpuWords;
  const lines = costLines(file).map(({ label, description }) => `${label}: ${description}`);
  const note = unpriced > 0 && isPriced ? [`No price for ${unpriced} of ${rows.length} workloads.`] : [];
  const basis = runningWorkloads(file).flatMap(({ workload, document }) => document.costOf(workload).cost?.basis ?? []);
  const age = oldPriceAge(basis, file.config.prices);
  if (age !== null) note.push(`${oldPriceWords(age)}.`);
  const price = isPriced
    ? `${isFloor ? 'at least ' : ''}${spokenHourly(hourly)}`
    : ranged.workloads > 0
      ? `${spokenHourly(ranged.hourly)}, depending on the GPU`
      : 'price unknown';
  const label = `This file requests ${gpuWords}, ${price}`;
  return { text, tooltip: [...lines, ...note].join('\n'), label };
}

/** One line per workload that requests accelerators, in file order. */
export function costLines(file: FileAnalysis): readonly CostLine[] {
  return acceleratedWorkloads(file).map(({ workload, document }) => {
    const parts = [
      describeAccelerators(workload),
      costWords(workload, document.costOf(workload), document.rangeOf(workload)),
      ...releaseWords(workload, document),
    ];
    return {
      label: describeWorkload(workload),
      description: parts.join(' · '),
      offset: document.base + detailsAt(workload).start,
    };
  });
}

/** null if one of the counts is unknown. */
function sumOrNull(rows: readonly CostRow[], end: 'min' | 'max'): number | null {
  return rows.reduce<number | null>((sum, { gpus }) => plus(sum, gpus[end]), 0);
}

/** A count with one decimal from 1 GPU: the status bar has no room for the digits of slices. */
function rounded(gpus: number | null): number | null {
  return gpus === null ? null : roundedCount(gpus);
}
