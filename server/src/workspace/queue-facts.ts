import { acceleratorResource } from '../catalog/index.ts';
import { isTaintEffect, type NodeTaint } from '../model/node-pool.ts';
import { lowerTolerations } from '../model/pod.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { mayTolerate } from '../model/tolerations.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, tableOf } from '../yaml/table.ts';

/**
 * The most that a queue lets run: Volcano's `capability`, and the limit of GPUs of KAI, which may be -1. Resources without a number have no limit.
 * https://volcano.sh/en/docs/queue/, https://github.com/kai-scheduler/KAI-Scheduler/blob/main/docs/queues/README.md
 */
export function queueCapacity(spec: Cursor | undefined): Table<number> {
  const limit = asNumber(getIn(spec, 'resources', 'gpu', 'limit')) ?? -1;
  const capability = entries(getIn(spec, 'capability')).flatMap((entry): [string, number][] => {
    const { value } = lowerQuantity(entry);
    return value === null || !Number.isInteger(value) ? [] : [[keyOf(entry), value]];
  });
  return tableOf(limit >= 0 ? [['nvidia.com/gpu', limit], ...capability] : capability);
}

/**
 * Whether a flavor of a ClusterQueue admits no pods with devices: it has no quota for them, and without a cohort, the queue borrows none.
 * https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#borrowinglimit
 */
export function isClosed(flavor: Cursor, spec: Cursor | undefined): boolean {
  if (['cohort', 'cohortName'].some((key) => getIn(spec, key) !== undefined)) return false;
  const devices = quotasOfDevices(flavor);
  const isNone = (quota: Cursor | undefined) => quota !== undefined && lowerQuantity(quota).value === 0;
  return devices.length > 0 && devices.every((resource) => isNone(getIn(resource, 'nominalQuota')));
}

/** The quotas of devices that a ClusterQueue has in a flavor. */
export function quotasOfDevices(flavor: Cursor): readonly Cursor[] {
  return items(getIn(flavor, 'resources')).filter(
    (resource) => acceleratorResource(asText(getIn(resource, 'name')) ?? '') !== undefined,
  );
}

/** The taints of a flavor that its own tolerations do not cover: Kueue expects those in the pods. */
export function flavorTaints(spec: Cursor | undefined): readonly NodeTaint[] {
  const list = getIn(spec, 'nodeTaints');
  const own = getIn(spec, 'tolerations');
  if ([spec, list, own].some(isIncomplete) || isTemplated(list) || isTemplated(own)) return [];
  const tolerations = spec === undefined ? [] : lowerTolerations(spec);
  return items(list).flatMap((item) => {
    const [key, effect] = [asText(getIn(item, 'key')), asText(getIn(item, 'effect'))];
    if (key === undefined || !isTaintEffect(effect) || entries(item).some(isTemplated)) return [];
    const taint: NodeTaint = { key, value: asText(getIn(item, 'value')) ?? '', effect };
    return tolerations.some((one) => mayTolerate(one, taint)) ? [] : [taint];
  });
}
