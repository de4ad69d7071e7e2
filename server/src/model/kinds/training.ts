import type { Cursor } from '../../yaml/cursor.ts';
import { asText, at, entries, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { lowerContainer, lowerContainers, lowerCount } from '../pod.ts';
import { type Seen, seenWords, type TrainingFacts } from '../surroundings.ts';
import type { Container } from '../workload.ts';
import { lowerJobSet } from './groups.ts';
import type { KindEntry, KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, fromTemplate, retriesAt, written } from './pod-sets.ts';

/** Training jobs beside those of Kubeflow's first operator. */
export const trainingKinds: readonly KindEntry[] = [
  {
    group: 'trainer.kubeflow.org',
    kinds: ['TrainJob'],
    role: 'training',
    lower: lowerTrainJob,
  },
  {
    group: 'trainer.kubeflow.org',
    kinds: ['TrainingRuntime', 'ClusterTrainingRuntime'],
    role: 'definition',
    lower: ({ root }) => lowerTrainingRuntime(at(root, 'spec', 'template')),
  },
  {
    group: 'elastic.pytorch.org',
    kinds: ['ElasticJob'],
    role: 'training',
    lower: ({ root }) => lowerElasticJob(at(root, 'spec')),
  },
  {
    group: 'sagemaker.amazonaws.com',
    kinds: ['HyperPodPyTorchJob'],
    role: 'training',
    lower: ({ root }) => lowerHyperPodJob(at(root, 'spec')),
  },
  {
    group: 'batch.paddlepaddle.org',
    kinds: ['PaddleJob'],
    role: 'training',
    lower: ({ root }) => lowerPaddleJob(at(root, 'spec')),
  },
];

/**
 * numNodes pods of resourcesPerNode each. All else is in the runtime, and in patches of the runtime's jobs, of which the one named
 * `node` trains. https://github.com/kubeflow/trainer/blob/master/pkg/apis/trainer/v1alpha1/trainjob_types.go
 */
function lowerTrainJob(object: KindInput): KindLowering {
  const spec = at(object.root, 'spec');
  const runtime = trainingRuntime(spec, object);
  const trainer = at(spec, 'trainer');
  const patch = nodePatch(spec);
  // A job may leave all to its runtime.
  const pod = at(patch, 'spec') ?? trainer ?? (runtime && at(spec, 'runtimeRef'));
  const replicas = at(trainer, 'numNodes');
  const source: readonly PodSetSource[] =
    pod === undefined
      ? []
      : [
          {
            name: 'node',
            pod,
            metadata: at(patch, 'metadata'),
            replicas,
            // Without a number the runtime tells it.
            pods: replicas === undefined ? exactly(runtime?.facts.numNodes ?? null) : written(replicas),
            containers: trainerContainers(trainer, at(patch, 'spec')),
            ...fromRuntime(runtime, spec, trainer),
          },
        ];
  return { podSets: source, retries: null, scaling: null, partial: true };
}

/** Names without a kind are those of runtimes of the cluster. */
function trainingRuntime(
  spec: Cursor | undefined,
  { namespace, surroundings }: KindInput,
): Seen<TrainingFacts> | undefined {
  const named = at(spec, 'runtimeRef', 'name');
  const kind = asText(at(spec, 'runtimeRef', 'kind')) ?? 'ClusterTrainingRuntime';
  if (named === undefined || isTemplated(named)) return undefined;
  if (kind !== 'ClusterTrainingRuntime' && kind !== 'TrainingRuntime') return undefined;
  return surroundings.trainingRuntime(kind, namespace, asText(named) ?? '');
}

/** Resources that the job writes replace those of its runtime as a whole. */
function fromRuntime(
  runtime: Seen<TrainingFacts> | undefined,
  spec: Cursor | undefined,
  trainer: Cursor | undefined,
): Pick<PodSetSource, 'borrowed' | 'told'> {
  const at_ = at(spec, 'runtimeRef', 'name');
  if (runtime === undefined || at_ === undefined) return {};
  const { containers, selectors } = runtime.facts;
  const pods = { containers: at(trainer, 'resourcesPerNode') === undefined ? containers : [], selectors };
  const nodes = at(trainer, 'numNodes') === undefined;
  return {
    borrowed: { at: at_, from: runtime, pods },
    ...(nodes && { told: [`Node count from ${seenWords(runtime)}`] }),
  };
}

/** The trainer's fields stand for those of the container that trains; what it does not say, a patch may. */
function trainerContainers(trainer: Cursor | undefined, patched: Cursor | undefined): readonly Container[] {
  const resources = at(trainer, 'resourcesPerNode');
  const patches = patched === undefined ? [] : lowerContainers(patched);
  if (trainer === undefined) return patches;
  const node = lowerContainer(trainer, 'app', 'node', resources);
  const others = patches.filter(({ name }) => name !== 'node' && name !== 'trainer');
  const same = patches.find(({ name }) => name === 'node' || name === 'trainer');
  const asks = resources === undefined && same !== undefined ? same : node;
  const { resources: where, accelerators } = asks;
  return [{ ...node, resources: where, accelerators, volumeMounts: same?.volumeMounts ?? [] }, ...others];
}

/** The pod template of the training job in the patches. Earlier versions had flat overrides of pods under two names. */
function nodePatch(spec: Cursor | undefined): Cursor | undefined {
  for (const patch of items(at(spec, 'runtimePatches'))) {
    const jobs = items(at(patch, 'trainingRuntimeSpec', 'template', 'spec', 'replicatedJobs'));
    const node = jobs.find((job) => asText(at(job, 'name')) === 'node');
    const template = at(node, 'template', 'spec', 'template');
    if (template !== undefined) return template;
  }
  const overrides = [...items(at(spec, 'podTemplateOverrides')), ...items(at(spec, 'podSpecOverrides'))];
  return overrides.find((override) =>
    items(at(override, 'targetJobs')).some((job) => asText(at(job, 'name')) === 'node'),
  );
}

/** A runtime is a JobSet with holes; some texts leave out the `spec` of its template. */
function lowerTrainingRuntime(template: Cursor | undefined): KindLowering {
  return { ...lowerJobSet(at(template, 'spec') ?? template), retries: null, partial: true };
}

/** TorchElastic's first operator. */
function lowerElasticJob(spec: Cursor | undefined): KindLowering {
  const podSets = entries(at(spec, 'replicaSpecs')).flatMap((role) => {
    const declared = lowerCount(at(role, 'replicas'), 1);
    const bound = (key: string) => lowerCount(at(spec, key), declared ?? 1);
    const pods = declared === null ? exactly(null) : between(bound('minReplicas'), bound('maxReplicas'));
    return fromTemplate(keyOf(role), at(role, 'template'), pods, at(role, 'replicas'));
  });
  return { podSets, retries: null, scaling: null, partial: false };
}

/** https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html */
function lowerHyperPodJob(spec: Cursor | undefined): KindLowering {
  const podSets = items(at(spec, 'replicaSpecs')).flatMap((role) => {
    const pods = hyperPodPods(role);
    return fromTemplate(asText(at(role, 'name')) ?? 'pods', at(role, 'template'), pods, at(role, 'replicas'));
  });
  return {
    podSets,
    retries: retriesAt(at(spec, 'runPolicy', 'jobMaxRetryCount'), 0),
    scaling: null,
    partial: false,
  };
}

/** Elastic roles grow to a bound. Spares wait beside the others with their devices, so they count. */
function hyperPodPods(role: Cursor): PodCount {
  const declared = lowerCount(at(role, 'replicas'), 1);
  const spares = lowerCount(at(role, 'spares'), 0);
  const most = at(role, 'maxReplicas') === undefined ? declared : lowerCount(at(role, 'maxReplicas'), 1);
  if (declared === null || spares === null) return exactly(null);
  return between(declared + spares, most === null ? null : most + spares);
}

/** PaddlePaddle's own operator, with a field for each role. */
function lowerPaddleJob(spec: Cursor | undefined): KindLowering {
  const podSets = ['ps', 'worker', 'heter'].flatMap((name) => {
    const role = at(spec, name);
    const replicas = at(role, 'replicas');
    return fromTemplate(name, at(role, 'template'), written(replicas), replicas);
  });
  return { podSets, retries: null, scaling: null, partial: false };
}
