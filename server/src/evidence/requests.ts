import { formatNumber } from '../cost/format.ts';
import { isValues } from '../model/values.ts';
import type { AcceleratorRequest, Container, Workload } from '../model/workload.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

/** The accelerators that a container asks for with a count that is known and not 0. */
export function asked({ accelerators }: Pick<Container, 'accelerators'>): readonly AcceleratorRequest[] {
  return accelerators.filter(({ count }) => count !== null && count > 0);
}

/** What a container asks for, in words: `2 nvidia.com/gpu`. */
export function requestWords(requests: readonly AcceleratorRequest[]): string {
  return requests.map(({ count, resource }) => `${formatNumber(count ?? 0)} ${resource}`).join(' and ');
}

/** The key under which the first of the requests is written; the container's resources where that is not plain. */
export function requestSpan(requests: readonly AcceleratorRequest[], container: Container): Span {
  const [first] = requests.flatMap(writtenQuantities);
  return keySpanOf(first?.at ?? container.resources ?? container.at);
}

/** Serves GPUs to others, or runs nothing by itself: not judged as a workload. */
export function isNoWorkload(workload: Workload): boolean {
  // What a chart's values say of a pod, they say of pods that run.
  return workload.role === 'infrastructure' || (workload.role === 'definition' && !isValues(workload));
}
