import { lowerManifest } from '../model/lower.ts';
import { lookUp } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';
import type { FactsOptions } from './facts.ts';

/** The number of pods of an object that belong to a PodGroup; null if it is unknown. */
export interface GangMember {
  readonly group: string;
  readonly pods: number | null;
}

/** In place of a name that a template writes: it may be that of any group. */
export const anyGang = '*';

/** The pods of an object by the PodGroup that they name, for the scheduler plugins or for Volcano. */
export function gangMembers(manifest: Manifest, options: FactsOptions): readonly GangMember[] {
  const workload = lowerManifest(manifest, options);
  // Each `kubectl create` adds another one.
  const isOpen = workload?.partial === true || getIn(manifest.root, 'metadata', 'generateName') !== undefined;
  if (workload !== undefined && labelPaths.some((path) => isUnseen(getIn(manifest.root, ...path)))) return unknownGang;
  return (workload?.podSets ?? []).flatMap(({ labels, annotations, pods }) => {
    const group =
      lookUp(labels, 'scheduling.x-k8s.io/pod-group') ?? lookUp(annotations, 'scheduling.k8s.io/group-name');
    if (group === undefined) return [];
    return isTemplated(group.at) ? unknownGang : [{ group: group.value, pods: isOpen ? null : pods.max }];
  });
}

const unknownGang: readonly GangMember[] = [{ group: anyGang, pods: null }];

/** What holds the labels of pods: a template that writes one of these may name any group. */
const labelPaths: readonly (readonly string[])[] = [
  ['metadata'],
  ['metadata', 'labels'],
  ['spec'],
  ['spec', 'template'],
  ['spec', 'template', 'metadata'],
  ['spec', 'template', 'metadata', 'labels'],
];
