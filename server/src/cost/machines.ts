import { instanceType, type MachineShape, type Offer } from '../catalog/index.ts';
import type { PodNeeds } from '../model/workload.ts';

// Which machines can run a pod, and which part of one it takes.

/** The machine of an offer. A machine that the catalog does not describe has an unknown number of CPUs and an unknown amount of memory. */
export function machineOf({ provider, instanceType: name, gpu, gpuCount }: Offer): MachineShape {
  const known = instanceType(name);
  return { provider, name, gpu, gpuCount, vcpu: known?.vcpu ?? null, memoryGiB: known?.memoryGiB ?? null };
}

/** Whether an offer is the price of one device, in whatever machine: per-GPU clouds, TPU chips. */
export function isPerDevice({ instanceType: name }: Pick<Offer, 'instanceType'>): boolean {
  return name === 'per GPU' || name.endsWith(' chip');
}

/**
 * Whether the pod fits an empty machine. The machine itself needs some CPU and memory, so a pod that asks for all of it does not fit. Unknown sizes
 * do not exclude a machine.
 */
export function fits({ cpu, memoryGiB }: PodNeeds, machine: MachineShape): boolean {
  return (machine.vcpu === null || cpu < machine.vcpu) && (machine.memoryGiB === null || memoryGiB < machine.memoryGiB);
}

/**
 * The part of a machine that a pod takes: the largest of its shares of devices, CPU and memory. If it leaves less CPU or memory than belongs to one
 * device, no other pod can use the devices that are left, so it takes the whole machine.
 * @param cards devices of the machine
 */
export function shareOf(devices: number, { cpu, memoryGiB }: PodNeeds, machine: MachineShape, cards: number): number {
  const ofHost = Math.max(cpu / (machine.vcpu ?? Infinity), memoryGiB / (machine.memoryGiB ?? Infinity));
  return ofHost > 1 - 1 / cards ? 1 : Math.max(devices / cards, ofHost);
}
