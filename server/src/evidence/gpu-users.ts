import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { nvidiaRuntime } from './gpu-programs.ts';
import { usesAccelerators } from './launch.ts';
import { mountedGpu } from './other-devices.ts';

/** Whether pods request accelerators, or take GPUs of their node without a request: by device files, NVIDIA's runtime class, or a variable. */
export const usesGpus = once((workload: Workload): boolean => {
  if (requestsAccelerators(workload)) return true;
  return workload.podSets.some(
    (podSet) =>
      mountedOnce(podSet) !== undefined ||
      nvidiaRuntime(podSet.pod, workload) !== undefined ||
      podSet.containers.some(passesGpus),
  );
});

/** Whether a container uses accelerators, or a GPU of its node by device files or a variable. */
export function usesGpu(container: Container, podSet: PodSet): boolean {
  if (usesAccelerators(container, podSet) || passesGpus(container)) return true;
  const mounted = mountedOnce(podSet);
  if (mounted === undefined || container.type !== 'app') return false;
  return (mounted.container ?? container) === container;
}

const mountedOnce = once(mountedGpu);

function passesGpus({ env }: Container): boolean {
  const passed = env.find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')?.value?.value;
  return passed !== undefined && /^(?:all|\d|GPU-|MIG-)/.test(passed);
}
