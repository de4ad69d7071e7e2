import { wordSet } from '../catalog/word-patterns.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';
import { hasStockRuntime } from './trainer-runtime.ts';

/** Variables of a process group that an operator does not set, and what it does instead. */
export interface UnsetVariables {
  readonly names: ReadonlySet<string>;
  readonly reason: string;
}

// Source: https://github.com/kubeflow/training-operator/blob/1417bbc35b6e7840b3ecab1cec17dbf553ad9e85/pkg/controller.v1/pytorch/envvar.go
const ofMaster: UnsetVariables = {
  names: wordSet('MASTER_ADDR MASTER_PORT WORLD_SIZE RANK'),
  reason: 'the operator sets it only in a PyTorchJob with a Master',
};

// Source: https://github.com/kubeflow/trainer/blob/master/pkg/runtime/framework/plugins/torch/torch.go
const ofTrainer: UnsetVariables = {
  names: ofMaster.names,
  reason: "the trainer sets only torchrun's variables, which begin with PET_",
};

/** The variables of a process group that the operator of a job does not set, although it sets them, or others like them, elsewhere. */
export function unsetVariables(workload: Workload, crossReferences: CrossReferences): UnsetVariables | undefined {
  if (hasStockRuntime(workload, crossReferences)) return ofTrainer;
  const { apiVersion, kind, manifest, partial } = workload;
  if (kind !== 'PyTorchJob' || groupOf(apiVersion) !== 'kubeflow.org' || partial) return undefined;
  const specs = getIn(manifest.root, 'spec', 'pytorchReplicaSpecs');
  const roles = entries(specs).map(keyOf);
  if (specs === undefined || isIncomplete(specs) || isUnseen(specs) || roles.length === 0) return undefined;
  return roles.every((role) => role.toLowerCase() === 'worker') ? ofMaster : undefined;
}
