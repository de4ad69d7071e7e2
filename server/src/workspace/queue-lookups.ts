import type { FlavorFacts, QueueFacts, Referenced } from '../model/cross-references.ts';
import { scalerKinds } from '../model/scalers.ts';
import { anyGang } from './gang-members.ts';
import { gangKind } from './kinds.ts';
import { agreed, candidates, factsAs, type Group, namespaceKey, oncePerGroup, type Scope } from './named.ts';
import { isInSiblingFolder } from './place.ts';
import { anyObject, nameOf } from './workspace.ts';

/** The ClusterQueue behind a LocalQueue; undefined if it is unknown or ambiguous. */
export function clusterQueueOf(
  scope: Scope,
  namespace: string | null,
  name: string,
): Referenced<QueueFacts> | undefined {
  const locals = candidates(scope, 'kueue.x-k8s.io/LocalQueue', namespace, name);
  const queue = oncePerGroup(locals, 'one cluster queue', () => clusterQueueIn(locals));
  if (queue === undefined) return undefined;
  const agreement = agreed(scope, candidates(scope, 'kueue.x-k8s.io/ClusterQueue', null, queue), 'queue');
  // Those that are equally near are apart, or none is.
  const siblingFolder = locals.slice(0, 1).some(({ folders }) => isInSiblingFolder(scope, folders));
  return agreement && { ...agreement, siblingFolder: agreement.siblingFolder || siblingFolder };
}

/** The flavors of the ClusterQueue behind a LocalQueue, in its order. */
export function flavorsOf(scope: Scope, namespace: string | null, queue: string): readonly FlavorFacts[] {
  const { flavors = [], deviceFlavors = [] } = clusterQueueOf(scope, namespace, queue)?.facts ?? {};
  return flavors.map((name) => {
    const flavor = agreed(scope, candidates(scope, 'kueue.x-k8s.io/ResourceFlavor', null, name), 'flavor');
    const { labels = null, taints = [] } = flavor?.facts ?? {};
    return { name, labels, taints, hasDevices: deviceFlavors.includes(name) };
  });
}

/** The ClusterQueue that all of them reference. */
function clusterQueueIn(locals: Group): string | undefined {
  const queues = new Set(
    locals.map(({ object }) => {
      const facts = object.facts();
      return facts?.type === 'localQueue' ? facts.clusterQueue : undefined;
    }),
  );
  const [queue, ...others] = queues;
  return others.length === 0 ? queue : undefined;
}

/** The pods of a PodGroup in all files; null if it has none here or if their number is unknown. */
export function gangPods({ workspace }: Scope, namespace: string | null, group: string): number | null {
  const [members = [], others = []] = [group, anyGang].map((name) =>
    workspace
      .objects(gangKind, nameOf, name, name)
      .all.filter(({ object }) => namespaceKey(object.namespace) === namespaceKey(namespace)),
  );
  if (members.length === 0 || others.length > 0) return null;
  // A scaler may add pods.
  if (scalerKinds.some((kind) => workspace.objects(kind, anyObject, '').all.length > 0)) return null;
  const sum = members.reduce((all, { object }) => all + (factsAs(object, 'gang') ?? Number.NaN), 0);
  return sum > 0 ? sum : null;
}
