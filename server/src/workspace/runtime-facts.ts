import type { ImplicitDevices } from '../model/implicit-devices.ts';
import { llmReplicas } from '../model/kinds/kserve-llm.ts';
import { lowerManifest } from '../model/lower.ts';
import { defaultModelOptions } from '../model/options.ts';
import { lowerCount } from '../model/pod.ts';
import type {
  LlmConfigFacts,
  LlmRoleFacts,
  PodsFacts,
  ReferencedDevice,
  ReferencedPods,
  TrainingFacts,
  WrittenNumber,
} from '../model/referenced-pods.ts';
import type { Manifest, PodSet } from '../model/workload.ts';
import { type Cursor, getIn } from '../yaml/cursor.ts';
import { seenPods } from './seen-pods.ts';

/** The pods of a runtime; null without a predictor. */
export function servingFacts(manifest: Manifest): { readonly type: 'pods'; readonly facts: PodsFacts } | null {
  const podSets = lowerManifest(manifest, defaultModelOptions)?.podSets ?? [];
  const predictor = podSets.find(({ name }) => name === 'predictor');
  const worker = podSets.find(({ name }) => name === 'worker');
  if (predictor === undefined) return null;
  const size = (key: string) => lowerCount(getIn(manifest.root, 'spec', 'workerSpec', key), 1);
  const sizes = { pipeline: size('pipelineParallelSize'), tensor: size('tensorParallelSize') };
  return {
    type: 'pods',
    facts: { ...podsFacts(predictor), worker: worker === undefined ? null : { ...podsFacts(worker), ...sizes } },
  };
}

/** The two roles of an LLMInferenceServiceConfig. */
export function llmFacts(manifest: Manifest): LlmConfigFacts {
  const podSets = lowerManifest(manifest, defaultModelOptions)?.podSets ?? [];
  const pods = (name: string): ReferencedPods | null => {
    const podSet = podSets.find((one) => one.name === name);
    return podSet === undefined ? null : seenPods(podSet);
  };
  const role = (name: string, roleSpec: Cursor | undefined): LlmRoleFacts | null => {
    if (roleSpec === undefined) return null;
    const number = (key: string): WrittenNumber | null => {
      const value = getIn(roleSpec, 'parallelism', key);
      return value === undefined ? null : { value: lowerCount(value, 1) };
    };
    const counted = getIn(roleSpec, 'replicas') !== undefined || getIn(roleSpec, 'scaling') !== undefined;
    return {
      template: pods(name),
      worker: pods(`${name} worker`),
      replicas: counted ? llmReplicas(roleSpec) : null,
      data: number('data'),
      dataLocal: number('dataLocal'),
      pipeline: number('pipeline'),
    };
  };
  const spec = getIn(manifest.root, 'spec');
  return { decode: role('decode', spec), prefill: role('prefill', getIn(spec, 'prefill')) };
}

/** The training job is named `node`; other jobs fetch data and models. */
export function trainingFacts(manifest: Manifest): { readonly type: 'training'; readonly facts: TrainingFacts } | null {
  const podSets = lowerManifest(manifest, defaultModelOptions)?.podSets ?? [];
  const node = podSets.find(({ name }) => name === 'node');
  if (node === undefined) return null;
  const written = getIn(manifest.root, 'spec', 'mlPolicy', 'numNodes');
  return { type: 'training', facts: { ...podsFacts(node), numNodes: lowerCount(written, 1) } };
}

/** What the pods request and select, without workers. */
function podsFacts(podSet: PodSet): PodsFacts {
  return { ...seenPods(podSet), worker: null };
}

/** Implicit devices as plain values, which can be compared. */
export function seenDevice({
  requested,
  form,
  vendor,
  perPod,
  each,
  all = false,
  between,
  choices,
  profile,
  memoryMiB,
  models = [],
}: ImplicitDevices): ReferencedDevice {
  return {
    ...{ requested, form, vendor, perPod, each },
    all,
    between: between ?? null,
    choices: choices ?? null,
    profile: profile ?? null,
    memoryMiB: memoryMiB ?? null,
    models: models.map(({ id }) => id),
  };
}
