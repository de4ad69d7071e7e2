import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isIncomplete, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { lookUp } from '../manifest.ts';
import { lowerCount } from '../pod.ts';
import { byName } from '../requested-resource.ts';
import type { Retries } from '../workload.ts';
import { hardwareProfile, profileWord } from './hardware-profile.ts';
import type { KindEntry, KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { roleAddresses } from './pod-addresses.ts';
import { between, exactly, fromTemplate, retriesAt, unlimitedRetries, written } from './pod-sets.ts';

/**
 * The jobs of the Kubeflow training operator, which differ only in the name of one field, and Kubeflow's notebooks.
 * https://github.com/kubeflow/trainer/tree/v1.9.4/pkg/apis/kubeflow.org/v1
 */
export const kubeflowKinds: readonly KindEntry[] = [
  trainingJob('PyTorchJob', 'pytorchReplicaSpecs', 'OnFailure', {
    gang: 'object',
    container: 'pytorch',
    processesPerPod: (root) =>
      getIn(root, 'spec', 'nprocPerNode') ?? getIn(root, 'spec', 'elasticPolicy', 'nProcPerNode'),
  }),
  trainingJob('PaddleJob', 'paddleReplicaSpecs', 'OnFailure', { container: 'paddle' }),
  trainingJob('TFJob', 'tfReplicaSpecs', 'Never', {
    container: 'tensorflow',
    // https://www.tensorflow.org/tutorials/distribute/parameter_server_training
    launcher: { waits: 'PS', words: ['The parameter server', 'stores variables'], works: () => false },
  }),
  trainingJob('XGBoostJob', 'xgbReplicaSpecs', 'Never', { container: 'xgboost', keepsState: true }),
  trainingJob('JAXJob', 'jaxReplicaSpecs', 'Never', { container: 'jax' }),
  trainingJob('MPIJob', 'mpiReplicaSpecs', 'Never', {
    launcher: {
      waits: 'Launcher',
      words: ['The launcher', 'waits for its workers'],
      works: (root) => asBoolean(getIn(root, 'spec', 'runLauncherAsWorker')) === true,
      driven: 'Worker',
    },
  }),
  {
    group: 'kubeflow.org',
    kinds: ['Notebook'],
    role: 'interactive',
    passesAnnotations: true,
    words: [profileWord],
    lower: lowerNotebook,
  },
];

function trainingJob(
  kind: string,
  field: string,
  restartDefault: string,
  facts: Omit<Partial<KindEntry>, 'lower'>,
): KindEntry {
  return {
    group: 'kubeflow.org',
    kinds: [kind],
    role: 'training',
    roleRestarts: restartDefault,
    elasticPolicy: (root) => getIn(root, 'spec', 'elasticPolicy'),
    addresses: (root, name) => roleAddresses(getIn(root, 'spec', field), name),
    bounds: (root) => [getIn(root, 'spec', 'elasticPolicy')],
    passesAnnotations: false,
    ...facts,
    lower: ({ root, apiVersion }) => {
      const spec = getIn(root, 'spec');
      const first = firstVersions(spec);
      if (first !== undefined) return first;
      // The first MPI operators with roles ran no workers by default.
      const workers = kind === 'MPIJob' && !apiVersion.endsWith('/v2beta1') ? 0 : 1;
      return lowerTrainingJob(spec, field, restartDefault, workers);
    },
  };
}

function lowerTrainingJob(
  spec: Cursor | undefined,
  field: string,
  restartDefault: string,
  workers: number,
): KindLowering {
  const roles = entries(getIn(spec, field));
  const podSets = roles.flatMap((role) => {
    const unset = keyOf(role) === 'Worker' ? workers : 1;
    const pods = podsOf(spec, role, unset);
    // It replaces that of the pod.
    const restartPolicy = getIn(role, 'restartPolicy');
    return fromTemplate(keyOf(role), getIn(role, 'template'), pods, getIn(role, 'replicas')).map((podSet) =>
      restartPolicy === undefined ? podSet : { ...podSet, restartPolicy },
    );
  });
  return { podSets, retries: retriesOf(spec, roles, restartDefault), scaling: null, partial: false };
}

/** v1alpha1: MPIJob had one template for all its pods, PyTorchJob and TFJob a list of roles. */
function firstVersions(spec: Cursor | undefined): KindLowering | undefined {
  const listed = items(getIn(spec, 'replicaSpecs'));
  const template = getIn(spec, 'template');
  const rest = { retries: null, scaling: null, partial: false } as const;
  if (listed.length > 0) {
    const podSets = listed.flatMap((role) => {
      const name = asText(getIn(role, 'replicaType')) ?? asText(getIn(role, 'tfReplicaType')) ?? 'worker';
      return fromTemplate(name, getIn(role, 'template'), written(getIn(role, 'replicas')), getIn(role, 'replicas'));
    });
    return { ...rest, podSets };
  }
  if (template === undefined) return undefined;
  const replicas = getIn(spec, 'replicas');
  const gpus = getIn(spec, 'gpus') ?? getIn(spec, 'processingUnits');
  if (gpus === undefined) return { ...rest, podSets: fromTemplate('Worker', template, written(replicas), replicas) };
  // The operator spread the GPUs over as few nodes as its GPUs-per-node setting allowed: only the total is known.
  const all = { requested: byName('nvidia.com/gpu'), form: 'whole', vendor: 'nvidia', each: 1 } as const;
  const implicitDevices = [{ ...all, at: gpus, perPod: lowerCount(gpus, 0) }];
  return {
    ...rest,
    podSets: fromTemplate('Worker', template, exactly(1), gpus).map((set) => ({ ...set, implicitDevices })),
  };
}

/**
 * The pods of a role. The bounds of an elastic job only allow other numbers: the operator starts `replicas`, and creates an autoscaler only for
 * `metrics`. https://github.com/kubeflow/trainer/blob/v1.9.4/pkg/controller.v1/pytorch/hpa.go
 */
function podsOf(spec: Cursor | undefined, role: Cursor, unset: number): PodCount {
  const count = lowerCount(getIn(role, 'replicas'), unset);
  const elastic = getIn(spec, 'elasticPolicy');
  if (elastic === undefined || keyOf(role) !== 'Worker') return exactly(count);
  if (!hasMetric(getIn(elastic, 'metrics'), getIn(role, 'template', 'spec'))) return exactly(count);
  const bound = (key: string) => (getIn(elastic, key) === undefined ? count : lowerCount(getIn(elastic, key), 1));
  return between(bound('minReplicas'), bound('maxReplicas'));
}

/** Whether one of an autoscaler's metrics can have a value: a resource is CPU or memory, and a share of it needs a request. */
function hasMetric(metrics: Cursor | undefined, pod: Cursor | undefined): boolean {
  if (isTemplated(metrics)) return true;
  return items(metrics).some((metric) => {
    const resource = getIn(metric, 'resource') ?? getIn(metric, 'containerResource');
    if (resource === undefined) return true;
    const name = asText(getIn(resource, 'name')) ?? '';
    if (name !== 'cpu' && name !== 'memory') return isTemplated(getIn(resource, 'name'));
    if (asText(getIn(resource, 'target', 'type')) !== 'Utilization') return true;
    return items(getIn(pod, 'containers')).every((container) =>
      ['requests', 'limits'].some((part) => {
        const amounts = getIn(container, 'resources', part);
        return isIncomplete(amounts) || getIn(amounts, name) !== undefined;
      }),
    );
  });
}

/** Each role restarts by its own policy, within the job's backoffLimit if there is one; the strictest role decides. */
function retriesOf(spec: Cursor | undefined, roles: readonly Cursor[], restartDefault: string): Retries | null {
  const never = roles.find((role) => (asText(getIn(role, 'restartPolicy')) ?? restartDefault) === 'Never');
  if (never !== undefined) return { limit: 0, at: getIn(never, 'restartPolicy') };
  const limit = getIn(spec, 'runPolicy', 'backoffLimit') ?? getIn(spec, 'elasticPolicy', 'maxRestarts');
  return retriesAt(limit, Number.POSITIVE_INFINITY);
}

/** One pod, or none while an annotation stops the notebook. */
function lowerNotebook(object: KindInput): KindLowering {
  const { root, annotations } = object;
  const inheritedPods = hardwareProfile(object);
  const stopped = lookUp(annotations, 'kubeflow-resource-stopped') !== undefined;
  const podSets: readonly PodSetSource[] = fromTemplate(
    'notebook',
    getIn(root, 'spec', 'template'),
    exactly(stopped ? 0 : 1),
  ).map((podSet) => (inheritedPods === undefined ? podSet : { ...podSet, inheritedPods }));
  return { podSets, retries: unlimitedRetries, scaling: null, partial: false };
}
