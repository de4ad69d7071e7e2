import { poolLabelOf } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

/** Whether pods request accelerators and run on spot capacity. */
export function isOnSpot(podSet: PodSet): boolean {
  return selectsSpot(podSet) && requestsAccelerators(podSet);
}

/** Whether pods run on spot capacity, by a label for it or by the name of their pool. */
export function selectsSpot(podSet: PodSet): boolean {
  return podSet.placement.capacity === 'spot' || spotPool(podSet) !== undefined;
}

/** The selector of a pool whose name says that its nodes are spot ones: `cloud.google.com/gke-nodepool: l4-spot`, `node-type: gpu-spot`. */
const spotPool = once(({ pod, placement }: PodSet): Cursor | undefined => {
  if (placement.capacity !== 'unknown' || placement.capacityAt !== undefined) return undefined;
  return entries(getIn(pod, 'nodeSelector')).find((entry) => {
    const words = wordsOf(asText(entry) ?? '');
    if (isTemplated(entry) || !words.some((word) => spotWords.has(word)) || words.some((word) => others.has(word)))
      return false;
    const key = keyOf(entry);
    return isPool.test(key) || poolLabelOf(new Map([[key, 'any']])) !== undefined;
  });
});

const spotWords = wordSet('spot preemptible');
/** The opposite, pools of both kinds, or other things: `blind-spot`. */
const others = wordSet('non not no never without anti or and demand ondemand fallback mixed free blind hot');
const isPool = /(?:^|[/.-])(?:node|gpu|pool|instance|machine)-?(?:type|class|group|role)$/;

/** What puts pods on spot nodes, in words, and where that is written: at the object's kind if it is the config or a node pool. */
export function spotPlace(
  podSet: PodSet,
  { root }: Workload['manifest'],
): { readonly span: Span; readonly selector: string } {
  const { capacityAt } = podSet.placement;
  const kind = spanOf(getIn(root, 'kind') ?? root);
  const pool = spotPool(podSet);
  if (pool !== undefined) return { span: keySpanOf(pool), selector: `${keyOf(pool)}: ${asText(pool) ?? ''}` };
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
