import { asText, type Cursor, getIn, isTemplated, type Located } from '../yaml/cursor.ts';
import { isCounter } from './accelerators.ts';
import { countIn } from './count.ts';
import { type CrossReferences, noCrossReferences } from './cross-references.ts';
import { lookUp } from './manifest.ts';
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
  annotations: readonly Located<string>[] = [],
): PodNeeds {
  const amount = (written: Cursor | undefined) => (written === undefined ? 0 : (lowerQuantity(written).value ?? 0));
  const runtime = getIn(pod, 'runtimeClassName');
  const named = isTemplated(runtime) ? undefined : asText(runtime);
  const ofClass = named === undefined ? undefined : crossReferences.runtimeClass(named);
  const ownOverhead = getIn(pod, 'overhead');
  const overhead = (resource: string) => {
    const written = getIn(ownOverhead, resource);
    if (written !== undefined) return amount(written);
    return ofClass === undefined ? 0 : (parseQuantity(ofClass.facts.overhead[resource] ?? '') ?? 0);
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
    ...cardsApart(containers, annotations),
  };
}

/**
 * The different cards on which the parts of a pod are: each virtual GPU of a container is on another card, and so is each fraction of KAI and Run:ai.
 * https://project-hami.io/docs/ https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md
 */
function cardsApart(
  containers: readonly Container[],
  annotations: readonly Located<string>[],
): Pick<PodNeeds, 'cards'> {
  const counts = containers.flatMap(({ accelerators }) =>
    accelerators.some(isCounter) ? accelerators.map((one) => (isCounter(one) ? 0 : (one.count ?? 0))) : [],
  );
  const isFraction = ['gpu-fraction', 'gpu-memory'].some((name) => lookUp(annotations, name) !== undefined);
  const fractions = isFraction ? (countIn(lookUp(annotations, 'gpu-fraction-num-devices')?.value) ?? 0) : 0;
  const cards = Math.max(fractions, ...counts);
  return cards > 1 ? { cards } : {};
}

function amountsIn(resources: Cursor | undefined): Record<'requests' | 'limits', Cursor | undefined> {
  return { requests: getIn(resources, 'requests'), limits: getIn(resources, 'limits') };
}
