import { lowerManifest } from '../model/lower.ts';
import { lookUp } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';
import type { FactsOptions } from './facts.ts';
import { gangKind } from './kinds.ts';
import { factsAs, namespaceKey, type Scope } from './named.ts';
import { nameOf } from './workspace.ts';

/** The number of pods of an object that belong to a PodGroup; null if it is unknown. */
export interface GangMember {
  readonly group: string;
  readonly pods: number | null;
}

/** The pods of an object by the PodGroup that they name, for the scheduler plugins or for Volcano. */
export function gangMembers(manifest: Manifest, options: FactsOptions): readonly GangMember[] {
  const workload = lowerManifest(manifest, options);
  return (workload?.podSets ?? []).flatMap(({ labels, annotations, pods }) => {
    const group =
      lookUp(labels, 'scheduling.x-k8s.io/pod-group') ?? lookUp(annotations, 'scheduling.k8s.io/group-name');
    if (group === undefined || isTemplated(group.at)) return [];
    return [{ group: group.value, pods: workload?.partial === true ? null : pods.max }];
  });
}

/** The pods of a PodGroup in all files; null if it has none here or if their number is unknown. */
export function gangPods({ workspace }: Scope, namespace: string | null, group: string): number | null {
  const members = workspace
    .objects(gangKind, nameOf, group, group)
    .all.filter(({ object }) => namespaceKey(object.namespace) === namespaceKey(namespace));
  const sum = members.reduce((all, { object }) => all + (factsAs(object, 'gang') ?? Number.NaN), 0);
  return sum > 0 ? sum : null;
}
