import { lowerQuantity } from '../model/quantity.ts';
import type { PodSet } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, items, spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { isUnknown } from './written.ts';

/**
 * Where the pod's own resources contradict those of its containers: its request must cover the written requests of all containers, and its limit must not be
 * below that of one of them.
 */
export function podResourceProblems({ pod }: PodSet): readonly { readonly message: string; readonly span: Span }[] {
  const own = getIn(pod, 'resources');
  const containers = items(getIn(pod, 'containers'));
  if (own === undefined || [own, pod, ...containers].some(isIncomplete)) return [];
  return ['cpu', 'memory'].flatMap((name) => {
    const request = getIn(own, 'requests', name);
    const limit = getIn(own, 'limits', name);
    // The sum of fractions is not exact.
    const needed = containers
      .map((container) => amountOf(getIn(container, 'resources', 'requests', name)) ?? 0)
      .reduce((a, b) => a + b, 0);
    const requested = amountOf(request);
    if (request !== undefined && requested !== undefined && requested < needed * (1 - 1e-9)) {
      const message = `The pod's ${name} request ${lowerQuantity(request).text} must cover the requests of its containers`;
      return [{ message, span: spanOf(request) }];
    }
    const most = amountOf(limit);
    const above = containers.flatMap((container) => getIn(container, 'resources', 'limits', name) ?? []);
    const over = most === undefined ? undefined : above.find((one) => (amountOf(one) ?? 0) > most);
    if (over === undefined || limit === undefined) return [];
    const message = `The ${name} limit ${lowerQuantity(over).text} must not be above the pod's limit ${lowerQuantity(limit).text}`;
    return [{ message, span: spanOf(over) }];
  });
}

function amountOf(at: Cursor | undefined): number | undefined {
  if (at === undefined || isUnknown(at)) return undefined;
  return lowerQuantity(at).value ?? undefined;
}
