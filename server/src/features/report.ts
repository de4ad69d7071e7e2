import type { FileAnalysis } from '../analysis.ts';
import { gpusOf } from '../cost/estimate.ts';
import { formatHourly, plural, spokenHourly } from '../cost/money.ts';
import { nothing, sumOf } from '../cost/range.ts';
import type { Range } from '../cost/types.ts';
import { costWords } from './code-lens.ts';
import {
  acceleratedWorkloads,
  describeAccelerators,
  describeWorkload,
  detailsAt,
  nounOfDevices,
  requestedDevices,
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

/** For the status bar; undefined if no workload requests an accelerator. */
export function summarize(file: FileAnalysis): Summary | undefined {
  // The chart decides how many replicas run with its values, so they have no total.
  const found = acceleratedWorkloads(file).filter(({ workload }) => !workload.perReplica);
  if (found.length === 0) return undefined;
  let min: number | null = 0;
  let max: number | null = 0;
  let hourly: Range = nothing;
  let priced = 0;
  for (const { workload, document } of found) {
    const gpus = gpusOf(workload);
    min = min === null || gpus.min === null ? null : min + gpus.min;
    max = max === null || gpus.max === null ? null : max + gpus.max;
    const { cost } = document.costOf(workload);
    if (cost === null) continue;
    priced += 1;
    hourly = sumOf([hourly, cost.hourly]);
  }
  const noun = nounOfDevices(found.flatMap(({ workload }) => workload.podSets.flatMap(requestedDevices)));
  const gpuWords = min === null && max === null ? `${noun}s` : plural({ min: rounded(min), max: rounded(max) }, noun);
  const atLeast = priced < found.length ? '≥ ' : '';
  const text = priced === 0 ? gpuWords : `${gpuWords} ${atLeast}${formatHourly(hourly)}`;
  const lines = costLines(file).map(({ label, description }) => `${label}: ${description}`);
  const unpriced = found.length - priced;
  const note = unpriced > 0 && priced > 0 ? [`No price for ${unpriced} of ${found.length} workloads.`] : [];
  const price = priced === 0 ? 'price unknown' : `${priced < found.length ? 'at least ' : ''}${spokenHourly(hourly)}`;
  const label = `This file requests ${gpuWords}, ${price}`;
  return { text, tooltip: [...lines, ...note].join('\n'), label };
}

/** One line per workload that requests accelerators, in file order. */
export function costLines(file: FileAnalysis): readonly CostLine[] {
  return acceleratedWorkloads(file).map(({ workload, document }) => {
    const description = `${describeAccelerators(workload)} · ${costWords(workload, document.costOf(workload), document.rangeOf(workload))}`;
    return {
      label: describeWorkload(workload),
      description,
      offset: document.base + detailsAt(workload).start,
    };
  });
}

/** A count with one decimal from 1 GPU: the status bar has no room for the digits of slices. */
function rounded(gpus: number | null): number | null {
  return gpus === null || gpus < 1 ? gpus : Math.round(gpus * 10) / 10;
}
