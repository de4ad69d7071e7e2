import type { Cursor } from '../../yaml/cursor.ts';
import { asText, at, entries, keyOf } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { Retries } from '../workload.ts';
import type { KindEntry, KindLowering } from './kind.ts';

/**
 * The jobs of the Kubeflow training operator, which differ in one field's name.
 * https://github.com/kubeflow/trainer/tree/v1.9.4/pkg/apis/kubeflow.org/v1
 */
export const kubeflowKinds: readonly KindEntry[] = [
  trainingJob('PyTorchJob', 'pytorchReplicaSpecs', 'OnFailure'),
  trainingJob('PaddleJob', 'paddleReplicaSpecs', 'OnFailure'),
  trainingJob('TFJob', 'tfReplicaSpecs', 'Never'),
  trainingJob('XGBoostJob', 'xgbReplicaSpecs', 'Never'),
  trainingJob('JAXJob', 'jaxReplicaSpecs', 'Never'),
  trainingJob('MPIJob', 'mpiReplicaSpecs', 'Never'),
];

function trainingJob(kind: string, field: string, restartDefault: string): KindEntry {
  return {
    group: 'kubeflow.org',
    kinds: [kind],
    role: 'training',
    lower: ({ root }) => lowerTrainingJob(at(root, 'spec'), field, restartDefault),
  };
}

function lowerTrainingJob(spec: Cursor | undefined, field: string, restartDefault: string): KindLowering {
  const roles = entries(at(spec, field));
  const podSets = roles.flatMap((role) => {
    const pod = at(role, 'template', 'spec');
    if (pod === undefined) return [];
    const replicas = at(role, 'replicas');
    const metadata = at(role, 'template', 'metadata');
    return [{ name: keyOf(role), pod, metadata, replicas, pods: podsOf(spec, role, replicas) }];
  });
  return { podSets, retries: retriesOf(spec, roles, restartDefault), scaling: null, partial: false };
}

/** Elastic jobs run with any number of workers between two bounds. */
function podsOf(
  spec: Cursor | undefined,
  role: Cursor,
  replicas: Cursor | undefined,
): { min: number | null; max: number | null } {
  const count = lowerCount(replicas, 1);
  const elastic = at(spec, 'elasticPolicy');
  if (elastic === undefined || keyOf(role) !== 'Worker' || count === null) return { min: count, max: count };
  return {
    min: lowerCount(at(elastic, 'minReplicas'), count),
    max: lowerCount(at(elastic, 'maxReplicas'), count),
  };
}

/** Every role restarts by its own policy, within the job's backoffLimit where there is one; the weakest role decides. */
function retriesOf(spec: Cursor | undefined, roles: readonly Cursor[], restartDefault: string): Retries | null {
  const never = roles.find((role) => (asText(at(role, 'restartPolicy')) ?? restartDefault) === 'Never');
  if (never !== undefined) return { limit: 0, at: at(never, 'restartPolicy') };
  const written = at(spec, 'runPolicy', 'backoffLimit') ?? at(spec, 'elasticPolicy', 'maxRestarts');
  const limit = lowerCount(written, Number.POSITIVE_INFINITY);
  return limit === null ? null : { limit, at: written };
}
