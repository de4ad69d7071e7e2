import { knownAccelerator } from '../catalog/index.ts';
import { type CheckpointSign, findCheckpointSigns } from '../command/checkpoint.ts';
import type { ProcessInput } from '../command/processes.ts';
import { isRequested } from '../model/accelerators.ts';
import { processInput } from '../model/process-input.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest, Container, MountedScript, PodSet } from '../model/workload.ts';

export { processInput };

/** The input for a script from a ConfigMap that the container runs. Its positions are not in this document. */
export function scriptInput({ text }: MountedScript): ProcessInput {
  return { command: ['bash', '-c', text], args: [], env: [] };
}

/** Signs of checkpoints on the command line, in the environment and in scripts; only those on the command line have a word. */
export function checkpointSigns(container: Container): readonly CheckpointSign[] {
  const inScripts = container.scripts.flatMap((script) => findCheckpointSigns(scriptInput(script)));
  return [...findCheckpointSigns(processInput(container)), ...inScripts.map(({ kind, text }) => ({ kind, text }))];
}

/** The number of whole GPUs that only this container uses; null if it is unknown, or if the nodes share or partition their GPUs. */
export function wholeGpus({ accelerators }: Container, podSet: PodSet): number | null {
  const [only, ...others] = accelerators.filter(isRequested);
  if (only === undefined || others.length > 0 || only.form !== 'whole' || !isGpu(only)) return null;
  const inPod = acceleratorByName(podSet.accelerators, only.resource);
  return inPod !== undefined && inPod.devices === inPod.perPod ? only.count : null;
}

/** GPUs are used by one process per device; TPUs and Neuron devices hold several cores. */
function isGpu({ resource }: AcceleratorRequest): boolean {
  const vendor = knownAccelerator(resource)?.vendor;
  return vendor === 'nvidia' || vendor === 'amd' || vendor === 'habana';
}
