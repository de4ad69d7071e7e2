import type { Dangling, Referenced } from '../model/cross-references.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import { once } from '../model/once.ts';
import type { Manifest } from '../model/workload.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Scope, fullName, fullNameOf, seen } from './named.ts';
import { nearest } from './place.ts';
import { type NamedAt, namesIn } from './references.ts';
import { anyObject, nameOf } from './workspace.ts';

/** The kinds of which a project has all or none, if anybody: what runs, and the queues, runtimes and claims that it names. */
const projectKinds: ReadonlySet<string> = new Set([
  ...['serving.kserve.io/ServingRuntime', 'serving.kserve.io/LLMInferenceServiceConfig'],
  ...['trainer.kubeflow.org/TrainingRuntime', 'apps/Deployment', 'apps/StatefulSet', 'argoproj.io/Rollout'],
  ...['leaderworkerset.x-k8s.io/LeaderWorkerSet', 'kueue.x-k8s.io/LocalQueue', 'kueue.x-k8s.io/ClusterQueue'],
  ...['kueue.x-k8s.io/ResourceFlavor', 'resource.k8s.io/ResourceClaim', 'resource.k8s.io/ResourceClaimTemplate'],
]);

/** Whether a text may name one of them: these are the keys by which `namesIn` finds any, so what has none is only not walked through. */
const mayName = once(({ text }: YamlDocument) =>
  /\bruntime["']?:|runtimeRef|baseRefs|scaleTargetRef|queue-name|clusterQueue|ClusterQueue|resourceClaim/.test(text),
);

/** What an object names of those kinds. */
export function projectReferences(manifest: Manifest): readonly NamedAt[] {
  if (!mayName(manifest.document)) return [];
  return namesIn(manifest).filter(({ kinds }) => kinds.some((kind) => projectKinds.has(kind)));
}

/** The kinds (without groups) on which an answer rests. */
export function dependenciesOf({ kinds }: NamedAt): readonly string[] {
  return [...new Set([...kinds.map(bare), ...installerKinds])];
}

/** Objects that bring in others, which are not seen. */
const installerKinds = kindsFor('installer');

/**
 * The objects that a name which nothing has was surely meant to be, one of each name; none where it may well be somewhere else. The workspace
 * counts as complete only where an object of the kind with nearly the same name stands in the same folder or above it: one slip of the keys
 * from what is there.
 */
export function meant(scope: Scope, { kinds, name, namespace }: NamedAt): readonly Referenced<null>[] {
  const { workspace } = scope;
  // KServe names what it makes of an InferenceService after it.
  if (/-(?:predictor|transformer|explainer)(?:-default)?$/.test(name)) return [];
  if (kinds.some((kind) => workspace.objects(bare(kind), nameOf, name, name).all.length > 0)) return [];
  const near = kinds.flatMap((kind) =>
    workspace.slips(bare(kind), name).flatMap((other) => {
      const word = fullName(kind.slice(0, kind.indexOf('/')), bare(kind), namespace, other);
      return workspace.objects(bare(kind), fullNameOf, word, other).nearestAbove(scope).slice(0, 1);
    }),
  );
  // Only now, when something is like it, files are read for what may bring it in.
  if (near.length === 0 || installerKinds.some((kind) => workspace.objects(kind, anyObject, '').all.length > 0)) return [];
  return nearest(near, scope).map((found) => seen(scope, found, null));
}

export function dangling(found: NamedAt, near: readonly Referenced<null>[]): readonly Dangling[] {
  return near.length === 0 ? [] : [{ at: found.at, name: found.name, near }];
}

function bare(kind: string): string {
  return kind.slice(kind.indexOf('/') + 1);
}
