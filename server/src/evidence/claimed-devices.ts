import { once } from '../model/once.ts';
import type { Container, PodAccelerator, PodSet } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';

/** The accelerators of the claims that a container uses. Other containers of its pod can use the same ones. */
export function claimedDevices({ resources }: Container, podSet: PodSet): readonly PodAccelerator[] {
  const names = claimNames(resources);
  return names.length === 0 ? [] : names.flatMap((name) => devicesByClaim(podSet).get(name) ?? []);
}

/** A pod may have thousands of claims. */
const devicesByClaim = once(({ pod, accelerators }: PodSet) => {
  const byNode = new Map<unknown, PodAccelerator[]>();
  for (const one of accelerators) {
    if (one.at === undefined) continue;
    const { node } = one.at;
    const same = byNode.get(node);
    if (same === undefined) byNode.set(node, [one]);
    else same.push(one);
  }
  return new Map(
    items(getIn(pod, 'resourceClaims')).map((claim) => [asText(getIn(claim, 'name')), byNode.get(claim.node) ?? []]),
  );
});

/** The number of whole GPUs in the claims that only this container uses; null if it is unknown. */
export function claimedGpus(container: Container, podSet: PodSet): number | null {
  const names = claimNames(container.resources);
  const users = usersOfClaims(podSet);
  const shared = names.some((name) => (users.get(name) ?? 0) > 1);
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

/** The number of containers that use each claim. */
const usersOfClaims = once(({ containers }: PodSet) => {
  const users = new Map<string | undefined, number>();
  for (const { resources } of containers)
    for (const name of claimNames(resources)) users.set(name, (users.get(name) ?? 0) + 1);
  return users;
});

/** The names of a container's claims, each once. */
function claimNames(resources: Container['resources']): readonly (string | undefined)[] {
  return [...new Set(items(getIn(resources, 'claims')).map((claim) => asText(getIn(claim, 'name'))))];
}
