import { migByResource } from '../catalog/index.ts';
import { formatNumber } from '../cost/money.ts';
import { isValues } from '../model/values.ts';
import type { AcceleratorRequest, Container, Workload } from '../model/workload.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { keySpanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

/** The accelerators that a container requests, without those whose count is unknown or 0. */
export function knownRequests({ accelerators }: Pick<Container, 'accelerators'>): readonly AcceleratorRequest[] {
  return accelerators.every(isKnownRequest) ? accelerators : accelerators.filter(isKnownRequest);
}

function isKnownRequest({ count }: AcceleratorRequest): boolean {
  return count !== null && count > 0;
}

/** Requests in words: `2 nvidia.com/gpu`. */
export function requestWords(requests: readonly AcceleratorRequest[]): string {
  return requests
    .map(({ count, resource }) => (count === null ? resource : `${formatNumber(count)} ${resource}`))
    .join(' and ');
}

/** The key of the first request; the container's resources if the request is not written under a key. */
export function requestSpan(requests: readonly AcceleratorRequest[], container: Container): Span {
  const [first] = requests.flatMap(writtenQuantities);
  return keySpanOf(first?.at ?? container.resources ?? container.at);
}

/** Whether a workload only serves GPUs to others or runs nothing itself: rules about running workloads do not apply. */
export function isExempt(workload: Workload): boolean {
  // A chart's values describe pods that run.
  return workload.role === 'infrastructure' || (workload.role === 'definition' && !isValues(workload));
}

/** What a finding about the count of a resource is about: a wrong count of slices is a mistake with MIG. */
export function topicOfRequest(resource: string): 'mig' | 'gpu-request' {
  return migByResource(resource).length > 0 ? 'mig' : 'gpu-request';
}
