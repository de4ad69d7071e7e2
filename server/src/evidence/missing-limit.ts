import { kindEntry } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { isListedContainer } from '../model/pod.ts';
import { isValues } from '../model/values.ts';
import type { Container, Workload } from '../model/workload.ts';
import { entries, getIn, isIncomplete, isTemplated, keyOf } from '../yaml/cursor.ts';

/** Whether a container certainly has no limit for a resource that its requests may name. */
export function lacksLimitOf(
  resource: string,
  container: Container,
  { workload }: { readonly workload: Workload },
): boolean {
  if ((workload.partial || workload.role === 'definition') && !hasWholeResources(workload)) return false;
  return writesNoLimitOf(resource, container);
}

/**
 * Whether a container likely has none: charts pass `resources` in their values on unchanged, but an unknown one may have limits that Helm adds to the
 * written requests. Operators that nobody listed pass on whole containers, and blocks that have both requests and limits.
 */
export function likelyLacksLimitOf(
  resource: string,
  container: Container,
  { workload }: { readonly workload: Workload },
): boolean {
  const passesOn =
    (isValues(workload) && keyOf(container.resources ?? container.at) === 'resources') ||
    (workload.byShape && (isListedContainer(container.at) || entries(getIn(container.resources, 'limits')).length > 0));
  return passesOn && writesNoLimitOf(resource, container);
}

function writesNoLimitOf(resource: string, container: Container): boolean {
  const limits = getIn(container.resources, 'limits');
  if (getIn(limits, resource) !== undefined) return false;
  // gpu-misplaced reports a count at the wrong level.
  if (getIn(container.resources, resource) !== undefined || getIn(container.at, 'limits', resource) !== undefined)
    return false;
  return (
    !isIncomplete(container.at) && !isIncomplete(container.resources) && !isIncomplete(limits) && !isTemplated(limits)
  );
}

function hasWholeResources({ apiVersion, kind, wholeResources }: Workload): boolean {
  return wholeResources === true || kindEntry(groupOf(apiVersion), kind)?.wholeResources === true;
}
