import { nameOfGpuTarget, targetOf } from '../evidence/scaler-target.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, type Cursor, getIn, isIncomplete, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A ScaledObject has an invalid `idleReplicaCount`, or a `cooldownPeriod` that never applies.
 *
 * ## Why
 *
 * The only idle count that KEDA supports is 0, and it must be below `minReplicaCount`. With any other value KEDA rejects the object, or the
 * replicas and their GPUs stay at the minimum without traffic.
 *
 * `cooldownPeriod` is the time before the last replicas go: KEDA scales to zero after it. With a minimum of 1 or more, the HorizontalPodAutoscaler that KEDA
 * creates removes replicas, after its own `stabilizationWindowSeconds` (300 s by default).
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
 * Unsafe: with 0, the first request after an idle period waits for a cold start.
 *
 * ## When it is silent
 *
 * For a `cooldownPeriod` of targets without GPUs, of 300 s, which is also the default of the HorizontalPodAutoscaler, and next to `behavior.scaleDown`.
 *
 * ## Sources
 *
 * - [KEDA: cooldownPeriod](https://keda.sh/docs/latest/reference/scaledobject-spec/#cooldownperiod)
 * - [KEDA: idleReplicaCount](https://keda.sh/docs/latest/reference/scaledobject-spec/#idlereplicacount)
 */
export default defineRule({
  topic: 'scale-to-zero',
  severity: 'warning',
  manifest(manifest, context) {
    const { root, kind, apiVersion } = manifest;
    if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') {
      const owners = kindOf({ kind, apiVersion }).bounds?.(root) ?? [];
      for (const owner of owners) checkEmbedded(getIn(owner, 'wva', 'keda', 'idleReplicaCount'), context);
      return;
    }
    checkCooldown(manifest, context);
    const idle = getIn(root, 'spec', 'idleReplicaCount');
    const count = asNumber(idle);
    if (idle === undefined || count === undefined) return;
    const minimum = getIn(root, 'spec', 'minReplicaCount');
    // keda-field-name reports a minimum under an unknown name.
    if (minimum === undefined && getIn(root, 'spec', 'minReplicas') !== undefined) return;
    const lowest = minimum === undefined ? 0 : asNumber(minimum);
    if (count === 0 && lowest !== 0) return;
    if (lowest === undefined && count === 0) return;
    const { document } = context;
    context.report({
      message:
        count === 0
          ? 'idleReplicaCount 0 must be below minReplicaCount, which is also 0: KEDA rejects the ScaledObject'
          : `idleReplicaCount must be 0, not ${count}: KEDA supports no other idle count`,
      span: spanOf(idle),
      fixes: () => [
        lowest === 0
          ? fix('Remove idleReplicaCount', 'unsafe', removeKey(document, idle))
          : fix('Set idleReplicaCount to 0', 'unsafe', replaceScalar(document, idle, 0)),
      ],
    });
  },
});

/** Reports a time before the step to zero of a GPU server that never takes it. */
function checkCooldown(manifest: Manifest, { crossReferences, report }: RuleContext): void {
  const spec = getIn(manifest.root, 'spec');
  const [at, minimum] = [getIn(spec, 'cooldownPeriod'), getIn(spec, 'minReplicaCount')];
  const [seconds, lowest] = [asNumber(at), asNumber(minimum)];
  if (at === undefined || seconds === undefined || lowest === undefined || lowest < 1 || isIncomplete(spec)) return;
  const scaleDown = getIn(spec, 'advanced', 'horizontalPodAutoscalerConfig', 'behavior', 'scaleDown');
  // The defaults of both are the same.
  if (seconds === 300 || getIn(spec, 'idleReplicaCount') !== undefined || scaleDown !== undefined) return;
  const target = targetOf(manifest, crossReferences);
  const holdsGpus = target === undefined ? nameOfGpuTarget(manifest) !== undefined : (target.facts.devices ?? 0) > 0;
  if (!holdsGpus) return;
  report({
    severity: 'info',
    message: `cooldownPeriod ${seconds} applies only to scaling to zero, but minReplicaCount is ${lowest}: the HPA removes replicas after 300 s (stabilizationWindowSeconds)`,
    span: keySpanOf(at),
  });
}

/** The idle count in the KEDA settings of another kind, whose minimum is at least 1. */
function checkEmbedded(idle: Cursor | undefined, { document, report }: RuleContext): void {
  const count = asNumber(idle);
  if (idle === undefined || count === undefined || count === 0) return;
  report({
    message: `idleReplicaCount must be 0, not ${count}: KEDA supports no other idle count`,
    span: spanOf(idle),
    fixes: () => [fix('Set idleReplicaCount to 0', 'unsafe', replaceScalar(document, idle, 0))],
  });
}
