import { wordSet } from '../../catalog/word-patterns.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { lookUp } from '../manifest.ts';
import { lowerContainer, lowerContainers, lowerCount, text } from '../pod.ts';
import type { Container, Scaling } from '../workload.ts';
import { hardwareProfile, profileWord } from './hardware-profile.ts';
import type { KindEntry, KindInput, KindLowering, PodSetSource } from './kind.ts';
import { type InheritedRuntime, multiNode } from './kserve-nodes.ts';
import { exactly, unlimitedRetries } from './pod-sets.ts';

/** Most predictors run on CPUs; these words mark those that may use GPUs without naming a resource. */
const words = ['runtime:', 'runtime"', 'workerSpec', 'autoscaling.knative.dev', profileWord];

/**
 * KServe's InferenceService. Scale to zero and defaults:
 * https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/component.go
 */
export const kserveKinds: readonly KindEntry[] = [
  {
    group: 'serving.kserve.io',
    kinds: ['InferenceService'],
    role: 'serving',
    named: true,
    unscalable: true,
    passesAnnotations: true,
    bounds: (root) => entries(getIn(root, 'spec')),
    words,
    lower: lowerInferenceService,
  },
  // The group before KServe 0.7, when it was a part of Kubeflow; v1alpha2 had two endpoints, `default` and `canary`.
  {
    group: 'serving.kubeflow.org',
    kinds: ['InferenceService'],
    role: 'serving',
    unscalable: true,
    words,
    lower: lowerInferenceService,
  },
];

const components = ['predictor', 'transformer', 'explainer'] as const;

/** A predictor names its model server with one of these keys, each of which stands for a container. `model` is the newer, generic one. */
const modelKeys = wordSet(
  'model sklearn xgboost tensorflow pytorch triton onnx huggingface pmml lightgbm paddle mlflow art',
); // prettier-ignore

function lowerInferenceService(object: KindInput): KindLowering {
  const spec = getIn(object.root, 'spec');
  const mode = deploymentMode(object);
  const stable = getIn(spec, 'default') ?? spec;
  const predictor = getIn(stable, 'predictor');
  const lowered: KindLowering = {
    podSets: [
      ...endpointPods(stable, '', mode, object),
      ...endpointPods(getIn(spec, 'canary'), 'canary ', mode, object),
      // Each canary runs in addition to the stable predictor, with its own floor (kserve/kserve@aaac4e29).
      ...items(getIn(spec, 'canaries')).flatMap((canary) =>
        endpointPods(canary, `${asText(getIn(canary, 'name')) ?? 'canary'} `, mode, object),
      ),
    ],
    retries: unlimitedRetries,
    scaling: predictor === undefined ? null : lowerScaling(predictor, mode),
    partial: predictor === undefined,
  };
  return isStopped(object) ? withoutPods(lowered) : lowered;
}

/** Whether an annotation stops a service: KServe deletes its pods until the annotation is gone. */
export function isStopped({ annotations }: KindInput): boolean {
  return lookUp(annotations, 'serving.kserve.io/stop')?.value.toLowerCase() === 'true';
}

/** No pods and no autoscaler. */
export function withoutPods(lowered: KindLowering): KindLowering {
  const podSets = lowered.podSets.map((podSet) => ({ ...podSet, pods: exactly(0) }));
  return { ...lowered, podSets, scaling: null };
}

function endpointPods(
  endpoint: Cursor | undefined,
  prefix: string,
  mode: Mode,
  object: KindInput,
): readonly PodSetSource[] {
  return components.flatMap((name): readonly PodSetSource[] => {
    const component = getIn(endpoint, name);
    if (component === undefined) return [];
    const scaling = lowerScaling(component, mode);
    const runtime = name === 'predictor' ? runtimeOf(component, object) : undefined;
    // What the profile adds takes precedence over the runtime.
    const inheritedPods = (name === 'predictor' ? hardwareProfile(object) : undefined) ?? runtime;
    const served: PodSetSource = {
      name: prefix + name,
      pod: component,
      metadata: component,
      replicas: scaling.min,
      pods: { min: scaling.floor, max: ceiling(component, scaling) },
      containers: componentContainers(component),
      ...(inheritedPods && { inheritedPods }),
    };
    const worker = getIn(component, 'workerSpec');
    if (worker === undefined) return [served];
    // KServe does not scale the head, because it would not scale the workers.
    return multiNode({ ...served, pods: exactly(scaling.floor) }, worker, scaling.floor, runtime);
  });
}

/**
 * The runtime that a predictor names and inherits from. Without a name, KServe selects one of the cluster's runtimes by model format, which is
 * unknown here.
 */
function runtimeOf(component: Cursor, { namespace, crossReferences }: KindInput): InheritedRuntime | undefined {
  const named = getIn(component, 'model', 'runtime');
  const name = asText(named);
  if (named === undefined || name === undefined || isTemplated(named)) return undefined;
  const from = crossReferences.servingRuntime(namespace, name);
  return from && { at: named, from, pods: from.facts };
}

function componentContainers(component: Cursor): readonly Container[] {
  const models = entries(component).filter((entry) => modelKeys.has(keyOf(entry)));
  return [...models.map(modelContainer), ...lowerContainers(component)];
}

/** The container of a model server, whose image is the runtime's with the version that the model may name. */
function modelContainer(model: Cursor): Container {
  const container = lowerContainer(model, 'app', 'kserve-container');
  const tag = text(getIn(model, 'runtimeVersion'));
  return container.image !== undefined || tag === undefined ? container : { ...container, tag };
}

interface Mode {
  readonly mechanism: Scaling['mechanism'];
  readonly from: Scaling['mechanismFrom'];
}

/** Before KServe 0.16, Knative and Standard were named Serverless and RawDeployment. The default is Knative. */
function deploymentMode({ annotations, options }: KindInput): Mode {
  const annotated = lookUp(annotations, 'serving.kserve.io/deploymentMode');
  const name = annotated?.value ?? options.kserve.deploymentMode ?? 'Knative';
  const from = annotated ? 'annotation' : options.kserve.deploymentMode ? 'config' : 'default';
  if (name === 'Knative' || name === 'Serverless') return { mechanism: 'knative', from };
  if (name !== 'Standard' && name !== 'RawDeployment') return { mechanism: 'unknown', from };
  const autoscaler = lookUp(annotations, 'serving.kserve.io/autoscalerClass')?.value ?? 'hpa';
  const mechanism = autoscaler === 'keda' || autoscaler === 'hpa' ? autoscaler : 'none';
  return { mechanism, from };
}

function lowerScaling(component: Cursor, mode: Mode): Scaling {
  // minReplicas overrides a min-scale annotation, so the annotation is ignored.
  const min = getIn(component, 'minReplicas');
  const multiNode = getIn(component, 'workerSpec') !== undefined;
  const mechanism = multiNode ? 'none' : mode.mechanism;
  const floor = lowerCount(min, 1);
  return {
    mechanism,
    mechanismFrom: mode.from,
    min,
    max: getIn(component, 'maxReplicas'),
    owner: component,
    minKey: 'minReplicas',
    // An HPA cannot scale to zero: KServe silently raises the floor to 1.
    floor: mechanism === 'hpa' && floor !== null ? Math.max(floor, 1) : floor,
    canReachZero: mechanism === 'knative' || mechanism === 'keda',
  };
}

/** The ceiling. Unset or 0: unlimited in Knative mode (so unknown), raised to the floor by HPA and KEDA. */
function ceiling(component: Cursor, scaling: Scaling): number | null {
  const max = lowerCount(getIn(component, 'maxReplicas'), 0);
  if (max === null || scaling.floor === null) return null;
  if (max > 0) return Math.max(max, scaling.floor);
  return scaling.mechanism === 'knative' || scaling.mechanism === 'unknown' ? null : scaling.floor;
}
