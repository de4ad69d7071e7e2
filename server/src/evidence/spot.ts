import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
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

/** The priority class of pods with accelerators that others preempt at any time, by its name. */
export function preemptibleClass(podSet: PodSet): Cursor | undefined {
  const at = getIn(podSet.pod, 'priorityClassName');
  if (at === undefined || isTemplated(at) || !requestsAccelerators(podSet)) return undefined;
  const words = wordsOf(asText(at) ?? '');
  return words.some((word) => preemptible.has(word)) && !words.some((word) => negations.has(word)) ? at : undefined;
}

/** `opportunistic` is a class of the National Research Platform: https://nrp.ai/documentation/userdocs/running/priority-classes/ */
const preemptible = wordSet(
  'opportunistic opportunistic2 preemptible preemptable interruptible scavenger scavenge spot',
);
const negations = wordSet('non not no never nonpreemptible');
