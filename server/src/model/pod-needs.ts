import { asText, type Cursor, getIn, isTemplated, type Located } from '../yaml/cursor.ts';
import { isCounter } from './accelerators.ts';
import { countIn } from './count.ts';
import { type CrossReferences, noCrossReferences } from './cross-references.ts';
import { lookUp } from './manifest.ts';
import { lowerQuantity, parseQuantity } from './quantity.ts';
import { firstContainer, type ReferencedContainer, type ReferencedNeed } from './referenced-pods.ts';
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

/** A container of the pod, or one that it has from another object. */
interface NeedingPart {
  readonly type: Container['type'];
  readonly requests?: Cursor | undefined;
  readonly limits?: Cursor | undefined;
  readonly base?: ReferencedContainer | undefined;
}

/** The resources that decide on which machine a pod fits. */
const neededResources = ['cpu', 'memory', 'vpc.amazonaws.com/efa', 'ephemeral-storage'];

/** What a container needs besides accelerators, without positions. */
export function seenNeeds(resources: Cursor | undefined): readonly ReferencedNeed[] {
  const { requests, limits } = amountsIn(resources);
  const amount = (at: Cursor | undefined) => (at === undefined ? null : (lowerQuantity(at).value ?? null));
  return neededResources
    .map((resource) => ({
      resource,
      request: amount(getIn(requests, resource)),
      limit: amount(getIn(limits, resource)),
    }))
    .filter(({ request, limit }) => request !== null || limit !== null);
}

/**
 * The scheduler's sum. A limit without a request is also the request. A request of the pod as a whole replaces the sum of its containers, a limit only
 * if no container has a request; the overhead comes on top, which the API server takes from the RuntimeClass.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-level-resources/
 * https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead/
 * @param inherited the containers of an object whose pods these are: a container has what it does not write itself from the one of its name
 */
export function podNeeds(
  containers: readonly Container[],
  pod?: Cursor,
  crossReferences: CrossReferences = noCrossReferences,
  annotations: readonly Located<string>[] = [],
  inherited: readonly ReferencedContainer[] = [],
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
  const own = containers.map(({ type, name, resources }) => ({ type, name, ...amountsIn(resources) }));
  const isOf = (base: ReferencedContainer, part: number) =>
    base.name === firstContainer ? part === 0 : own[part]?.name === base.name;
  const parts: readonly NeedingPart[] = [
    ...inherited.flatMap((base) => (own.some((_, part) => isOf(base, part)) ? [] : [{ type: base.type, base }])),
    ...own.map((one, part) => ({ ...one, base: inherited.find((base) => isOf(base, part)) })),
  ];
  const total = (resource: string) => overhead(resource) + withoutOverhead(resource);
  const withoutOverhead = (resource: string) => {
    const wholeRequest = getIn(whole.requests, resource);
    if (wholeRequest !== undefined) return amount(wholeRequest);
    const written = parts.map(({ type, requests, limits, base }) => {
      const [request, limit] = [getIn(requests, resource), getIn(limits, resource)];
      const need = base?.needs?.find((one) => one.resource === resource);
      const ownOr = (at: Cursor | undefined, other: number | null | undefined) =>
        at === undefined ? other : amount(at);
      return { type, need: ownOr(request, need?.request) ?? ownOr(limit, need?.limit) };
    });
    if (written.every(({ need }) => need == null)) return amount(getIn(whole.limits, resource));
    return podPeak(written.map(({ type, need }) => ({ type, amount: need ?? 0 })));
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
