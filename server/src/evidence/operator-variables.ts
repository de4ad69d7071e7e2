import { wordSet } from '../catalog/word-patterns.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';

// Source: https://github.com/kubeflow/training-operator/blob/1417bbc35b6e7840b3ecab1cec17dbf553ad9e85/pkg/controller.v1/pytorch/envvar.go
const ofMaster = wordSet('MASTER_ADDR MASTER_PORT WORLD_SIZE RANK');

const none: ReadonlySet<string> = new Set();

/** The variables that the operator of a PyTorchJob sets only if the job has a Master, for a job that has none. */
export function variablesOfMaster({ apiVersion, kind, manifest, partial }: Workload): ReadonlySet<string> {
  if (kind !== 'PyTorchJob' || groupOf(apiVersion) !== 'kubeflow.org' || partial) return none;
  const specs = getIn(manifest.root, 'spec', 'pytorchReplicaSpecs');
  const roles = entries(specs).map(keyOf);
  if (specs === undefined || isIncomplete(specs) || isUnseen(specs) || roles.length === 0) return none;
  return roles.every((role) => role.toLowerCase() === 'worker') ? ofMaster : none;
}
