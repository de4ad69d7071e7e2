import type { Cursor } from '../../yaml/cursor.ts';
import { groupOf } from '../manifest.ts';
import { aibrixKinds } from './aibrix.ts';
import { coreKinds } from './core.ts';
import { determinedKinds } from './determined.ts';
import { draKinds } from './dra.ts';
import { dstackKinds } from './dstack.ts';
import { groupKinds } from './groups.ts';
import { kaitoKinds } from './kaito.ts';
import type { KindEntry } from './kind.ts';
import { kserveKinds } from './kserve.ts';
import { kserveLlmKinds } from './kserve-llm.ts';
import { kubeflowKinds } from './kubeflow.ts';
import { nvidiaKinds } from './nvidia.ts';
import { affectsAccelerators, objectKinds } from './object-kinds.ts';
import { operatorKinds } from './operators.ts';
import { pipelineSpecKinds } from './pipeline-spec.ts';
import { polyaxonKinds } from './polyaxon.ts';
import { rayKinds } from './ray.ts';
import { rayLauncherKinds } from './ray-launcher.ts';
import { servingKinds } from './serving.ts';
import { skypilotKinds } from './skypilot.ts';
import { tektonKinds } from './tekton.ts';
import { trainingKinds } from './training.ts';
import { workflowKinds } from './workflows.ts';

/** The kinds that gpulint understands. To add one, add an entry to its family's table. */
const kinds: readonly KindEntry[] = [
  ...coreKinds,
  ...kserveKinds,
  ...kserveLlmKinds,
  ...kubeflowKinds,
  ...trainingKinds,
  ...rayKinds,
  ...rayLauncherKinds,
  ...groupKinds,
  ...nvidiaKinds,
  ...servingKinds,
  ...aibrixKinds,
  ...kaitoKinds,
  ...workflowKinds,
  ...tektonKinds,
  ...pipelineSpecKinds,
  ...polyaxonKinds,
  ...skypilotKinds,
  ...dstackKinds,
  ...determinedKinds,
  ...operatorKinds,
  ...draKinds,
];

/** By the name of the kind alone: the rules look up every workload's kind many times, and names are seldom shared. */
const byName: ReadonlyMap<string, readonly KindEntry[]> = (() => {
  const found = new Map<string, KindEntry[]>();
  for (const entry of kinds) {
    for (const kind of entry.kinds) found.set(kind, [...(found.get(kind) ?? []), entry]);
  }
  return found;
})();

/** Every kind in the table, as `group/kind`. */
export function knownKinds(): readonly string[] {
  return [...new Set(kinds.flatMap((entry) => entry.kinds.map((kind) => `${entry.group}/${kind}`)))];
}

/** The table's entry for a kind in an API group, for any version. */
export function kindEntry(group: string, kind: string): KindEntry | undefined {
  return sameNamedKinds(kind).find((entry) => entry.group === group);
}

/** The entries of all groups for kinds with a name. */
export function sameNamedKinds(kind: string): readonly KindEntry[] {
  return byName.get(kind) ?? none;
}

const none: readonly KindEntry[] = [];

/** The same, but for an unknown group, the entry of a kind with the same name: forks and old groups have the same shape. */
export function likeKind(group: string, kind: string): KindEntry | undefined {
  const same = sameNamedKinds(kind);
  return same.find((entry) => entry.group === group) ?? same[0];
}

/** What is known of a workload's kind; for an unknown group, of a kind with the same name. */
export function kindOf({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): Partial<KindEntry> {
  const named = sameNamedKinds(kind);
  // The group matters only if several have the name.
  return (named.length < 2 ? named[0] : likeKind(groupOf(apiVersion), kind)) ?? unknownKind;
}

const unknownKind: Partial<KindEntry> = {};

/** Whether the kind, or a field of it, says that several pods serve one model together. */
export function isGroupKind(workload: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly manifest: { readonly root: Cursor };
}): boolean {
  const { spansPods, spansPodsIf } = kindOf(workload);
  return spansPods === true || spansPodsIf?.(workload.manifest.root) === true;
}

/** The scalable kinds with a name, as `group/kind`. */
export function scalableKinds(kind: string): readonly string[] {
  return kinds.flatMap((entry) =>
    entry.replica !== undefined && entry.kinds.includes(kind) ? [`${entry.group}/${kind}`] : [],
  );
}

const named = [...kinds.filter((entry) => entry.named === true || entry.replica !== undefined), ...objectKinds];

/** The names, without groups, of all kinds that reference other objects or are referenced by them. */
export const namedKinds: ReadonlySet<string> = new Set(named.flatMap((entry) => entry.kinds));

const clusterKinds: ReadonlySet<string> = new Set(
  named.flatMap(({ cluster, group, kinds }) => (cluster === true ? kinds.map((kind) => `${group}/${kind}`) : [])),
);

/** Whether a kind (`group/kind`) is cluster-scoped. */
export function isClusterKind(kind: string): boolean {
  return clusterKinds.has(kind);
}

/**
 * Words that mark an object as related to accelerators even if it names no resource: the API group of its kind, the name of the kind in
 * Kubernetes' own groups, or words in its fields.
 */
export function kindWords(): ReadonlySet<string> {
  const bearing = [...kinds.filter(({ words }) => words === undefined), ...objectKinds.filter(affectsAccelerators)];
  const objects = bearing.flatMap(({ group, kinds }) => (group.includes('.') ? [group] : kinds));
  return new Set([...objects, ...kinds.flatMap(({ words }) => words ?? [])]);
}
