import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

/** Whether pods request accelerators and run on spot capacity. */
export function isOnSpot(podSet: PodSet): boolean {
  return podSet.placement.capacity === 'spot' && requestsAccelerators(podSet);
}

/** What puts pods on spot nodes, in words, and where that is written: at the object's kind if it is the config or a node pool. */
export function spotPlace(
  { placement: { capacityAt } }: PodSet,
  { root }: Workload['manifest'],
): { readonly span: Span; readonly selector: string } {
  const kind = spanOf(getIn(root, 'kind') ?? root);
  if (capacityAt === undefined) return { span: kind, selector: 'as configured' };
  const key = getIn(capacityAt, 'key');
  if (key !== undefined && keyOf(capacityAt) === '') return { span: spanOf(key), selector: asText(key) ?? '' };
  const value = asText(capacityAt);
  if (value === undefined) return { span: kind, selector: 'its node pool' };
  return { span: keySpanOf(capacityAt), selector: `${keyOf(capacityAt)}: ${value}` };
}
