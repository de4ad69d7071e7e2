import { requestsAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, Workload } from '../model/workload.ts';
import { nvidiaRuntime } from './gpu-programs.ts';
import { mountedGpu } from './other-devices.ts';

/** Whether pods request accelerators, or take GPUs of their node without a request: by device files, NVIDIA's runtime class, or a variable. */
export const usesGpus = once((workload: Workload): boolean => {
  if (requestsAccelerators(workload)) return true;
  return workload.podSets.some(
    (podSet) =>
      mountedGpu(podSet) !== undefined ||
      nvidiaRuntime(podSet.pod, workload) !== undefined ||
      podSet.containers.some(passesGpus),
  );
});

function passesGpus({ env }: Container): boolean {
  const passed = env.find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')?.value?.value;
  return passed !== undefined && /^(?:all|\d|GPU-|MIG-)/.test(passed);
}
