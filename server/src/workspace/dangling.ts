import { either } from '../catalog/word-patterns.ts';
import type { Dangling, InNamespace, Referenced, ServiceFacts, StrayService } from '../model/cross-references.ts';
import { isClusterKind } from '../model/kinds/index.ts';
import { kindsFor } from '../model/kinds/object-kinds.ts';
import { once } from '../model/once.ts';
import type { Manifest } from '../model/workload.ts';
import { asBoolean, getIn } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Table } from '../yaml/table.ts';
import { gangKind, kustomizationKind, secretMaker } from './kinds.ts';
import { factsAs, fullName, fullNameOf, namespaceKey, referenced, type Scope } from './named.ts';
import { nearest, pathFrom } from './place.ts';
import { type NamedAt, namesIn } from './references.ts';
import type { FileSummary, ObjectSummary } from './summary.ts';
import { anyObject, type Found, nameOf } from './workspace.ts';

/** The kinds that a project usually defines completely or not at all: workloads, and the queues, runtimes, claims and priorities that they reference. */
const projectKinds: ReadonlySet<string> = new Set([
  ...['serving.kserve.io/ServingRuntime', 'serving.kserve.io/LLMInferenceServiceConfig'],
  ...['trainer.kubeflow.org/TrainingRuntime', 'apps/Deployment', 'apps/StatefulSet', 'argoproj.io/Rollout'],
  ...['leaderworkerset.x-k8s.io/LeaderWorkerSet', 'kueue.x-k8s.io/LocalQueue', 'kueue.x-k8s.io/ClusterQueue'],
  ...['kueue.x-k8s.io/ResourceFlavor', 'resource.k8s.io/ResourceClaim', 'resource.k8s.io/ResourceClaimTemplate'],
  ...['/PersistentVolumeClaim', 'scheduling.k8s.io/PriorityClass', 'kueue.x-k8s.io/Topology'],
  ...['scheduling.volcano.sh/PodGroup', 'scheduling.x-k8s.io/PodGroup', 'scheduling.volcano.sh/Queue'],
  ...['scheduling.run.ai/Queue', 'apps.nvidia.com/NIMCache', 'karpenter.sh/NodePool', 'cloud.google.com/ComputeClass'],
]);

/** Kinds of which many objects are made by people, generators and operators: only one in the same file is meant instead. */
const madeElsewhere: ReadonlySet<string> = new Set(['/ConfigMap', '/Secret', '/ServiceAccount']);

/** Whether a text can reference one of them. These are the keys that `namesIn` looks for: other documents need no walk. */
const canReference = once(({ text }: YamlDocument) => referenceKeys.test(text));

const referenceKeys = either(
  /\bruntime["']?:|runtimeRef|baseRefs/,
  /scaleTargetRef/,
  /queue-name|[cC]lusterQueue|parentQueue|kai\.scheduler\/queue|\bqueue["']?:/,
  /group-name|pod-group|topologyName|nimCache/,
  /resourceClaim|claimName|priorityClassName/,
  /configMap|secret(?:Name|Ref|KeyRef)|imagePullSecrets/,
  /serviceAccountName|pvc:\/\//,
  /karpenter\.sh\/nodepool|compute-class/,
);

/** The references of an object to those kinds. */
export function projectReferences(manifest: Manifest): readonly NamedAt[] {
  if (!canReference(manifest.document)) return [];
  return namesIn(manifest).filter(({ kinds, at }) =>
    kinds.some((kind) => projectKinds.has(kind) || (madeElsewhere.has(kind) && !isOptional(at))),
  );
}

function isOptional({ parent }: NamedAt['at']): boolean {
  return asBoolean(getIn(parent, 'optional')) === true;
}

/** The kinds (without groups) on which the lookup of a reference depends. */
export function dependenciesOf({ kinds }: Pick<NamedAt, 'kinds'>): readonly string[] {
  const setters = kinds.some((kind) => madeElsewhere.has(kind)) ? setterKinds : installerKinds;
  const gangs = kinds.some((kind) => kind.endsWith('/PodGroup')) ? [gangKind] : [];
  return [...new Set([...kinds.map(bare), ...setters, ...gangs])];
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
      // `cpu-pool` and `gpu-pool` are two things.
      const [meant, written] = [deviceIn(other), deviceIn(name)];
      if (meant !== undefined && written !== undefined && meant !== written) return [];
      const word = fullName(kind.slice(0, kind.indexOf('/')), bare(kind), namespace, other);
      return workspace.objects(bare(kind), fullNameOf, word, other).nearestAbove(scope).slice(0, 1);
    }),
  );
  const found = near.length > 0 ? near : [...onlyTarget(scope, reference), ...unusedObject(scope, reference)];
  // Look for installers last, because this reads files.
  if (found.length === 0 || hasAny(scope, installerKinds)) return [];
  const isOther = found.some((one) => pathFrom(scope, one) !== null) || hasSetters(scope);
  if (isOther && kinds.some((kind) => madeElsewhere.has(kind))) return [];
  if (kinds.includes('/Secret') && workspace.file(scope.key)?.summary.kinds.has(secretMaker)) return [];
  return nearest(found, scope).map((one) => referenced(scope, one, null));
}

function deviceIn(name: string): string | undefined {
  return /(?:^|[^a-z])([a-z]pu)s?(?![a-z])/.exec(name)?.[1];
}

/**
 * The target of a scaler, or the PodGroup of a pod, that names nothing: the only object of its kind in the file, or else in the workspace, if it is close by. It is in the
 * same namespace, and its name begins with the same word.
 */
function onlyTarget(scope: Scope, { kinds, name, namespace, at }: NamedAt): readonly Found[] {
  if (at.parent?.step !== 'scaleTargetRef' && !kinds.some((kind) => kind.endsWith('/PodGroup'))) return [];
  const all = kinds.flatMap((kind) => scope.workspace.upToTwo(bare(kind)));
  const own = all.length > 1 ? inOwnFile(scope, kinds) : [];
  const [only, ...others] = own.length === 1 ? own : all;
  if (only === undefined || others.length > 0 || only.object.namespace !== namespace) return [];
  const word = firstWord(name);
  if (word === undefined || word !== firstWord(only.object.name)) return [];
  // A PodGroup with pods has its own meaning.
  if (scope.workspace.objects(gangKind, nameOf, only.object.name, only.object.name).all.length > 0) return [];
  if (own.length === 1) return own;
  return kinds.flatMap((kind) => scope.workspace.objects(bare(kind), anyObject, '').nearestAbove(scope));
}

/** Kinds whose objects are in the file of the pods that use them, and which nothing else uses. */
const ownedKinds: ReadonlySet<string> = new Set([
  ...['/PersistentVolumeClaim', '/ServiceAccount', '/ConfigMap', 'kueue.x-k8s.io/ClusterQueue'],
  ...['kueue.x-k8s.io/ResourceFlavor', 'resource.k8s.io/ResourceClaimTemplate'],
]);

/**
 * The only object of its kind in the file, if nothing in the file uses it, and all references to the kind name this other object. The name of a kind of
 * the core begins with the same word. Programs and dashboards may read a ConfigMap without a reference, but hardly their settings.
 */
function unusedObject(scope: Scope, { kinds: [kind = ''], name, namespace }: NamedAt): readonly Found[] {
  if (!ownedKinds.has(kind)) return [];
  const file = scope.workspace.file(scope.key);
  // Without an object of the kind, the other documents of the file need not be read for this.
  if (!file?.summary.kinds.has(bare(kind))) return [];
  const only = soleObjects(file.summary).get(kind);
  if (only === undefined || only === null) return [];
  const word = firstWord(name);
  if (!isClusterKind(kind) && namespaceKey(only.namespace) !== namespaceKey(namespace)) return [];
  // Files with queues and claims of devices have all of a setup.
  if (kind.startsWith('/') && (word === undefined || word !== firstWord(only.name))) return [];
  if (withoutNumbers(name) === withoutNumbers(only.name)) return [];
  if (kind === '/ConfigMap' && !(isSettings(name) && isSettings(only.name))) return [];
  if (soleUses(file.summary).get(kind) !== name) return [];
  const { folders, fileName, uri } = file;
  return [{ key: scope.key, folders, fileName, uri, object: only }];
}

/** The only object of each kind in a file; null for kinds with several. */
const soleObjects = once((summary: FileSummary): ReadonlyMap<string, ObjectSummary | null> => {
  const found = new Map<string, ObjectSummary | null>();
  for (const object of summary.objects()) {
    const kind = `${object.group}/${object.kind}`;
    if (ownedKinds.has(kind)) found.set(kind, found.has(kind) ? null : object);
  }
  return found;
});

/** The only name that the references of a file to each kind have; null for several. */
const soleUses = once((summary: FileSummary): ReadonlyMap<string, string | null> => {
  const found = new Map<string, string | null>();
  for (const { kinds, name } of summary.references()) {
    for (const kind of kinds) {
      if (ownedKinds.has(kind)) found.set(kind, found.has(kind) && found.get(kind) !== name ? null : name);
    }
  }
  return found;
});

function withoutNumbers(name: string): string {
  return name.replace(/\d+/g, '');
}

function isSettings(name: string): boolean {
  return /-(?:conf|config|config-?map|cm|settings|env|vars)$/.test(name);
}

/** The objects of these kinds in the file itself: without the others, which may not have been read yet. */
function inOwnFile({ workspace, key }: Scope, kinds: readonly string[]): readonly Found[] {
  const file = workspace.file(key);
  if (file === undefined) return [];
  const { folders, fileName, uri, summary } = file;
  return summary
    .objects()
    .filter(({ group, kind }) => kinds.includes(`${group}/${kind}`))
    .map((object) => ({ key, folders, fileName, uri, object }));
}

function firstWord(name: string): string | undefined {
  return /^[a-z\d]{3,}/.exec(name)?.[0];
}

/** The namespace of the only object in the file that a reference can mean, if it is written and the reference looks in another one. */
export function otherNamespace(scope: Scope, { kinds, name, namespace }: NamedAt): string | null {
  const isMade = kinds.some((kind) => madeElsewhere.has(kind));
  // Every namespace has these.
  if (isMade && /^(?:default|builder|deployer|kube-root-ca\.crt|.*service-ca\.crt|istio-ca-root-cert)$/.test(name))
    return null;
  // Some operators make copies for other namespaces.
  if (isMade && (namespace === null || scope.workspace.file(scope.key)?.summary.kinds.has(secretMaker))) return null;
  const own = kinds.filter((kind) => (isMade || projectKinds.has(kind)) && !isClusterKind(kind));
  return strayObject(scope, own, namespace, name)?.object.namespace ?? null;
}

/** Whether the file has any Service in another namespace. In most files, all objects are in one. */
export function hasStrays({ workspace, key }: Scope, namespace: string | null): boolean {
  workspace.dependOn(['Service']);
  const summary = workspace.file(key)?.summary;
  const own = namespaceKey(namespace);
  return summary !== undefined && [...serviceNamespaces(summary)].some((other) => other !== own);
}

const serviceNamespaces = once((summary: FileSummary): ReadonlySet<string | null> => {
  const services = summary.objectsOf?.('Service') ?? summary.objects().filter(({ kind }) => kind === 'Service');
  return new Set(services.map(({ namespace }) => namespaceKey(namespace)));
});

/** The only Service of a name, if it is in the same file, but in another namespace. */
export function serviceElsewhere(scope: Scope, namespace: string | null, name: string): StrayService | undefined {
  const found = strayObject(scope, ['/Service'], namespace, name);
  const selects = found && factsAs(found.object, 'service')?.selects;
  if (found === undefined || !selects) return undefined;
  return { namespace: found.object.namespace, facts: selects, hasWorkload: hasOther(scope, namespace, name) };
}

/** Whether the file has another workload of this name: its namespace and labels may be those of a template. */
function hasOther({ workspace, key }: Scope, namespace: string | null, name: string): boolean {
  workspace.dependOn(labeledKinds.workload);
  const objects = workspace.file(key)?.summary.objects() ?? [];
  const isWorkload = ({ kind }: ObjectSummary) => labeledKinds.workload.some((one) => one === kind);
  return objects.some((one) => one.name === name && isWorkload(one) && one.namespace !== namespace);
}

/** The kinds of the objects that have labels for others to select. */
export const labeledKinds = { service: ['Service'], workload: ['Deployment', 'StatefulSet'] } as const;

/** The only Service, or else pods of a workload, with these labels in the same file, if they are in another namespace. */
export function labeledElsewhere(
  scope: Scope,
  what: 'service' | 'workload',
  namespace: string | null,
  labels: Table<string>,
): InNamespace<string> | undefined {
  scope.workspace.dependOn(labeledKinds[what]);
  const file = scope.workspace.file(scope.key);
  const wanted = Object.entries(labels);
  const like = file && labeledObjects(file.summary).get(JSON.stringify([what, ...(wanted[0] ?? [])]));
  // A file may have thousands with the label.
  if (like === undefined || like.length > 50) return undefined;
  const found = like.filter((object) => wanted.every(([key, value]) => factsAs(object, what)?.labels?.[key] === value));
  const [only, ...others] = found;
  if (only === undefined || others.length > 0 || hasSetters(scope)) return undefined;
  const isWritten = [only.namespace, namespace].every((one) => /^[a-z0-9-]+$/.test(one ?? ''));
  return isWritten && only.namespace !== namespace ? { namespace: only.namespace, facts: only.name } : undefined;
}

/** The Services and workloads of a file by each of their labels. */
const labeledObjects = once((summary: FileSummary): ReadonlyMap<string, readonly ObjectSummary[]> => {
  const found = new Map<string, ObjectSummary[]>();
  for (const object of summary.objects()) {
    for (const what of ['service', 'workload'] as const) {
      for (const label of Object.entries(factsAs(object, what)?.labels ?? {})) {
        const key = JSON.stringify([what, ...label]);
        found.set(key, [...(found.get(key)?.slice(0, 50) ?? []), object]);
      }
    }
  }
  return found;
});

/** The Services of the same file and namespace with almost this name. Kustomizations and installers rename them. */
export function servicesLike(
  scope: Scope,
  namespace: string | null,
  name: string,
): readonly Referenced<ServiceFacts>[] {
  const { workspace } = scope;
  const base = name.replace(/-(?:svc|service|server)$/, '');
  const variants = [base, `${base}-svc`, `${base}-service`, `${base}-server`];
  const names = new Set([...workspace.slips('Service', name), ...variants.filter((one) => one !== name)]);
  const found = [...names].flatMap((one) => {
    const word = fullName('', 'Service', namespace, one);
    return workspace.objects('Service', fullNameOf, word, one).nearestAbove(scope);
  });
  const own = found.filter((one) => pathFrom(scope, one) === null);
  if (own.length === 0 || hasSetters(scope)) return [];
  return own.flatMap((one) => {
    const facts = factsAs(one.object, 'service');
    return facts === null ? [] : [referenced(scope, one, facts)];
  });
}

/** The only object of a name, if it is in the same file, but in another namespace. Kustomizations and installers set namespaces. */
function strayObject(
  scope: Scope,
  kinds: readonly string[],
  namespace: string | null,
  name: string,
): Found | undefined {
  const { workspace } = scope;
  const named = kinds
    .map((kind) => workspace.objects(bare(kind), nameOf, name, name).all)
    .filter(({ length }) => length > 0);
  const [only] = named[0] ?? [];
  // Thousands of objects may have the name.
  if (only === undefined || named.length > 1 || named[0]?.length !== 1 || pathFrom(scope, only) !== null)
    return undefined;
  const where = only.object.namespace;
  // A placeholder stands for any namespace.
  const isWritten = [where, namespace].every((one) => /^[a-z0-9-]+$/.test(one ?? 'default'));
  // Setters last: few names have such an object.
  return isWritten && namespaceKey(where) !== namespaceKey(namespace) && !hasSetters(scope) ? only : undefined;
}

/** Kinds of objects that change others: those of Kustomize and installers. */
export const setterKinds: readonly string[] = [kustomizationKind, ...installerKinds];

function hasSetters(scope: Scope): boolean {
  return hasAny(scope, setterKinds);
}

function hasAny({ workspace }: Scope, kinds: readonly string[]): boolean {
  if (workspace.stampOf(kinds) > 0) return kinds.some((kind) => workspace.objects(kind, anyObject, '').all.length > 0);
  // Most projects have none of these kinds: then the lookup depends on all of them at once.
  workspace.dependOn(kinds);
  return false;
}

/** Whether the file of a lookup may hold patches, by its path or its project. */
export function mayBePatch(scope: Scope): boolean {
  return /patch|overlay|kustom|component/i.test(scope.key) || hasSetters(scope);
}

/** A reference without an object, if objects with a similar name suggest a mistake. */
export function dangling(
  { at, name }: NamedAt,
  near: readonly Referenced<null>[],
  elsewhere: string | null,
): readonly Dangling[] {
  return near.length === 0 && elsewhere === null ? [] : [{ at, name, near, elsewhere }];
}

function bare(kind: string): string {
  return kind.slice(kind.indexOf('/') + 1);
}
