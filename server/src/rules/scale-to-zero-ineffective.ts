import { targetOf } from '../evidence/scaler-target.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { targetGroup } from '../model/scaled.ts';
import type { Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asNumber, getIn, keySpanOf } from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * A minimum of 0 replicas that never takes effect, because an HPA scales the target.
 *
 * ## Why
 *
 * In Standard mode (RawDeployment before KServe 0.16) an HPA scales the predictor, and an HPA cannot scale to zero: KServe silently
 * raises 0 to 1. The GPU that should be released without traffic stays and costs money. KEDA and Knative mode can scale to zero.
 *
 * A KEDA ScaledObject creates its own HPA. A second HPA on the same target keeps its own minimum of at least 1, and KEDA's webhook
 * rejects the pair. Replicas of 0 in a Deployment turn its HPA off (information).
 *
 * ```yaml invalid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 *   annotations:
 *     serving.kserve.io/deploymentMode: Standard
 * spec:
 *   predictor:
 *     minReplicas: 0
 *     model:
 *       modelFormat: {name: huggingface}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 *   annotations:
 *     serving.kserve.io/deploymentMode: Standard
 *     serving.kserve.io/autoscalerClass: keda
 * spec:
 *   predictor:
 *     minReplicas: 0
 *     model:
 *       modelFormat: {name: huggingface}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: KEDA must be installed and needs a trigger that detects traffic while no pod is running.
 *
 * ## When it is silent
 *
 * In Knative mode, with KEDA, and if neither an annotation nor the config sets the mode.
 *
 * ## Sources
 *
 * - [kserve/kserve#3514](https://github.com/kserve/kserve/issues/3514)
 * - [KServe: the HPA reconciler raises the minimum to 1](https://github.com/kserve/kserve/blob/master/pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go)
 */
export default defineRule({
  topic: 'scale-to-zero',
  severity: 'warning',
  manifest(manifest, context) {
    if (manifest.kind !== 'ScaledObject' || groupOf(manifest.apiVersion) !== 'keda.sh') return;
    const spec = getIn(manifest.root, 'spec');
    const floor = getIn(spec, 'idleReplicaCount') ?? getIn(spec, 'minReplicaCount');
    const place = floor ?? getIn(spec, 'scaleTargetRef');
    if (place === undefined || (floor !== undefined && asNumber(floor) !== 0)) return;
    const target = targetOf(manifest, context.crossReferences);
    if (target === undefined || target.facts.devices === 0) return;
    const { kind, name } = target;
    const group = targetGroup(getIn(spec, 'scaleTargetRef'));
    const scalers = context.crossReferences.scalersOf(group, kind, manifest.namespace, name);
    const other = scalers.find((scaler) => scaler.kind === 'HorizontalPodAutoscaler');
    if (other === undefined || other.facts.min === null) return;
    const where = other.file === null ? '' : ` (${shorten(other.file)})`;
    context.report({
      message: `HorizontalPodAutoscaler ${shorten(other.name)}${where} also scales ${shorten(name)} and keeps at least one replica running`,
      span: keySpanOf(place),
      ...((target.siblingFolder || other.siblingFolder) && { severity: 'info' }),
      saving: target.facts.hourly ?? undefined,
    });
  },
  workload(workload, context) {
    const { kind, scaling, podSets } = workload;
    checkStopped(workload, context);
    if (kind !== 'InferenceService' || scaling === null || scaling.mechanism !== 'hpa') return;
    if (scaling.min === undefined || asNumber(scaling.min) !== 0) return;
    if (!podSets.some(requestsAccelerators)) return;
    const idle = context.costOf(workload).cost?.idleHourly ?? 0;
    context.report({
      message: 'minReplicas 0 has no effect in Standard mode: the HPA keeps one replica and its GPU',
      span: keySpanOf(scaling.min),
      fixes: () => [useKeda(workload, context)],
      saving: idle === 0 ? undefined : idle,
    });
  },
});

/** Reports replicas of 0 next to an HPA. https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation */
function checkStopped(
  { apiVersion, kind, namespace, name, manifest, podSets }: Workload,
  { crossReferences, report }: WorkloadContext,
): void {
  const replicas = getIn(manifest.root, 'spec', 'replicas');
  if (groupOf(apiVersion) !== 'apps' || name === null || replicas === undefined || asNumber(replicas) !== 0) return;
  const [scaler, ...others] = crossReferences.scalersOf('apps', kind, namespace, name);
  if (scaler?.kind !== 'HorizontalPodAutoscaler' || scaler.siblingFolder || others.length > 0) return;
  if (!podSets.some(requestsAccelerators) || crossReferences.mayBePatch()) return;
  report({
    severity: 'info',
    message: `HorizontalPodAutoscaler ${shorten(scaler.name, 40)} is off while replicas is 0: it starts no pod until somebody sets another number`,
    span: keySpanOf(replicas),
  });
}

function useKeda({ manifest }: Workload, { document }: WorkloadContext): Fix | undefined {
  const annotations = getIn(manifest.root, 'metadata', 'annotations');
  const key = 'serving.kserve.io/autoscalerClass';
  const edits = setKey(document, annotations, key, 'keda', { after: 'serving.kserve.io/deploymentMode' });
  return fix(`Set ${key} to keda`, 'unsafe', edits);
}
