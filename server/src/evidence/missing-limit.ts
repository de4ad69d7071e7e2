import { kindEntry } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container, Workload } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';

/** Whether a container certainly has no limit for a resource that its requests may name. */
export function lacksLimitOf(
  resource: string,
  container: Container,
  { workload }: { readonly workload: Workload },
): boolean {
  const limits = getIn(container.resources, 'limits');
  if (getIn(limits, resource) !== undefined) return false;
  // gpu-misplaced reports a count at the wrong level.
  if (getIn(container.resources, resource) !== undefined || getIn(container.at, 'limits', resource) !== undefined)
    return false;
  if ((workload.partial || workload.role === 'definition') && !hasWholeResources(workload)) return false;
  return (
    !isIncomplete(container.at) && !isIncomplete(container.resources) && !isIncomplete(limits) && !isTemplated(limits)
  );
}

function hasWholeResources({ apiVersion, kind, wholeResources }: Workload): boolean {
  return wholeResources === true || kindEntry(groupOf(apiVersion), kind)?.wholeResources === true;
}
