import { isStrayField } from '../model/charts/apps.ts';
import type { Workload } from '../model/workload.ts';
import { type Cursor, entries, getIn, spanOf } from '../yaml/cursor.ts';

// Pods that the charts of the common library make of their values, in which everything that the pods get is written.

/** Whether values have all containers of the pods, by name. Values that change others, such as patches, name no image. */
export function hasAllContainers({ partial, wholeResources, manifest }: Workload): boolean {
  const containers = entries(getIn(manifest.root, 'containers')).filter((entry) => !isStrayField(entry));
  const isWhole = containers.length > 0 && containers.every((one) => getIn(one, 'image') !== undefined);
  return partial && wholeResources === true && isWhole;
}

/**
 * Whether a field of a pod is from options that a chart gives all its pods. They are meant for the pods with accelerators, and the others come along.
 */
export function isForAllPods(field: Cursor, { manifest, partial }: Workload): boolean {
  const { root } = manifest;
  if (!partial || entries(root.parent).length < 2) return false;
  const [own, at] = [spanOf(root), spanOf(field)];
  return at.start < own.start || at.end > own.end;
}
