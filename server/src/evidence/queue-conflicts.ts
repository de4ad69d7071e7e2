import { lowerQuantity } from '../model/quantity.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { isUnknown } from './written.ts';

/** A part of a queue for which its scheduler rejects it. */
export interface QueueConflict {
  readonly at: Cursor;
  readonly problem: string;
}

/** https://github.com/kubernetes-sigs/kueue/blob/main/apis/kueue/v1beta1/clusterqueue_types.go */
export function preemptionConflict(root: Cursor): QueueConflict | undefined {
  const preemption = getIn(root, 'spec', 'preemption');
  const reclaim = getIn(preemption, 'reclaimWithinCohort');
  const at = getIn(preemption, 'borrowWithinCohort', 'policy');
  const policy = asText(at);
  if (at === undefined || isIncomplete(preemption) || [at, reclaim].some(isUnknown)) return undefined;
  if (policy === 'Never' || (asText(reclaim) ?? 'Never') !== 'Never') return undefined;
  return {
    at,
    problem: `borrowWithinCohort ${policy} needs a reclaimWithinCohort other than Never: Kueue rejects the queue`,
  };
}

/** https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/queues/validate/validate_queue.go */
export function amountConflicts({ root }: Manifest): readonly QueueConflict[] {
  const spec = getIn(root, 'spec');
  const capability = getIn(spec, 'capability');
  const deserved = getIn(spec, 'deserved');
  const guarantee = getIn(spec, 'guarantee', 'resource');
  const pairs = [
    { name: 'deserved', amounts: deserved, most: capability, of: 'capability' },
    { name: 'guarantee', amounts: guarantee, most: deserved ?? capability, of: deserved ? 'deserved' : 'capability' },
  ];
  return pairs.flatMap(({ name, amounts, most, of }) =>
    entries(amounts).flatMap((at): readonly QueueConflict[] => {
      const limit = getIn(most, keyOf(at));
      const [value, least] = [lowerQuantity(at).value, limit ? lowerQuantity(limit).value : null];
      if (value === null || least === null || value <= least || [at, limit].some(isUnknown)) return [];
      return [
        {
          at,
          problem: `${name} ${asText(at)} is above ${of} ${asText(limit)}: recent versions of Volcano reject the queue`,
        },
      ];
    }),
  );
}
