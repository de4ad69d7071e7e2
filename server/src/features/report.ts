import type { FileAnalysis } from '../analysis.ts';
import { gpusOf } from '../cost/estimate.ts';
import { formatHourly, plural, spokenHourly } from '../cost/format.ts';
import { nothing, sumOf } from '../cost/range.ts';
import type { Range } from '../cost/types.ts';
import { isValues } from '../model/values.ts';
import { costWords } from './code-lens.ts';
import {
  acceleratedWorkloads,
  describeAccelerators,
  describeWorkload,
  detailsAt,
  nounOfDevices,
  requestedDevices,
} from './hover/gpu-words.ts';

/** What a whole file requests, in a line. */
export interface Summary {
  /** `3 GPUs $20.64/h`. */
  readonly text: string;
  /** One line a workload. */
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

/** For the status bar; undefined where nothing requests an accelerator. */
export function summarize(file: FileAnalysis): Summary | undefined {
  // How many replicas a chart makes of its values is unknown, so there is nothing to add up.
  const found = acceleratedWorkloads(file).filter(({ workload }) => !isValues(workload));
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
  const label = `${noun}s of this file: ${gpuWords}${priced === 0 ? ', price not known' : `, ${priced < found.length ? 'at least ' : ''}${spokenHourly(hourly)}`}`;
  return { text, tooltip: [...lines, ...note].join('\n'), label };
}

/** A line for each workload that requests accelerators, in the order of the file. */
export function costLines(file: FileAnalysis): readonly CostLine[] {
  return acceleratedWorkloads(file).map(({ workload, document }) => {
    const description = `${describeAccelerators(workload)} · ${costWords(workload, document.costOf(workload))}`;
    return {
      label: describeWorkload(workload),
      description,
      offset: document.base + detailsAt(workload).start,
    };
  });
}

/** Slices are parts of a card, and the status bar is no place for their digits. */
function rounded(gpus: number | null): number | null {
  return gpus === null || gpus < 1 ? gpus : Math.round(gpus * 10) / 10;
}
