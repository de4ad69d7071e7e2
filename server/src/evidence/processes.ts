import { type CheckpointSign, findCheckpointSigns } from '../command/checkpoint.ts';
import type { ProcessInput } from '../command/processes.ts';
import { isRequested } from '../model/accelerators.ts';
import { processInput } from '../model/process-input.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest, Container, MountedScript, PodSet } from '../model/workload.ts';

export { processInput };

/** What a script that the container runs from a ConfigMap starts. Its places are none of this document. */
export function scriptInput({ text }: MountedScript): ProcessInput {
  return { command: ['bash', '-c', text], args: [], env: [] };
}

/** Signs of checkpoints on the command line, in the environment, and in scripts; only those of the command line itself have a word. */
export function checkpointSigns(container: Container): readonly CheckpointSign[] {
  const inScripts = container.scripts.flatMap((script) => findCheckpointSigns(scriptInput(script)));
  return [...findCheckpointSigns(processInput(container)), ...inScripts.map(({ kind, text }) => ({ kind, text }))];
}

/** Whole GPUs of a container that are its own: null where the number is not known, or where the nodes share or cut their cards. */
export function wholeGpus({ accelerators }: Container, podSet: PodSet): number | null {
  const [only, ...others] = accelerators.filter(isRequested);
  if (only === undefined || others.length > 0 || only.form !== 'whole' || !isGpu(only)) return null;
  const inPod = acceleratorByName(podSet.accelerators, only.resource);
  return inPod !== undefined && inPod.devices === inPod.perPod ? only.count : null;
}

/** One process a device is how GPUs are used; TPUs and Neuron devices hold several cores. */
function isGpu({ resource }: AcceleratorRequest): boolean {
  return /^(nvidia|amd)\.com\/gpu$|^habana\.ai\/gaudi$/.test(resource);
}
