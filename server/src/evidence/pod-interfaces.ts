import { oneOf } from '../catalog/word-patterns.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asBoolean, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { isWholePod } from './rejection.ts';

/** Why an interface that a variable selects is not in the pod. */
export type MissedInterface = 'excluded' | 'absent';

/**
 * What is wrong with the interfaces that NCCL or Gloo may use, in a pod with a network of its own. Its container runtime asks the network plugin
 * for `eth0`; the names of the node's interfaces are those of other namespaces.
 * https://github.com/containerd/containerd/blob/main/docs/cri/architecture.md, https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html, 2026-11-30
 * @param hasPatterns NCCL reads beginnings of names, `=` for whole names and `^` for all others; Gloo reads names
 */
export function missedInterface(
  value: string,
  hasPatterns: boolean,
  { podSet, container, workload }: { podSet: PodSet; container: Container; workload: Workload },
): MissedInterface | undefined {
  const [, not = '', exact = '', list = ''] = /^(\^?)(=?)([\w,:.-]+)$/.exec(value) ?? [];
  const names = list.split(',').filter((name) => name !== '');
  if (names.length === 0 || (!hasPatterns && (not !== '' || exact !== ''))) return undefined;
  const isNamed = names.some((name) => name === 'eth0' || (hasPatterns && exact === '' && 'eth0'.startsWith(name)));
  if (not !== '') return isNamed && hasOneInterface(podSet, workload) ? 'excluded' : undefined;
  const isForeign = !isNamed && names.every((name) => ofNodes.test(name)) && !hasNetworkDevices(container);
  return isForeign && hasOneInterface(podSet, workload) ? 'absent' : undefined;
}

/** Names that only nodes have: of network cards, bonds and IPoIB. https://systemd.io/PREDICTABLE_INTERFACE_NAMES/ */
const ofNodes = /^(?:en(?:[ospx]\w*)?|bond\d*|ib(?:[ps]?\d\w*)?)$/;

/** Whether the pod has only the interface of its cluster's network. */
function hasOneInterface(podSet: PodSet, workload: Workload): boolean {
  const { pod, annotations } = podSet;
  if (!isWholePod(podSet, workload) || isIncomplete(pod)) return false;
  const network = getIn(pod, 'hostNetwork');
  if (network !== undefined && asBoolean(network) !== false) return false;
  // Plugins add networks by annotations or claims.
  if (getIn(pod, 'resourceClaims') !== undefined) return false;
  return ![...annotations, ...workload.manifest.annotations].some(({ at }) => addsNetworks.test(keyOf(at)));
}

const addsNetworks = /network|interface|cni\b|multus/i;

/** Whether a container requests network devices, whose plugins may add interfaces. EFA adds none. */
function hasNetworkDevices({ at }: Container): boolean {
  const words = oneOf('rdma sriov roce mlnx mellanox hca hostdev infiniband nic nics ib macvlan ipvlan network');
  const isNetwork = new RegExp(`(?:^|[-._/])(?:${words})(?:$|[-._/])`, 'i');
  return ['limits', 'requests'].some((key) =>
    entries(getIn(at, 'resources', key)).some((resource) => isNetwork.test(keyOf(resource))),
  );
}
