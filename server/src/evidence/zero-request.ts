import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { entries, getIn, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { gpuProgram, nvidiaRuntime } from './gpu-programs.ts';
import { isPrivileged } from './other-devices.ts';
import { requestSpan } from './requested-accelerators.ts';

/** What a request of 0 means, which turns the devices off but not the program that needs them. */
export function zeroRequest(podSet: PodSet, workload: Workload) {
  const { pod, pods, containers } = podSet;
  if (podSet.accelerators.length === 0 || requestsAccelerators(workload)) return undefined;
  const isOpen = isValues(workload) || workload.partial || pods.max === 0 || nvidiaRuntime(pod, workload) !== undefined;
  // The devices of a scheduler or of a claim.
  if (isOpen || ['schedulerName', 'resourceClaims'].some((key) => getIn(pod, key) !== undefined)) return undefined;
  for (const container of containers) {
    const program = container.type === 'init' || seesOthers(container) ? undefined : gpuProgram(container);
    const [request] = container.accelerators;
    if (program === undefined || request === undefined) continue;
    return {
      message: `${program.name} needs a GPU, but its container requests 0 of ${shorten(request.resource, 40)}: it fails`,
      span: requestSpan([request], container),
    };
  }
  return undefined;
}

/** The devices of the node, or a share under another name. */
function seesOthers(container: Container): boolean {
  return (
    isPrivileged(container) ||
    container.env.some(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES') ||
    entries(getIn(container.resources, 'limits')).filter((one) => keyOf(one).includes('/')).length > 1
  );
}
