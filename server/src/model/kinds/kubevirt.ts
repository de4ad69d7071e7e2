import { acceleratorResource, gpusMentioned } from '../../catalog/index.ts';
import { asBoolean, asText, type Cursor, getIn, isIncomplete, isTemplated, items } from '../../yaml/cursor.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lowerCount } from '../pod.ts';
import { byName } from '../requested-resource.ts';
import type { KindEntry, KindLowering, PodCount } from './kind.ts';
import { exactly, unlimitedRetries } from './pod-sets.ts';

/** Virtual machines: each runs in a pod, which requests the devices of its domain. https://kubevirt.io/user-guide/compute/host-devices/ */
export const kubevirtKinds: readonly KindEntry[] = [
  {
    group: 'kubevirt.io',
    kinds: ['VirtualMachine', 'VirtualMachineInstance', 'VirtualMachineInstanceReplicaSet'],
    words: [],
    lower: ({ kind, root }) => {
      const spec = getIn(root, 'spec');
      return kind === 'VirtualMachineInstance'
        ? machines(spec, spec, exactly(1))
        : machines(getIn(spec, 'template', 'spec'), spec, machinesOf(kind, spec));
    },
  },
  {
    group: 'pool.kubevirt.io',
    kinds: ['VirtualMachinePool'],
    words: [],
    lower: ({ root }) => {
      const spec = getIn(root, 'spec');
      const machine = getIn(spec, 'virtualMachineTemplate', 'spec', 'template', 'spec');
      return machines(machine, spec, exactly(lowerCount(getIn(spec, 'replicas'), 1)));
    },
  },
];

function machines(pod: Cursor | undefined, owner: Cursor | undefined, pods: PodCount): KindLowering {
  const rest = { retries: unlimitedRetries, scaling: null };
  if (pod === undefined) return { ...rest, podSets: [], partial: true };
  const listed = ['gpus', 'hostDevices'].map((list) => getIn(pod, 'domain', 'devices', list));
  const implicitDevices = listed.flatMap((list, index) => devicesIn(list, index === 0));
  const replicas = getIn(owner, 'replicas');
  const podSet = { name: 'machine', pod, metadata: undefined, replicas, pods, containers: [], implicitDevices };
  return { ...rest, podSets: [podSet], partial: false };
}

/** A stopped machine has no pod. */
function machinesOf(kind: string, spec: Cursor | undefined): PodCount {
  if (kind !== 'VirtualMachine') return exactly(lowerCount(getIn(spec, 'replicas'), 1));
  const [running, strategy] = [getIn(spec, 'running'), getIn(spec, 'runStrategy')];
  if (isTemplated(running) || isTemplated(strategy)) return exactly(null);
  return exactly(asBoolean(running) === false || asText(strategy) === 'Halted' ? 0 : 1);
}

/** One request for each resource: every entry is a device. Host devices are also network cards and disks. */
function devicesIn(list: Cursor | undefined, areGpus: boolean): readonly ImplicitDevices[] {
  const counts = new Map<string, { count: number; readonly at: Cursor }>();
  for (const device of items(list)) {
    const at = getIn(device, 'deviceName');
    const name = asText(at);
    if (at === undefined || name === undefined || isTemplated(at)) continue;
    if (!areGpus && gpusMentioned(name).length === 0) continue;
    const counted = counts.get(name);
    if (counted === undefined) counts.set(name, { count: 1, at });
    else counted.count += 1;
  }
  return [...counts].map(([name, { count, at }]) => {
    // A vGPU profile: the memory in GB, and a letter for its license.
    const isPart = /-\d{1,3}[ABCQ]$/.test(name);
    const models = gpusMentioned(name);
    return {
      requested: byName(name),
      at,
      form: isPart ? 'shared' : 'whole',
      vendor: acceleratorResource(name)?.vendor ?? models[0]?.vendor ?? null,
      perPod: isIncomplete(list) ? null : count,
      each: isPart ? null : 1,
      ...(models.length > 0 && { models, modelFrom: 'resource-name' as const }),
    };
  });
}
