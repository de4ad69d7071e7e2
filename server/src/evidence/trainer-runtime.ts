import { baseName, type Word } from '../command/shell.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { commandsIn } from '../model/process-input.ts';
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

/** The words that start one Python process in each node of that runtime, which only tells torchrun of the other nodes. */
export function pythonAlone(container: Container): readonly [Word, Word] | undefined {
  const { command, args, env } = container;
  const [only, ...others] = commandsIn(container);
  const [program, script] = only?.words.filter(({ text }) => text !== '-u') ?? [];
  if (program === undefined || script === undefined || others.length > 0) return undefined;
  const isPython = /^python[\d.]*$/.test(baseName(program.text)) && /\.py$/.test(script.text);
  // Its code may start the processes itself, if variables or flags say how.
  const lines = [...command, ...args].map(({ value }) => value);
  const tells = [...lines, ...env.map(({ name }) => name)].some((text) => tellsNodes.test(text));
  return isPython && !tells ? [program, script] : undefined;
}

const tellsNodes = /PET_|RANK|WORLD|MASTER|NODE|-?n(?:um)?[-_]?nodes|machines|rank|launch|\bray\b|mpi/i;
