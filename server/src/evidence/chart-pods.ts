import { isStrayField } from '../model/charts/apps.ts';
import type { Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';

// Pods that the charts of the common library make of their values, in which everything that the pods get is written.

/** Whether values have all containers of the pods, by name. Values that change others, such as patches, name no image. */
export function hasAllContainers({ partial, wholeResources, manifest }: Workload): boolean {
  if (!partial || wholeResources !== true) return false;
  const containers = entries(getIn(manifest.root, 'containers')).filter((entry) => !isStrayField(entry));
  return containers.length > 0 && containers.every((one) => getIn(one, 'image') !== undefined);
}

/**
 * Whether others may add to the containers of a workload: to patches and to values, unless they have all containers of the pods with their own
 * options and lists of words.
 */
export function mayBeCompleted(workload: Workload): boolean {
  if (!workload.partial || !hasAllContainers(workload)) return workload.partial;
  const { root } = workload.manifest;
  const lists = entries(getIn(root, 'containers')).flatMap((one) => [getIn(one, 'command'), getIn(one, 'args')]);
  const areListed = lists.every((list) => list === undefined || list.node.kind === 'seq');
  const values = root.parent?.parent;
  const isShared = getIn(values, 'defaultContainerOptions') !== undefined;
  return !areListed || isShared || moreValues.some((key) => getIn(values?.parent, key) !== undefined);
}

/** Next to values, the sources of others: in Flux and in Argo CD. */
const moreValues = ['valuesFrom', 'valueFiles', 'parameters', 'fileParameters'];

/**
 * Whether template actions may change more of a document than the texts in which they are written. In complete values, they name hosts and claims
 * (`"{{ .Release.Name }}"`), unless a line begins with one.
 */
export function mayBeRendered(workload: Workload): boolean {
  const { template, text } = workload.manifest.document;
  return template && (mayBeCompleted(workload) || !workload.partial || /^[ \t-]*\{[{%]/m.test(text));
}

/** Whether the pods of the common library end: those of its Jobs and CronJobs. A type that a template writes is unknown. */
export function endsByChart({ manifest: { root }, partial }: Workload): boolean {
  const type = getIn(root, 'type');
  return partial && (isTemplated(type) || /job$/i.test(asText(type) ?? ''));
}

/** Whether the volumes of the common library, which have their own mounts, name a path. */
export function namesMount({ manifest: { root, document } }: Workload, path: string): boolean {
  const volumes = getIn(root.parent?.parent, 'persistence');
  const span = volumes && spanOf(volumes);
  return span !== undefined && document.text.slice(span.start, span.end).includes(path);
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
