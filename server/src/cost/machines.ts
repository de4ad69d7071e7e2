import { allInstanceTypes, instanceType, type MachineShape, type Offer } from '../catalog/index.ts';
import type { PodNeeds } from '../model/workload.ts';

// Which machines can run a pod, and which part of one it takes.

/** The machine of an offer. A machine that the catalog does not describe has an unknown number of CPUs and an unknown amount of memory. */
export function machineOf(offer: Offer): MachineShape {
  const known = machines.get(offer);
  if (known !== undefined) return known;
  const { provider, instanceType: name, gpu, gpuCount } = offer;
  const { vcpu, memoryGiB, localDisk }: Shape = instanceType(name) ?? n1Shape(name);
  const machine = { provider, name, gpu, gpuCount, vcpu, memoryGiB, ...(localDisk !== undefined && { localDisk }) };
  machines.set(offer, machine);
  return machine;
}

type Shape = Pick<MachineShape, 'vcpu' | 'memoryGiB' | 'localDisk'>;

/** The offers of a sheet stay the same objects, and each is matched thousands of times. */
const machines = new WeakMap<Offer, MachineShape>();

/** N1 machines have any number of cards: `n1-standard-4 + 1 x nvidia-tesla-t4`. https://cloud.google.com/compute/docs/general-purpose-machines#n1_machine_types */
function n1Shape(name: string): Shape {
  const vcpu = Number(/^n1-standard-(\d{1,2}) \+ /.exec(name)?.[1]);
  return vcpu > 0 ? { vcpu, memoryGiB: vcpu * 3.75 } : { vcpu: null, memoryGiB: null };
}

/** Whether an offer is the price of one device, in whatever machine: per-GPU clouds, TPU chips. */
export function isPerDevice(offer: Pick<Offer, 'instanceType'>): boolean {
  return offer.instanceType === 'per GPU' || isChip(offer);
}

/** Whether an offer is the price of one TPU chip. */
export function isChip({ instanceType: name }: Pick<Offer, 'instanceType'>): boolean {
  return name.endsWith(' chip');
}

/**
 * Whether the pod fits an empty machine. The machine itself needs some CPU and memory, so a pod that asks for all of it does not fit. Unknown sizes
 * do not exclude a machine.
 */
export function fits({ cpu, memoryGiB, efa }: PodNeeds, machine: MachineShape): boolean {
  return (
    (machine.vcpu === null || cpu < machine.vcpu) &&
    (machine.memoryGiB === null || memoryGiB < machine.memoryGiB) &&
    (efa === 0 || hasAdapters(machine, efa))
  );
}

/** Whether the pod requests more CPU or memory than the machine has: it never runs there. */
export function isTooLarge({ cpu, memoryGiB }: PodNeeds, machine: MachineShape): boolean {
  return cpu > (machine.vcpu ?? Infinity) || memoryGiB > (machine.memoryGiB ?? Infinity);
}

function hasAdapters({ provider, name }: MachineShape, efa: number): boolean {
  const known = instanceType(name);
  if (provider !== 'aws' || known === undefined) return provider === 'aws';
  return known.rdma === 'EFA' && efa <= (known.rdmaDevices ?? Infinity);
}

/**
 * Whether the price per device covers a pod: its CPU and memory are no more than what comes with its devices on some machine of the provider. True if
 * no machine is known.
 */
export function coversPod({ provider, gpu }: Offer, devices: number, needs: PodNeeds): boolean {
  const machines = allInstanceTypes().filter((type) => type.provider === provider && type.gpu === gpu);
  return (
    machines.length === 0 ||
    machines.some((machine) => {
      const cards = machine.gpuCount ?? 0;
      return (
        cards >= devices &&
        fits(needs, machine) &&
        shareOf(devices, needs, machine, cards) * cards <= Math.ceil(devices)
      );
    })
  );
}

/**
 * The part of a machine that a pod takes: the largest of its shares of devices, CPU, memory and network adapters. If it leaves less of the host than
 * belongs to one device, or to another slice of its size, no other pod can use the devices that are left, so it takes the whole machine.
 * @param cards devices of the machine
 */
export function shareOf(
  devices: number,
  { cpu, memoryGiB, efa, ofHost: { part, least } = { part: 1, least: devices } }: PodNeeds,
  machine: MachineShape,
  cards: number,
): number {
  const adapters = efa === 0 ? null : (instanceType(machine.name)?.rdmaDevices ?? null);
  const ofHost = Math.max(
    cpu / (machine.vcpu ?? Infinity),
    memoryGiB / (machine.memoryGiB ?? Infinity),
    efa / (adapters ?? Infinity),
  );
  // The next pod needs only a part of a shared device.
  return ofHost > 1 - Math.min(1, least) / cards ? part : Math.max(devices / cards, part * ofHost);
}
