import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asBoolean, type Cursor, entries, getIn, items, keyOf } from '../yaml/cursor.ts';

/** Whether devices come from a claim, a scheduler's annotation, or a resource that is not in the catalog. */
export function getsDevicesOtherwise(
  { pod, annotations, labels, containers }: PodSet,
  { manifest }: Workload,
): boolean {
  if (items(getIn(pod, 'resourceClaims')).length > 0 || getIn(pod, 'schedulerName') !== undefined) return true;
  const marks = [...annotations, ...labels, ...manifest.annotations, ...manifest.labels];
  if (marks.some(({ at: mark }) => /gpu|vcuda|runai|kai\./i.test(keyOf(mark)))) return true;
  return containers.some(({ resources }) =>
    [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))].some((entry) =>
      keyOf(entry).includes('/'),
    ),
  );
}

/** Whether the pod manages its node: it mounts host directories or runs with host privileges. */
export function servesNode({ pod, containers, volumes }: PodSet): boolean {
  if (['hostPID', 'hostNetwork'].some((field) => asBoolean(getIn(pod, field)) === true)) return true;
  if (persistenceOf(pod).some((volume) => getIn(volume, 'hostPath') !== undefined)) return true;
  return volumes.some(({ source }) => source === 'hostPath') || containers.some(isPrivileged);
}

function isPrivileged({ at: container }: Container): boolean {
  return asBoolean(getIn(container, 'securityContext', 'privileged')) === true;
}

/** The volumes that the charts of the common library mount into their pods. */
function persistenceOf(pod: Cursor): readonly Cursor[] {
  for (let here: Cursor | undefined = pod; here !== undefined; here = here.parent) {
    const volumes = getIn(here, 'persistence');
    if (volumes !== undefined) return entries(volumes);
  }
  return [];
}
