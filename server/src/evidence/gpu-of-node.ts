import type { Container } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { amdVariable, isRocmImage } from './amd-use.ts';
import { gpuImage } from './gpu-programs.ts';
import { isPrivileged } from './other-devices.ts';

/** What says that a privileged container uses the GPUs of its node: a variable for AMD's, or its image; in words that end before "of the node". */
export function gpuOfNode(container: Container): { readonly text: string; readonly at: Cursor } | undefined {
  if (container.type !== 'app' || !isPrivileged(container)) return undefined;
  const variable = amdVariable(container);
  if (variable !== undefined) return { text: `${variable.name} chooses AMD GPUs`, at: variable.at };
  // With AMD's GPUs, it is the usual way in a home lab.
  const at = isRocmImage(container.image?.value ?? '') ? undefined : gpuImage(container);
  return at && { text: 'The image is for GPUs and finds those', at };
}
