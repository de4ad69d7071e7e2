import type { CrossReferences } from '../model/cross-references.ts';
import type { Container, Workload } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';

const stock = 'torch-distributed';

/**
 * Whether a TrainJob gets its pods from the trainer's own runtime for torchrun, without patches. That runtime has no volumes and no variables.
 * https://github.com/kubeflow/trainer/blob/master/manifests/base/runtimes/torch_distributed.yaml
 */
export function hasStockRuntime({ kind, manifest }: Workload, crossReferences: CrossReferences): boolean {
  const spec = getIn(manifest.root, 'spec');
  const runtime = getIn(spec, 'runtimeRef');
  if (kind !== 'TrainJob' || asText(getIn(runtime, 'name')) !== stock) return false;
  if (asText(getIn(runtime, 'kind')) === 'TrainingRuntime' || patches.some((key) => getIn(spec, key) !== undefined))
    return false;
  // A workspace may have a runtime of that name.
  return crossReferences.trainingRuntime('ClusterTrainingRuntime', null, stock) === undefined;
}

const patches = ['runtimePatches', 'podTemplateOverrides', 'podSpecOverrides'];

/** The launcher of a TrainJob that starts a process for each GPU by default. */
export function launchPerGpu({ command, args }: Container, { manifest }: Workload): string | undefined {
  if (getIn(manifest.root, 'spec', 'trainer', 'numProcPerNode') !== undefined) return undefined;
  return [...command, ...args].some(({ value }) => /\btorchrun\b/.test(value)) ? 'torchrun' : undefined;
}
