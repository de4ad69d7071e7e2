import { apiFields } from '../catalog/index.ts';
import { isValues } from '../model/values.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { hasAllContainers } from './chart-pods.ts';

// Pods and containers have a securityContext each, with different fields. Charts pass both on from their values.

/** Settings of one level in a security context of the other. */
export interface OtherLevel {
  /** The first of them. */
  readonly at: Cursor;
  readonly names: readonly string[];
  /** Where they belong, and where they are, in words. */
  readonly place: string;
  readonly instead: string;
}

/** The misplaced settings in a chart's values. */
export function otherLevels({ pod, containers }: PodSet, workload: Workload): readonly OtherLevel[] {
  if (!isValues(workload)) return [];
  const own = (at: Cursor, key: string) => getIn(at, key);
  // Without one that is the pod's by its name, it may be either.
  const sibling = own(pod, 'podSecurityContext') === undefined ? undefined : own(pod, 'securityContext');
  const isCommon = hasAllContainers(workload);
  const ofPod = [own(pod, 'podSecurityContext'), isCommon ? own(pod, 'securityContext') : undefined];
  const ofContainer = [
    own(pod, 'containerSecurityContext'),
    ...(isCommon ? containers.map(({ at }) => own(at, 'securityContext')) : [sibling]),
  ];
  return [
    ...ofPod.flatMap((at) => foreignIn(at, 'PodSecurityContext', 'SecurityContext')),
    ...ofContainer.flatMap((at) => foreignIn(at, 'SecurityContext', 'PodSecurityContext')),
  ];
}

const places = table<string>({
  PodSecurityContext: "the pod's securityContext",
  SecurityContext: "a container's securityContext",
});

const short = table<string>({ PodSecurityContext: "the pod's", SecurityContext: "the container's" });

/** The fields of a mapping that its type does not have and the other has; a chart may have keys of its own. */
function foreignIn(at: Cursor | undefined, type: string, other: string): readonly OtherLevel[] {
  if (at === undefined || isIncomplete(at)) return [];
  const [fields, others] = [apiFields(type), apiFields(other)];
  const found = entries(at).filter((entry) => !fields.has(keyOf(entry)) && others.has(keyOf(entry)));
  const [first] = found;
  if (first === undefined) return [];
  const key = keyOf(at);
  const instead = key === 'securityContext' ? (short[type] ?? key) : key;
  return [{ at: first, names: found.map(keyOf), place: places[other] ?? other, instead }];
}
