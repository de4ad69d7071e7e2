import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import type { Referenced } from '../cross-references.ts';
import { lowerContainer, lowerContainers, lowerCount } from '../pod.ts';
import { objectName } from '../referenced.ts';
import type { TrainingFacts } from '../referenced-pods.ts';
import type { Container } from '../workload.ts';
import { lowerJobSet } from './groups.ts';
import type { KindEntry, KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, fromTemplate, retriesAt, written } from './pod-sets.ts';

const runtime = {
  role: 'definition',
  named: true,
  wholeResources: true,
  processesPerPod: (root: Cursor) => getIn(root, 'spec', 'mlPolicy', 'torch', 'numProcPerNode'),
  launcher: {
    waits: 'launcher',
    words: ['The launcher', 'waits for its workers'],
    works: (root: Cursor) => {
      const mpi = getIn(root, 'spec', 'mlPolicy', 'mpi');
      return mpi === undefined || asBoolean(getIn(mpi, 'runLauncherAsNode')) === true;
    },
  },
} as const;

const trainJob: Omit<KindEntry, 'group'> = {
  kinds: ['TrainJob'],
  role: 'training',
  passesAnnotations: false,
  processesPerPod: (root) => getIn(root, 'spec', 'trainer', 'numProcPerNode'),
  wholeResources: true,
  lower: lowerTrainJob,
};

/** Training jobs, except those of Kubeflow's first operator. */
export const trainingKinds: readonly KindEntry[] = [
  { group: 'trainer.kubeflow.org', ...trainJob },
  // Its group before the first release.
  { group: 'kubeflow.org', ...trainJob },
  {
    group: 'trainer.kubeflow.org',
    kinds: ['TrainingRuntime'],
    ...runtime,
    lower: ({ root }) => lowerTrainingRuntime(getIn(root, 'spec', 'template')),
  },
  {
    group: 'trainer.kubeflow.org',
    kinds: ['ClusterTrainingRuntime'],
    ...runtime,
    cluster: true,
    lower: ({ root }) => lowerTrainingRuntime(getIn(root, 'spec', 'template')),
  },
  {
    group: 'elastic.pytorch.org',
    kinds: ['ElasticJob'],
    words: [],
    role: 'training',
    elasticPolicy: (root) => getIn(root, 'spec'),
    lower: ({ root }) => lowerElasticJob(getIn(root, 'spec')),
  },
  {
    group: 'sagemaker.amazonaws.com',
    kinds: ['HyperPodPyTorchJob'],
    words: [],
    role: 'training',
    processesPerPod: (root) => getIn(root, 'spec', 'nprocPerNode'),
    lower: ({ root }) => lowerHyperPodJob(getIn(root, 'spec')),
  },
  {
    group: 'batch.paddlepaddle.org',
    kinds: ['PaddleJob'],
    words: [],
    role: 'training',
    lower: ({ root }) => lowerPaddleJob(getIn(root, 'spec')),
  },
];

/**
 * numNodes pods with resourcesPerNode each. Everything else is in the runtime and in patches of the runtime's jobs, of which the one named
 * `node` trains. https://github.com/kubeflow/trainer/blob/master/pkg/apis/trainer/v1alpha1/trainjob_types.go
 */
function lowerTrainJob(object: KindInput): KindLowering {
  const spec = getIn(object.root, 'spec');
  const runtime = trainingRuntime(spec, object);
  const trainer = getIn(spec, 'trainer');
  const patch = nodePatch(spec);
  // A job may inherit everything from its runtime.
  const pod = getIn(patch, 'spec') ?? trainer ?? (runtime && getIn(spec, 'runtimeRef'));
  const replicas = getIn(trainer, 'numNodes');
  const source: readonly PodSetSource[] =
    pod === undefined
      ? []
      : [
          {
            name: 'node',
            pod,
            metadata: getIn(patch, 'metadata'),
            replicas,
            // The default is the runtime's number.
            pods: replicas === undefined ? exactly(runtime?.facts.numNodes ?? null) : written(replicas),
            containers: trainerContainers(trainer, getIn(patch, 'spec')),
            ...fromRuntime(runtime, spec, trainer),
          },
        ];
  return { podSets: source, retries: null, scaling: null, partial: true };
}

/** The runtime that a job references; the default kind is ClusterTrainingRuntime. */
function trainingRuntime(
  spec: Cursor | undefined,
  { namespace, crossReferences }: KindInput,
): Referenced<TrainingFacts> | undefined {
  const named = getIn(spec, 'runtimeRef', 'name');
  const kind = asText(getIn(spec, 'runtimeRef', 'kind')) ?? 'ClusterTrainingRuntime';
  if (named === undefined || isTemplated(named)) return undefined;
  if (kind !== 'ClusterTrainingRuntime' && kind !== 'TrainingRuntime') return undefined;
  return crossReferences.trainingRuntime(kind, namespace, asText(named) ?? '');
}

/** What a job inherits from its runtime. The job's own resources replace those of the runtime as a whole. */
function fromRuntime(
  runtime: Referenced<TrainingFacts> | undefined,
  spec: Cursor | undefined,
  trainer: Cursor | undefined,
): Pick<PodSetSource, 'inheritedPods' | 'inherited'> {
  const place = getIn(spec, 'runtimeRef', 'name');
  if (runtime === undefined || place === undefined) return {};
  const isReplaced = getIn(trainer, 'resourcesPerNode') !== undefined;
  const containers = runtime.facts.containers.filter(({ name }) => !isReplaced || !isTrainer(name));
  const pods = { ...runtime.facts, containers };
  const nodes = getIn(trainer, 'numNodes') === undefined;
  return {
    inheritedPods: { at: place, from: runtime, pods },
    ...(nodes && { inherited: [{ fact: 'nodeCount' as const, from: objectName(runtime) }] }),
  };
}

/** Whether a container of a node is the one that trains. */
function isTrainer(name: string): boolean {
  return name === 'node' || name === 'trainer';
}

/** The containers of a node. The trainer's fields describe the training container; a patch may add what they omit. */
function trainerContainers(trainer: Cursor | undefined, patched: Cursor | undefined): readonly Container[] {
  const resources = getIn(trainer, 'resourcesPerNode');
  const patches = patched === undefined ? [] : lowerContainers(patched);
  if (trainer === undefined) return patches;
  const node = lowerContainer(trainer, 'app', 'node', resources);
  const others = patches.filter(({ name }) => !isTrainer(name));
  const same = patches.find(({ name }) => isTrainer(name));
  const source = resources === undefined && same !== undefined ? same : node;
  const { resources: where, accelerators } = source;
  return [{ ...node, resources: where, accelerators, volumeMounts: same?.volumeMounts ?? [] }, ...others];
}

/** The pod template of the training job in the patches. Earlier versions had flat pod overrides under two names. */
function nodePatch(spec: Cursor | undefined): Cursor | undefined {
  for (const patch of items(getIn(spec, 'runtimePatches'))) {
    const jobs = items(getIn(patch, 'trainingRuntimeSpec', 'template', 'spec', 'replicatedJobs'));
    const node = jobs.find((job) => asText(getIn(job, 'name')) === 'node');
    const template = getIn(node, 'template', 'spec', 'template');
    if (template !== undefined) return template;
  }
  const overrides = [...items(getIn(spec, 'podTemplateOverrides')), ...items(getIn(spec, 'podSpecOverrides'))];
  return overrides.find((override) =>
    items(getIn(override, 'targetJobs')).some((job) => asText(getIn(job, 'name')) === 'node'),
  );
}

/** A runtime is an incomplete JobSet; in some files, its template has no `spec`. */
function lowerTrainingRuntime(template: Cursor | undefined): KindLowering {
  return { ...lowerJobSet(getIn(template, 'spec') ?? template), retries: null, partial: true };
}

/** TorchElastic's first operator, which starts `replicas` pods: the bounds only allow other numbers. */
function lowerElasticJob(spec: Cursor | undefined): KindLowering {
  const podSets = entries(getIn(spec, 'replicaSpecs')).flatMap((role) => {
    const replicas = getIn(role, 'replicas');
    return fromTemplate(keyOf(role), getIn(role, 'template'), written(replicas), replicas);
  });
  return { podSets, retries: null, scaling: null, partial: false };
}

/** https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html */
function lowerHyperPodJob(spec: Cursor | undefined): KindLowering {
  const podSets = items(getIn(spec, 'replicaSpecs')).flatMap((role) => {
    const pods = hyperPodPods(role);
    return fromTemplate(asText(getIn(role, 'name')) ?? 'pods', getIn(role, 'template'), pods, getIn(role, 'replicas'));
  });
  return {
    podSets,
    retries: retriesAt(getIn(spec, 'runPolicy', 'jobMaxRetryCount'), 0),
    scaling: null,
    partial: false,
  };
}

/** The pods of a role. Elastic roles grow up to a bound. Spares hold their devices while they wait, so they count. */
function hyperPodPods(role: Cursor): PodCount {
  const declared = lowerCount(getIn(role, 'replicas'), 1);
  const spares = lowerCount(getIn(role, 'spares'), 0);
  const ceiling = getIn(role, 'maxReplicas') === undefined ? declared : lowerCount(getIn(role, 'maxReplicas'), 1);
  if (declared === null || spares === null) return exactly(null);
  return between(declared + spares, ceiling === null ? null : ceiling + spares);
}

/** PaddlePaddle's own operator has a field for each role. */
function lowerPaddleJob(spec: Cursor | undefined): KindLowering {
  const podSets = ['ps', 'worker', 'heter'].flatMap((name) => {
    const role = getIn(spec, name);
    const replicas = getIn(role, 'replicas');
    return fromTemplate(name, getIn(role, 'template'), written(replicas), replicas);
  });
  return { podSets, retries: null, scaling: null, partial: false };
}
