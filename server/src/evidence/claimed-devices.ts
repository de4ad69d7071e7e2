import type { Container, PodAccelerator, PodSet } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';

/** The accelerators of the claims that a container uses. Other containers of its pod can use the same ones. */
export function claimedDevices({ resources }: Container, { pod, accelerators }: PodSet): readonly PodAccelerator[] {
  const names = claimNames(resources);
  if (names.length === 0) return [];
  const references = items(getIn(pod, 'resourceClaims')).filter((one) => names.includes(asText(getIn(one, 'name'))));
  return accelerators.filter(({ at }) => references.some(({ node }) => node === at?.node));
}

/** The number of whole GPUs in the claims that only this container uses; null if it is unknown. */
export function claimedGpus(container: Container, podSet: PodSet): number | null {
  const names = claimNames(container.resources);
  const shared = podSet.containers.some(
    (other) => other !== container && claimNames(other.resources).some((name) => names.includes(name)),
  );
  // A container may use one request of its claim.
  const isPart = items(getIn(container.resources, 'claims')).some((claim) => getIn(claim, 'request') !== undefined);
  const devices = claimedDevices(container, podSet);
  if (shared || isPart || devices.length === 0) return null;
  return devices.reduce<number | null>((sum, one) => {
    const isGpu = one.requested.kind === 'deviceClass' && /^gpu\.(?:nvidia|amd)\.com$/.test(one.requested.name);
    const isKnown = isGpu && one.form === 'whole' && one.devices === one.perPod;
    return sum === null || !isKnown || one.perPod === null ? null : sum + one.perPod;
  }, 0);
}

function claimNames(resources: Container['resources']): readonly (string | undefined)[] {
  return items(getIn(resources, 'claims')).map((claim) => asText(getIn(claim, 'name')));
}
