import { partOf } from '../catalog/word-patterns.ts';
import { isValues } from '../model/values.ts';
import type { Workload } from '../model/workload.ts';
import { asBoolean, type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';

/**
 * The block of a chart's values that makes an HPA for these pods, in the form of `helm create`, if it is turned on. Undefined for other
 * workloads, and if the block may make something else.
 */
export function valuesScaler(workload: Workload): Cursor | undefined {
  const [podSet] = workload.podSets;
  if (!isValues(workload) || workload.role === 'definition') return undefined;
  const scaler = ['autoscaling', 'hpa'].map((key) => getIn(podSet?.pod, key)).find((one) => one !== undefined);
  if (asBoolean(getIn(scaler, 'enabled')) !== true || isIncomplete(scaler)) return undefined;
  return entries(scaler).some((entry) => otherScaler.test(keyOf(entry))) ? undefined : scaler;
}

const otherScaler = partOf('keda knative prometheus', 'trigger class custom external queue');
