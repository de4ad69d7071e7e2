import { asText, type Cursor, getIn, isTemplated } from '../yaml/cursor.ts';
import { type CrossReferences, noCrossReferences } from './cross-references.ts';
import { lowerQuantity, parseQuantity } from './quantity.ts';
import type { Container, PodNeeds } from './workload.ts';

/** What one container needs of a resource. */
interface ContainerNeed {
  readonly type: Container['type'];
  readonly amount: number;
}

/**
 * What a pod needs of a resource: its apps and sidecars run together, and an init container runs before the apps, with the sidecars above it.
 * https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/753-sidecar-containers
 * @param needs in the order in which the containers start
 */
export function podPeak(needs: readonly ContainerNeed[]): number {
  let running = 0;
  let sidecars = 0;
  let peak = 0;
  for (const { type, amount } of needs) {
    if (type === 'init') peak = Math.max(peak, sidecars + amount);
    else running += amount;
    if (type === 'sidecar') sidecars += amount;
  }
  return Math.max(running, peak);
}

/**
 * The scheduler's sum. A limit without a request is also the request. A request of the pod as a whole replaces the sum of its containers, a limit only
 * if no container has a request; the overhead comes on top, which the API server takes from the RuntimeClass.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-level-resources/
 * https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead/
 */
export function podNeeds(
  containers: readonly Container[],
  pod?: Cursor,
  crossReferences: CrossReferences = noCrossReferences,
): PodNeeds {
  const amount = (written: Cursor | undefined) => (written === undefined ? 0 : (lowerQuantity(written).value ?? 0));
  const runtime = getIn(pod, 'runtimeClassName');
  const named = isTemplated(runtime) ? undefined : asText(runtime);
  const ofClass = named === undefined ? undefined : crossReferences.podOverhead(named);
  const ownOverhead = getIn(pod, 'overhead');
  const overhead = (resource: string) => {
    const written = getIn(ownOverhead, resource);
    if (written !== undefined) return amount(written);
    return ofClass === undefined ? 0 : (parseQuantity(ofClass.facts[resource] ?? '') ?? 0);
  };
  // Looked up once for all resources.
  const whole = amountsIn(getIn(pod, 'resources'));
  const parts = containers.map(({ type, resources }) => ({ type, ...amountsIn(resources) }));
  const total = (resource: string) => overhead(resource) + withoutOverhead(resource);
  const withoutOverhead = (resource: string) => {
    const wholeRequest = getIn(whole.requests, resource);
    if (wholeRequest !== undefined) return amount(wholeRequest);
    const written = parts.map(({ type, requests, limits }) => ({
      type,
      at: getIn(requests, resource) ?? getIn(limits, resource),
    }));
    if (written.every(({ at }) => at === undefined)) return amount(getIn(whole.limits, resource));
    return podPeak(written.map(({ type, at }) => ({ type, amount: amount(at) })));
  };
  return {
    cpu: total('cpu'),
    memoryGiB: total('memory') / 2 ** 30,
    efa: total('vpc.amazonaws.com/efa'),
    storageGiB: total('ephemeral-storage') / 2 ** 30,
  };
}

function amountsIn(resources: Cursor | undefined): Record<'requests' | 'limits', Cursor | undefined> {
  return { requests: getIn(resources, 'requests'), limits: getIn(resources, 'limits') };
}
