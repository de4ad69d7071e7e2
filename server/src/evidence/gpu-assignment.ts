import { findLocalProcesses } from '../command/processes.ts';
import { isRequested } from '../model/accelerators.ts';
import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { asBoolean, getIn, isTemplated } from '../yaml/cursor.ts';

/** Kinds in which several pods serve one model: their parallel sizes span pods. */
export const spansPods = once((workload: Workload): boolean => {
  const { podSets, manifest, byShape } = workload;
  if (isGroupKind(workload)) return true;
  // A field of the kind says that it does not.
  if (kindOf(workload).spansPodsIf !== undefined) return false;
  // The pods of an unknown kind may form a group.
  if (byShape && podSets.some(({ pods }) => pods.max !== 1)) return true;
  if (podSets.some(({ name }) => /worker/i.test(name))) return true;
  return (
    getIn(manifest.root, 'spec', 'multiNode') !== undefined || getIn(manifest.root, 'spec', 'workerSpec') !== undefined
  );
});

/** Whether the GPUs are assigned by hand, or by a launcher to each of several processes. */
export const assignsGpus = once((container: Container): boolean => {
  const { env, command, args, scripts } = container;
  const isMask = (text: string) => /(CUDA|HIP|ROCR|HABANA)_VISIBLE_(DEVICES|MODULES)/.test(text);
  if (
    env.some(({ name, value }) => isMask(name) && !namesAll(value?.value, container)) ||
    scripts.some(({ text }) => isMask(text))
  )
    return true;
  if ([...command, ...args].some(({ value }) => isMask(value))) return true;
  return findLocalProcesses(processInput(container)).some(({ kind }) => kind === 'launch');
});

/** Whether a list names all GPUs that a container requests, by their numbers in it: it hides none of them. */
function namesAll(list: string | undefined, { accelerators }: Container): boolean {
  const [only, ...others] = accelerators.filter(isRequested);
  const count = only?.form === 'whole' && others.length === 0 ? only.count : null;
  if (list === undefined || count === null || count === 0) return false;
  // CUDA ends the list at the first GPU that does not exist.
  const first = list.split(',', count).map((part) => part.trim());
  return new Set(first).size === count && first.every((number) => /^\d{1,2}$/.test(number) && Number(number) < count);
}

/** Whether a container may see GPUs that it does not request: it is privileged, or a variable passes them to the runtime. */
export function mayUseOtherGpus({ at, env }: Container): boolean {
  const privileged = getIn(at, 'securityContext', 'privileged');
  if (asBoolean(privileged) === true || isTemplated(privileged)) return true;
  const passed = env.find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')?.value?.value;
  return passed !== undefined && passed !== 'none' && passed !== 'void';
}
