import { once } from '../model/once.ts';
import type { Seen, Unfound } from '../model/surroundings.ts';
import type { Manifest } from '../model/workload.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { isApart, nearest, pathFrom } from './near.ts';
import { isClusterKind, type NamedAt, namesIn } from './references.ts';
import type { Workspace } from './workspace.ts';

export interface Place {
  readonly folders: readonly string[];
  readonly fileName: string;
}

/** The kinds of which a project has all or none, if anybody: what runs, and the queues, runtimes and claims that it names. */
const wholeKinds: ReadonlySet<string> = new Set([
  ...['serving.kserve.io/ServingRuntime', 'serving.kserve.io/LLMInferenceServiceConfig'],
  ...['trainer.kubeflow.org/TrainingRuntime', 'apps/Deployment', 'apps/StatefulSet', 'argoproj.io/Rollout'],
  ...['leaderworkerset.x-k8s.io/LeaderWorkerSet', 'kueue.x-k8s.io/LocalQueue', 'kueue.x-k8s.io/ClusterQueue'],
  ...['kueue.x-k8s.io/ResourceFlavor', 'resource.k8s.io/ResourceClaim', 'resource.k8s.io/ResourceClaimTemplate'],
]);

/** Whether a text may name one of them. */
const mayName = once(({ text }: YamlDocument) =>
  /\bruntime: |runtimeRef|baseRefs|scaleTargetRef|queue-name|clusterQueue|ClusterQueue|resourceClaim/.test(text),
);

/** What an object names of those kinds. */
export function wholeNames(manifest: Manifest): readonly NamedAt[] {
  if (!mayName(manifest.document)) return [];
  return namesIn(manifest).filter(({ kinds }) => kinds.some((kind) => wholeKinds.has(kind)));
}

/** The kinds (without groups) on which an answer rests. */
export function restsOn({ kinds }: NamedAt): readonly string[] {
  return [...new Set([...kinds.map(bare), ...bringers])];
}

/** Objects that bring in others, which are not seen. */
const bringers = ['HelmRelease', 'Application', 'ApplicationSet'];

/**
 * The objects that a name which nothing has was surely meant to be; none where it may well be somewhere else. The workspace counts as complete
 * only where an object of the kind with nearly the same name stands in the same folder or above it: one slip of the keys from what is there.
 */
export function meant(workspace: Workspace, place: Place, { kinds, name, namespace }: NamedAt): readonly Seen<null>[] {
  // KServe names what it makes of an InferenceService after it.
  if (/-(?:predictor|transformer|explainer)(?:-default)?$/.test(name)) return [];
  const near = kinds.flatMap((kind) =>
    workspace
      .above(bare(kind), place.folders, (other) => isSlip(other, name))
      .filter(({ object }) => `${object.group}/${object.kind}` === kind)
      .filter(({ object }) => isClusterKind(kind) || object.namespace === namespace),
  );
  // Only now, when something is like it, files are read for the name itself.
  if (near.length === 0 || kinds.some((kind) => workspace.named(bare(kind), name).length > 0)) return [];
  if (bringers.some((kind) => workspace.all(kind).length > 0)) return [];
  return nearest(near, place.folders, place.fileName).map(({ object, folders, fileName }) => ({
    kind: object.kind,
    name: object.name,
    file: pathFrom(place, { folders, fileName }),
    apart: isApart(place, folders),
    facts: null,
  }));
}

export function unfound(found: NamedAt, near: readonly Seen<null>[]): readonly Unfound[] {
  return near.length === 0 ? [] : [{ at: found.at, name: found.name, near }];
}

function bare(kind: string): string {
  return kind.slice(kind.indexOf('/') + 1);
}

/** One letter too many, too few, another or exchanged; names that differ in a number are those of several things. */
function isSlip(one: string, other: string): boolean {
  if (one === other || Math.min(one.length, other.length) < 4) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [a, b] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  if (/\d/.test(a + b)) return false;
  const exchanged = a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0];
  if (a.length !== b.length) return a.length + b.length === 1;
  // The last letter, or one that stands alone, is the one of a row: `train-a` and `train-b`.
  const alone = /(?:^|[^a-z])$/i.test(one.slice(0, start)) && /^(?:$|[^a-z])/i.test(one.slice(start + 1));
  return exchanged || (a.length === 1 && end > 0 && !alone);
}
