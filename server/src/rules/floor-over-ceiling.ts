import { wordSet } from '../catalog/word-patterns.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { llmConfigs, serveDeployments } from '../evidence/serve-deployments.ts';
import { valuesScaler } from '../evidence/values-scaler.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext, type WorkloadContext } from './rule.ts';

/**
 * The minimum of a scaler is above its maximum, it may not scale one way, or Ray Serve has a number of replicas next to an autoscaler.
 *
 * ## Why
 *
 * No number of replicas satisfies both bounds. The API server, a webhook or the controller rejects the object. Ray Serve rejects
 * `num_replicas: 2` next to `autoscaling_config`, where only `auto` is allowed, and ignores fields of the deployment inside it
 * (`max_ongoing_requests`). With `selectPolicy: Disabled` under `scaleUp`, a HorizontalPodAutoscaler never adds a replica (warning);
 * under `scaleDown`, the replicas of one peak keep their GPUs (information). KEDA rejects a maximum of 0: it pauses a target by an annotation.
 *
 * ```yaml invalid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     minReplicas: 4
 *     maxReplicas: 2
 *     model:
 *       modelFormat: {name: huggingface}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     minReplicas: 2
 *     maxReplicas: 4
 *     model:
 *       modelFormat: {name: huggingface}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If a bound is missing or templated, for a disabled direction of targets without GPUs or in other projects, for a maximum of 0 in KServe, which means
 * no maximum, and for that of a paused ScaledObject.
 *
 * ## Sources
 *
 * - [KServe: validation of the bounds](https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/component.go)
 * - [Kubernetes: HorizontalPodAutoscaler](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/)
 * - [Kubernetes: disable scale down](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#example-disable-scale-down)
 * - [ray-project/ray#25178: num_replicas next to autoscaling_config](https://github.com/ray-project/ray/issues/25178)
 * - [KEDA: pausing](https://keda.sh/docs/latest/concepts/scaling-deployments/#pausing-autoscaling)
 * - [KubeRay: number of workers](https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/util.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'error',
  manifest(manifest, context) {
    checkDirections(manifest, context);
    checkNone(manifest, context);
    for (const { min, max, zeroIsUnlimited, isRay } of boundsOf(manifest)) {
      const floor = asNumber(min);
      const ceiling = asNumber(max);
      if (min === undefined || max === undefined || floor === undefined || ceiling === undefined) continue;
      if (floor <= ceiling || (zeroIsUnlimited && ceiling === 0)) continue;
      const effect = isRay ? `KubeRay starts only ${ceiling}` : 'the API server or the operator rejects the object';
      context.report({
        severity: isRay ? 'warning' : 'error',
        message: `${keyOf(min)} ${floor} is above ${keyOf(max)} ${ceiling}: ${effect}`,
        span: spanOf(min),
      });
    }
  },
  workload(workload, context) {
    const { manifest, scaling, kind, apiVersion } = workload;
    checkValues(valuesScaler(workload), context);
    if (kind === 'RayService') checkServe(manifest, context);
    // A group of Ray's workers in values has the bounds itself.
    if (isValues(workload)) for (const { pod } of workload.podSets) checkBounds(pod, context, 6);
    if (workload.byShape) checkBounds(getIn(manifest.root, 'spec'), context, 0);
    const floor = asNumber(scaling?.min);
    const ceiling = asNumber(scaling?.max);
    if (scaling?.min === undefined || scaling.max === undefined || floor === undefined || ceiling === undefined) return;
    const { bounds, rayCluster } = kindOf({ kind, apiVersion });
    // The manifest of these has been checked, and rules about annotations check the others.
    if (bounds !== undefined || rayCluster !== undefined || scaling.mechanism === 'knative') return;
    if (floor <= ceiling || ceiling === 0 || groupOf(manifest.apiVersion) === 'keda.sh') return;
    const isHpa = scaling.mechanism === 'hpa';
    context.report({
      severity: isHpa ? 'error' : 'warning',
      message: `${keyOf(scaling.min)} ${floor} is above ${keyOf(scaling.max)} ${ceiling}: ${isHpa ? 'the API server rejects the HPA that the operator creates' : 'no number of replicas satisfies both'}`,
      span: spanOf(scaling.min),
    });
  },
});

/**
 * Reports a ScaledObject without any replicas. Its HPA cannot have fewer than one, and KEDA compares the maximum with that.
 * https://github.com/kedacore/keda/issues/5570
 */
function checkNone(manifest: Manifest, { crossReferences, report }: RuleContext): void {
  const { root, kind, apiVersion, annotations } = manifest;
  const max = getIn(root, 'spec', 'maxReplicaCount');
  if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh' || max === undefined || isUnseen(max)) return;
  const isPaused = annotations.some(({ at }) => keyOf(at).startsWith('autoscaling.keda.sh/paused'));
  // A minimum above it is reported below.
  if (asNumber(max) !== 0 || isPaused || (asNumber(getIn(root, 'spec', 'minReplicaCount')) ?? 0) > 0) return;
  if (targetOf(manifest, crossReferences)?.facts.devices === 0) return;
  report({
    message:
      'maxReplicaCount must be at least 1, not 0: KEDA rejects the ScaledObject; to stop all pods, set autoscaling.keda.sh/paused-replicas to 0',
    span: spanOf(max),
  });
}

/** Reports an autoscaler of a GPU server that may never add pods, or never remove them. */
function checkDirections(manifest: Manifest, { crossReferences, report }: RuleContext): void {
  const spec = getIn(manifest.root, 'spec');
  const key = `${groupOf(manifest.apiVersion)}/${manifest.kind}`;
  const behavior =
    key === 'autoscaling/HorizontalPodAutoscaler'
      ? getIn(spec, 'behavior')
      : key === 'keda.sh/ScaledObject'
        ? getIn(spec, 'advanced', 'horizontalPodAutoscalerConfig', 'behavior')
        : undefined;
  for (const direction of ['scaleUp', 'scaleDown']) {
    const at = getIn(behavior, direction, 'selectPolicy');
    if (at === undefined || isUnseen(at) || asText(at) !== 'Disabled') continue;
    const target = targetOf(manifest, crossReferences);
    if (target === undefined || (target.facts.devices ?? 0) === 0) continue;
    const isUp = direction === 'scaleUp';
    report({
      severity: isUp ? 'warning' : 'info',
      message: isUp
        ? `scaleUp is disabled: the autoscaler never adds a replica to ${shorten(target.name, 40)}, whatever its load`
        : `scaleDown is disabled: every replica that a peak adds to ${shorten(target.name, 40)} keeps its GPUs until someone removes it`,
      span: spanOf(at),
    });
  }
}

/** The bounds of Ray Serve's deployments. https://docs.ray.io/en/latest/serve/autoscaling-guide.html */
function checkServe({ root }: Manifest, context: WorkloadContext): void {
  const models = llmConfigs(root, context.document).flatMap((config) => getIn(config, 'deployment_config') ?? []);
  for (const deployment of [...serveDeployments(root, context.document), ...models]) {
    const [scaling, replicas] = [getIn(deployment, 'autoscaling_config'), getIn(deployment, 'num_replicas')];
    if (scaling?.node.kind === 'map' && replicas !== undefined && asNumber(replicas) !== undefined)
      context.report({
        message: `num_replicas must be auto next to autoscaling_config, not ${asNumber(replicas)}: Ray Serve rejects the config`,
        span: spanOf(replicas),
      });
    checkPair(scaling, ['min_replicas', 'max_replicas'], 'Ray Serve rejects the config', context);
    for (const field of isIncomplete(scaling) ? [] : entries(scaling)) {
      if (!ofDeployments.has(keyOf(field))) continue;
      context.report({
        severity: 'warning',
        message: `${keyOf(field)} is a field of the deployment, not of autoscaling_config: Ray Serve ignores it here`,
        span: keySpanOf(field),
      });
    }
  }
}

/** https://docs.ray.io/en/latest/serve/api/doc/ray.serve.schema.DeploymentSchema.html */
const ofDeployments = wordSet('max_ongoing_requests max_queued_requests num_replicas ray_actor_options user_config');

function checkPair(
  block: Cursor | undefined,
  keys: readonly [string, string],
  effect: string,
  { report }: WorkloadContext,
): void {
  const [min, max] = keys.map((key) => getIn(block, key));
  const [floor, ceiling] = [asNumber(min), asNumber(max)];
  if (min === undefined || floor === undefined || ceiling === undefined || floor <= ceiling) return;
  report({ message: `${keys[0]} ${floor} is above ${keys[1]} ${ceiling}: ${effect}`, span: spanOf(min) });
}

/** Charts pass the bounds of their values to an HPA. */
function checkValues(scaler: Cursor | undefined, context: WorkloadContext): void {
  checkPair(scaler, ['minReplicas', 'maxReplicas'], 'the API server rejects the HPA that the chart creates', context);
}

/** The bounds in any mapping of an unknown kind. */
function checkBounds(at: Cursor | undefined, context: WorkloadContext, depth: number): void {
  if (at === undefined) return;
  const { min, max } = replicas(at, false);
  const [floor, ceiling] = [asNumber(min), asNumber(max)];
  if (min !== undefined && floor !== undefined && ceiling !== undefined && floor > ceiling && ceiling > 0) {
    const message = `minReplicas ${floor} is above maxReplicas ${ceiling}: no number of replicas satisfies both`;
    context.report({ severity: 'warning', message, span: spanOf(min) });
  }
  if (depth < 5) for (const child of [...entries(at), ...items(at)]) checkBounds(child, context, depth + 1);
}

interface Bounds {
  readonly min: Cursor | undefined;
  readonly max: Cursor | undefined;
  readonly zeroIsUnlimited: boolean;
  /** KubeRay accepts such bounds, and the maximum applies. */
  readonly isRay?: true;
}

function boundsOf({ root, kind, apiVersion }: Manifest): readonly Bounds[] {
  const spec = getIn(root, 'spec');
  switch (`${groupOf(apiVersion)}/${kind}`) {
    case 'autoscaling/HorizontalPodAutoscaler':
      return [replicas(spec, false)];
    case 'keda.sh/ScaledObject':
      return [{ min: getIn(spec, 'minReplicaCount'), max: getIn(spec, 'maxReplicaCount'), zeroIsUnlimited: false }];
    case 'eksctl.io/ClusterConfig':
      return ['nodeGroups', 'managedNodeGroups']
        .flatMap((key) => items(getIn(root, key)))
        .flatMap((group) => {
          const [min, max, desired] = ['minSize', 'maxSize', 'desiredCapacity'].map((key) => getIn(group, key));
          // The size at first is between them.
          const pairs = [
            [min, max],
            [desired, max],
            [min, desired],
          ] as const;
          const isEmpty = (asNumber(min) ?? 0) > (asNumber(max) ?? Number.POSITIVE_INFINITY);
          return pairs
            .slice(0, isEmpty ? 1 : 3)
            .map(([low, high]) => ({ min: low, max: high, zeroIsUnlimited: false }));
        });
    default: {
      const { bounds, rayCluster } = kindOf({ kind, apiVersion });
      const zeroIsUnlimited = kind === 'InferenceService';
      return [
        ...(bounds?.(root).map((owner) => replicas(owner, zeroIsUnlimited)) ?? []),
        ...groups(rayCluster?.(root)),
      ];
    }
  }
}

function replicas(owner: Cursor | undefined, zeroIsUnlimited: boolean): Bounds {
  return { min: getIn(owner, 'minReplicas'), max: getIn(owner, 'maxReplicas'), zeroIsUnlimited };
}

function groups(cluster: Cursor | undefined): readonly Bounds[] {
  return items(getIn(cluster, 'workerGroupSpecs')).map((group) => ({ ...replicas(group, false), isRay: true }));
}
