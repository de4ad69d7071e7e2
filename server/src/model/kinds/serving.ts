import { gpusByLabel, gpusMentioned } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, isTemplated } from '../../yaml/cursor.ts';
import { table } from '../../yaml/table.ts';
import { countIn } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lookUp, lowerStrings } from '../manifest.ts';
import { lowerContainer, lowerCount, text } from '../pod.ts';
import { vllmFlagsOf } from '../vllm-settings.ts';
import type { Container, Scaling } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { plainGpus } from './nvidia.ts';
import { between, exactly, fromTemplate, unlimitedRetries, written } from './pod-sets.ts';

/** Knative Services, and model servers of individual projects. */
export const servingKinds: readonly KindEntry[] = [
  {
    group: 'serving.knative.dev',
    kinds: ['Service'],
    role: 'serving',
    unscalable: true,
    lower: ({ root }) => lowerKnative(root),
  },
  {
    group: 'kubeai.org',
    kinds: ['Model'],
    role: 'serving',
    // Its definition has this rule. https://github.com/kubeai-project/kubeai/blob/main/api/k8s/v1/model_types.go
    bounds: (root) => [getIn(root, 'spec')],
    lower: ({ root }) => {
      const spec = getIn(root, 'spec');
      if (spec === undefined) return { ...rest, podSets: [], partial: true };
      return { ...rest, podSets: [kubeAiServer(spec)], scaling: kubeAiScaling(spec) };
    },
  },
  {
    group: 'production-stack.vllm.ai',
    kinds: ['VLLMRuntime'],
    words: [],
    role: 'serving',
    lower: ({ root }) => lowerVllmRuntime(getIn(root, 'spec')),
  },
];

const rest = { retries: unlimitedRetries, scaling: null, partial: false } as const;

/** The template's annotations set the bounds; without them, a service scales from 0 without an upper limit. https://knative.dev/docs/serving/autoscaling/scale-bounds/ */
function lowerKnative(root: Cursor): KindLowering {
  const template = getIn(root, 'spec', 'template');
  const map = getIn(template, 'metadata', 'annotations');
  const annotations = lowerStrings(map);
  const bound = (name: string, old: string) =>
    (lookUp(annotations, `autoscaling.knative.dev/${name}`) ?? lookUp(annotations, `autoscaling.knative.dev/${old}`))
      ?.at;
  const min = bound('min-scale', 'minScale');
  const max = bound('max-scale', 'maxScale');
  const floor = numberIn(min, 0);
  const ceiling = numberIn(max, 0);
  const scaling: Scaling | null =
    template === undefined
      ? null
      : {
          mechanism: 'knative',
          // The kind itself is Knative's, so the mechanism is not a default.
          mechanismFrom: 'annotation',
          min,
          max,
          owner: template,
          minKey: 'autoscaling.knative.dev/min-scale',
          floor,
          canReachZero: true,
        };
  const pods = between(floor, ceiling === 0 ? null : ceiling);
  return { ...rest, podSets: fromTemplate('revision', template, pods, min), scaling, partial: template === undefined };
}

/** The number in an annotation, which is a string. */
function numberIn(cursor: Cursor | undefined, unset: number): number | null {
  if (cursor === undefined) return unset;
  return isTemplated(cursor) ? null : countIn(asText(cursor));
}

/**
 * The pods of a Model of KubeAI. A profile in the chart's values determines the devices; the profiles that ship with the chart are known by name. The floor is 0.
 * https://github.com/kubeai-project/kubeai/blob/main/charts/kubeai/values.yaml
 */
export function kubeAiServer(spec: Cursor): PodSetSource {
  const profile = getIn(spec, 'resourceProfile');
  const fixed = asBoolean(getIn(spec, 'autoscalingDisabled')) === true;
  const replicas = fixed ? getIn(spec, 'replicas') : getIn(spec, 'minReplicas');
  const max = getIn(spec, 'maxReplicas');
  const pods = fixed
    ? written(replicas)
    : between(lowerCount(replicas, 0), max === undefined ? null : lowerCount(max, 0));
  const implicitDevices = profile === undefined ? [] : profileDevices(profile);
  const containers = [lowerContainer(spec, 'app', 'server')];
  return { name: 'server', pod: spec, metadata: spec, replicas, pods, containers, implicitDevices };
}

/** KubeAI's proxy holds requests while the first replica starts. https://www.kubeai.org/how-to/configure-autoscaling/ */
function kubeAiScaling(spec: Cursor): Scaling | null {
  const [min, max] = [getIn(spec, 'minReplicas'), getIn(spec, 'maxReplicas')];
  if (asBoolean(getIn(spec, 'autoscalingDisabled')) === true || min === undefined) return null;
  const floor = lowerCount(min, 0);
  const names = { mechanism: 'kubeai', mechanismFrom: 'default', minKey: 'minReplicas' } as const;
  return { ...names, min, max, owner: spec, floor, canReachZero: true };
}

function profileDevices(profile: Cursor): readonly ImplicitDevices[] {
  const [name = '', times = '1'] = (asText(profile) ?? '').split(':');
  const count = isTemplated(profile) ? null : countIn(times);
  if (/^cpu\b/.test(name)) return [];
  const base = {
    requested: { kind: 'field', system: 'kubeai', name: 'resourceProfile' },
    at: profile,
    form: 'whole',
    perPod: count,
    modelFrom: 'resource-name',
  } as const;
  const tpu = /^google-tpu-(v\w+)-(\d+)x(\d+)(?:x(\d+))?$/.exec(name);
  if (tpu !== null) {
    const chips = Number(tpu[2]) * Number(tpu[3]) * Number(tpu[4] ?? 1);
    const models = gpusByLabel('cloud.google.com/gke-tpu-accelerator', tpuLabels[tpu[1] ?? ''] ?? '');
    return [{ ...base, vendor: 'google', each: chips, models }];
  }
  const vendor = name.startsWith('nvidia-gpu-') ? 'nvidia' : name.startsWith('amd-gpu-') ? 'amd' : null;
  // A custom profile may take any number of the cards after which it is called.
  if (vendor === null) {
    const named = gpusMentioned(name);
    return [{ ...base, vendor: named[0]?.vendor ?? null, each: null, ...(named.length > 0 && { models: named }) }];
  }
  const models = gpusMentioned(name).filter((model) => model.vendor === vendor);
  return [{ ...base, vendor, each: 1, models }];
}

const tpuLabels = table<string>({ v5e: 'tpu-v5-lite-podslice', v6e: 'tpu-v6e-slice' });

/** Resources have plain names, as with the Dynamo operator. https://github.com/vllm-project/production-stack/tree/main/operator */
function lowerVllmRuntime(spec: Cursor | undefined): KindLowering {
  // In the first version, the deployment's fields were directly in the spec.
  const deployment = getIn(spec, 'deploymentConfig') ?? spec;
  if (deployment === undefined) return { ...rest, podSets: [], partial: true };
  const resources = getIn(deployment, 'resources');
  const gpus = getIn(resources, 'gpu');
  const image = text(getIn(deployment, 'image', 'name'));
  const podSet = {
    name: 'runtime',
    pod: deployment,
    metadata: undefined,
    replicas: getIn(deployment, 'replicas'),
    pods: vllmPods(spec, deployment),
    containers: [{ ...lowerContainer(deployment, 'app', 'vllm'), image, ...vllmRuntimeModel(spec) }],
    implicitDevices: gpus === undefined ? [] : [plainGpus(gpus, getIn(resources, 'gpuType'))],
  };
  return { ...rest, podSets: [podSet] };
}

/** The operator starts `vllm serve` with the model, which it downloads to the claim that it creates. */
function vllmRuntimeModel(spec: Cursor | undefined): Partial<Container> {
  const model = text(getIn(spec, 'model', 'modelURL'));
  if (model === undefined) return {};
  const { at } = model;
  const size = getIn(spec, 'storageConfig', 'size');
  const stores = asBoolean(getIn(spec, 'storageConfig', 'enabled')) === true && size !== undefined;
  const flags = [getIn(spec, 'model'), getIn(spec, 'vllmConfig')].flatMap(vllmFlagsOf);
  const command = [{ value: 'vllm', at }, { value: 'serve', at }, model, ...flags];
  return { command, ...(stores && { modelStorage: size }) };
}

function vllmPods(spec: Cursor | undefined, deployment: Cursor): PodCount {
  const scaling = getIn(spec, 'autoscalingConfig');
  if (asBoolean(getIn(scaling, 'enabled')) !== true) return written(getIn(deployment, 'replicas'));
  const max = getIn(scaling, 'maxReplicas');
  const min = lowerCount(getIn(scaling, 'minReplicas'), 1);
  return min === null ? exactly(null) : between(min, max === undefined ? null : lowerCount(max, 1));
}
