import { either } from '../catalog/word-patterns.ts';
import type { Dangling, Misplaced, Referenced } from '../model/cross-references.ts';
import { isClusterKind } from '../model/kinds/index.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import { once } from '../model/once.ts';
import type { Manifest } from '../model/workload.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { kustomizationKind } from './kinds.ts';
import { fullName, fullNameOf, namespaceKey, referenced, type Scope } from './named.ts';
import { nearest } from './place.ts';
import { type NamedAt, namesIn } from './references.ts';
import { anyObject, type Found, nameOf } from './workspace.ts';

/** The kinds that a project usually defines completely or not at all: workloads, and the queues, runtimes, claims and priorities that they reference. */
const projectKinds: ReadonlySet<string> = new Set([
  ...['serving.kserve.io/ServingRuntime', 'serving.kserve.io/LLMInferenceServiceConfig'],
  ...['trainer.kubeflow.org/TrainingRuntime', 'apps/Deployment', 'apps/StatefulSet', 'argoproj.io/Rollout'],
  ...['leaderworkerset.x-k8s.io/LeaderWorkerSet', 'kueue.x-k8s.io/LocalQueue', 'kueue.x-k8s.io/ClusterQueue'],
  ...['kueue.x-k8s.io/ResourceFlavor', 'resource.k8s.io/ResourceClaim', 'resource.k8s.io/ResourceClaimTemplate'],
  ...['/PersistentVolumeClaim', 'scheduling.k8s.io/PriorityClass'],
]);

/** Whether a text can reference one of them. These are the keys that `namesIn` looks for: other documents need no walk. */
const canReference = once(({ text }: YamlDocument) => referenceKeys.test(text));

const referenceKeys = either(
  /\bruntime["']?:|runtimeRef|baseRefs/,
  /scaleTargetRef/,
  /queue-name|[cC]lusterQueue/,
  /resourceClaim|claimName|priorityClassName/,
);

/** The references of an object to those kinds. */
export function projectReferences(manifest: Manifest): readonly NamedAt[] {
  if (!canReference(manifest.document)) return [];
  return namesIn(manifest).filter(({ kinds }) => kinds.some((kind) => projectKinds.has(kind)));
}

/** The kinds (without groups) on which the lookup of a reference depends. */
export function dependenciesOf({ kinds }: NamedAt): readonly string[] {
  return [...new Set([...kinds.map(bare), ...installerKinds, kustomizationKind])];
}

/** Kinds that install other objects, which are not in the workspace. */
const installerKinds = kindsFor('installer');

/**
 * The objects that a dangling reference most likely means, one for each name; empty if the object can be outside the workspace. A reference
 * is a typo only if an object of the kind, whose name is one typo away, is in the same folder or above it; the target of a scaler also if there is
 * only one candidate.
 */
export function likelyTargets(scope: Scope, reference: NamedAt): readonly Referenced<null>[] {
  const { kinds, name, namespace } = reference;
  const { workspace } = scope;
  // KServe derives these names from the name of an InferenceService.
  if (/-(?:predictor|transformer|explainer)(?:-default)?$/.test(name)) return [];
  // Every cluster has these priorities.
  if (/^system-(?:node|cluster)-critical$/.test(name)) return [];
  if (kinds.some((kind) => workspace.objects(bare(kind), nameOf, name, name).all.length > 0)) return [];
  const near = kinds.flatMap((kind) =>
    workspace.slips(bare(kind), name).flatMap((other) => {
      const word = fullName(kind.slice(0, kind.indexOf('/')), bare(kind), namespace, other);
      return workspace.objects(bare(kind), fullNameOf, word, other).nearestAbove(scope).slice(0, 1);
    }),
  );
  const found = near.length > 0 ? near : onlyTarget(scope, reference);
  // Look for installers last, because this reads files.
  if (found.length === 0 || installerKinds.some((kind) => workspace.objects(kind, anyObject, '').all.length > 0))
    return [];
  return nearest(found, scope).map((one) => referenced(scope, one, null));
}

/**
 * The namespace of the referenced object, if the project has only one with this name, in the same file but in another namespace. Installers
 * and Kustomize can set namespaces.
 */
export function otherNamespace(scope: Scope, { kinds, name, namespace }: NamedAt): string | undefined {
  const { workspace } = scope;
  const [only, ...others] = kinds.flatMap((kind) => workspace.objects(bare(kind), nameOf, name, name).all);
  if (only === undefined || others.length > 0 || only.key !== scope.key) return undefined;
  const other = only.object.namespace;
  if (other === null || !plainName.test(other) || namespaceKey(other) === namespaceKey(namespace)) return undefined;
  if (kinds.every((kind) => isClusterKind(kind)) || !plainName.test(namespace ?? other)) return undefined;
  const isSet = [kustomizationKind, ...installerKinds].some(
    (kind) => workspace.objects(kind, anyObject, '').all.length > 0,
  );
  return isSet ? undefined : other;
}

const plainName = /^[a-z\d-]+$/;

/**
 * The target of a scaler that names nothing: the only object of its kind in the workspace, if it is close by, in the same namespace, and its
 * name begins with the same word.
 */
function onlyTarget(scope: Scope, { kinds, name, namespace, at }: NamedAt): readonly Found[] {
  if (at.parent?.step !== 'scaleTargetRef') return [];
  const [only, ...others] = kinds.flatMap((kind) => scope.workspace.upToTwo(bare(kind)));
  if (only === undefined || others.length > 0 || only.object.namespace !== namespace) return [];
  const word = firstWord(name);
  if (word === undefined || word !== firstWord(only.object.name)) return [];
  return kinds.flatMap((kind) => scope.workspace.objects(bare(kind), anyObject, '').nearestAbove(scope));
}

function firstWord(name: string): string | undefined {
  return /^[a-z\d]{3,}/.exec(name)?.[0];
}

/** A reference without an object, if objects with a similar name suggest a mistake. */
export function dangling(found: NamedAt, near: readonly Referenced<null>[]): readonly Dangling[] {
  return near.length === 0 ? [] : [{ at: found.at, name: found.name, near }];
}

/** A reference to an object in another namespace. */
export function misplaced({ at, name, kinds }: NamedAt, namespace: string | undefined): readonly Misplaced[] {
  return namespace === undefined ? [] : [{ at, name, kind: bare(kinds[0] ?? ''), namespace }];
}

function bare(kind: string): string {
  return kind.slice(kind.indexOf('/') + 1);
}
