import { asNumber, getIn, items } from '../yaml/cursor.ts';
import { groupOf } from './manifest.ts';
import type { Workload } from './workload.ts';

/**
 * The field that keeps an earlier revision running next to the one of the object, with its own pods; undefined without one.
 * https://kserve.github.io/website/docs/model-serving/predictive-inference/rollout-strategies/canary,
 * https://knative.dev/docs/serving/traffic-management/
 */
export function earlierRevision({ manifest, kind, scaling }: Workload): string | undefined {
  const spec = getIn(manifest.root, 'spec');
  const group = groupOf(manifest.apiVersion);
  if (group === 'serving.kserve.io' && kind === 'InferenceService') {
    const percent = asNumber(getIn(spec, 'predictor', 'canaryTrafficPercent'));
    // Only Knative keeps revisions.
    return percent !== undefined && percent < 100 && scaling?.mechanism === 'knative'
      ? 'canaryTrafficPercent'
      : undefined;
  }
  if (group !== 'serving.knative.dev' || kind !== 'Service') return undefined;
  const isNamed = items(getIn(spec, 'traffic')).some((target) => getIn(target, 'revisionName') !== undefined);
  return isNamed ? 'traffic' : undefined;
}
