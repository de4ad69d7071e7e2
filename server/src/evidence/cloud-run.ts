import { parseQuantity } from '../model/quantity.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asText, type Cursor, getIn } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { isUnknown } from './written.ts';

/** An amount of a container with which Cloud Run gives it no GPU, and what is wrong with it. */
export interface CloudRunProblem {
  readonly at: Cursor;
  readonly text: string;
}

/**
 * The limits of a container that are below what its GPU needs on Cloud Run. An amount that is not written has a default.
 * https://cloud.google.com/run/docs/configuring/services/gpu (2026-11-30)
 */
export function cloudRunProblems(
  { resources, accelerators }: Container,
  { selectors }: PodSet,
): readonly CloudRunProblem[] {
  const chosen = selectors.find(({ key }) => key === 'run.googleapis.com/accelerator')?.values ?? [];
  const name = chosen.length === 1 ? (chosen[0]?.value ?? '') : '';
  const least = minimums[name];
  if (least === undefined || accelerators.length === 0) return [];
  const [cpu, memory, gpus] = ['cpu', 'memory', 'nvidia.com/gpu'].map((key) => getIn(resources, 'limits', key));
  const under = (at: Cursor | undefined, amount: number, words: string): readonly CloudRunProblem[] =>
    at !== undefined && isBelow(at, amount)
      ? [{ at, text: `Cloud Run needs at least ${words} for ${name}, not ${shorten(asText(at) ?? '', 12)}` }]
      : [];
  const many = asText(gpus) ?? '';
  return [
    ...under(cpu, least.cores, `${least.cores} CPU cores`),
    ...under(memory, least.gibibytes * 2 ** 30, `${least.gibibytes}Gi of memory`),
    ...(gpus !== undefined && /^[2-9]$/.test(many)
      ? [{ at: gpus, text: `Cloud Run gives an instance 1 GPU, not ${many}` }]
      : []),
  ];
}

function isBelow(at: Cursor, amount: number): boolean {
  const written = isUnknown(at) ? null : parseQuantity(asText(at) ?? '');
  return written !== null && written > 0 && written < amount;
}

const minimums = table<{ readonly cores: number; readonly gibibytes: number }>({
  'nvidia-l4': { cores: 4, gibibytes: 16 },
  'nvidia-rtx-pro-6000': { cores: 20, gibibytes: 80 },
});
