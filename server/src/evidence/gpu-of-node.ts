import type { Container, PodSet } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { amdVariable, isRocmImage } from './amd-use.ts';
import { gpuNodeRequirement } from './gpu-nodes.ts';
import { gpuImage } from './gpu-programs.ts';
import { isPrivileged } from './other-devices.ts';

/** What says that a privileged container uses the GPUs of its node: a variable for AMD's, its image, or its place; in words that end before "of the node". */
export function gpuOfNode(
  container: Container,
  podSet: PodSet,
): { readonly text: string; readonly at: Cursor } | undefined {
  if (container.type !== 'app' || !isPrivileged(container)) return undefined;
  const variable = amdVariable(container);
  if (variable !== undefined) return { text: `${variable.name} chooses AMD GPUs`, at: variable.at };
  // With AMD's GPUs, it is the usual way in a home lab.
  const at = isRocmImage(container.image?.value ?? '') ? undefined : gpuImage(container);
  if (at !== undefined) return { text: 'The image is for GPUs and finds those', at };
  const nodes = podSet.containers.filter(({ type }) => type === 'app').length === 1 && gpuNodeRequirement(podSet);
  // Other accelerators are not GPUs, and their pods are privileged for other reasons.
  return nodes && !/tpu|neuron|gaudi|habana/i.test(nodes.text)
    ? { text: `The pod selects GPU nodes (${shorten(nodes.text, 28)}) and finds the GPUs`, at: nodes.at }
    : undefined;
}
