import { wordSet } from '../catalog/word-patterns.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { asText, entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';

// Source: https://github.com/kubeflow/training-operator/blob/1417bbc35b6e7840b3ecab1cec17dbf553ad9e85/pkg/controller.v1/pytorch/envvar.go
const ofMaster = wordSet('MASTER_ADDR MASTER_PORT WORLD_SIZE RANK');

/** Variables that a workload's containers do not have, although their names are well known. */
export interface UnsetVariables {
  readonly names: ReadonlySet<string>;
  /** Who sets them, or others instead. */
  readonly why: string;
}

const patches = ['podSpecOverrides', 'podTemplateOverrides', 'runtimePatches'];

const none: UnsetVariables = { names: new Set(), why: '' };

/**
 * The variables that the operator of a PyTorchJob sets only if the job has a Master, for a job that has none, and those of torchrun's processes
 * in a TrainJob of the runtime that Kubeflow Trainer brings for PyTorch, whose containers have only those that torchrun reads.
 * https://github.com/kubeflow/trainer/blob/master/pkg/runtime/framework/plugins/torch/torch.go
 */
export function variablesOfMaster({ apiVersion, kind, manifest, partial }: Workload): UnsetVariables {
  if (kind === 'TrainJob') {
    const spec = getIn(manifest.root, 'spec');
    const ref = getIn(spec, 'runtimeRef');
    const isKnown =
      asText(getIn(ref, 'name')) === 'torch-distributed' && asText(getIn(ref, 'kind')) !== 'TrainingRuntime';
    // Patches of the pods may add variables.
    const isPatched = patches.some((key) => getIn(spec, key) !== undefined);
    return isKnown && !isPatched ? { names: ofMaster, why: 'the runtime sets only PET_ variables' } : none;
  }
  if (kind !== 'PyTorchJob' || groupOf(apiVersion) !== 'kubeflow.org' || partial) return none;
  const specs = getIn(manifest.root, 'spec', 'pytorchReplicaSpecs');
  const roles = entries(specs).map(keyOf);
  if (specs === undefined || isIncomplete(specs) || isUnseen(specs) || roles.length === 0) return none;
  return roles.every((role) => role.toLowerCase() === 'worker')
    ? { names: ofMaster, why: 'the operator sets it only in a PyTorchJob with a Master' }
    : none;
}
