import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet } from '../model/workload.ts';

/** Whether pods request accelerators and run on spot capacity. */
export function isOnSpot(podSet: PodSet): boolean {
  return podSet.placement.capacity === 'spot' && requestsAccelerators(podSet);
}
