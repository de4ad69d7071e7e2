import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, getIn, spanOf } from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A ScaledObject's `idleReplicaCount` cannot work.
 *
 * ## Why
 *
 * KEDA knows one idle number only: 0, and that must be below `minReplicaCount`. Another number is refused, or the replicas (and their
 * GPUs) stay at the floor with no traffic.
 *
 * ```yaml invalid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   idleReplicaCount: 1
 *   minReplicaCount: 2
 *   maxReplicaCount: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   idleReplicaCount: 0
 *   minReplicaCount: 2
 *   maxReplicaCount: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: with 0 the first request after a quiet time waits for a cold start.
 *
 * ## Sources
 *
 * - [KEDA: idleReplicaCount](https://keda.sh/docs/latest/reference/scaledobject-spec/#idlereplicacount)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest({ root, kind, apiVersion }, context) {
    if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') return;
    const idle = getIn(root, 'spec', 'idleReplicaCount');
    const count = asNumber(idle);
    if (idle === undefined || count === undefined) return;
    const floor = getIn(root, 'spec', 'minReplicaCount');
    // The floor is written under a name that KEDA does not know, and that is told by itself.
    if (floor === undefined && getIn(root, 'spec', 'minReplicas') !== undefined) return;
    const least = floor === undefined ? 0 : asNumber(floor);
    if (count === 0 && least !== 0) return;
    if (least === undefined && count === 0) return;
    const { document } = context;
    context.report({
      message:
        count === 0
          ? 'idleReplicaCount 0 is not below minReplicaCount 0: KEDA refuses the pair, and the floor is 0 anyway'
          : `idleReplicaCount is ${count}, but KEDA takes 0 only`,
      span: spanOf(idle),
      fixes: () => [
        least === 0
          ? fix('Remove idleReplicaCount', 'unsafe', removeKey(document, idle))
          : fix('Set idleReplicaCount to 0', 'unsafe', replaceScalar(document, idle, 0)),
      ],
    });
  },
});
