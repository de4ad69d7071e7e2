import type { Manifest } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';

/** Whether an object's own `status`, in a file that was read from a cluster, says that it ran as it is. */
export function hasRun({ root }: Manifest): boolean {
  const status = getIn(root, 'status');
  if (status === undefined) return false;
  const phase =
    asText(getIn(status, 'phase')) ?? asText(getIn(status, 'state')) ?? asText(getIn(status, 'jobStatus')) ?? '';
  if (/^(?:succeeded|completed?)$/i.test(phase)) return true;
  return items(getIn(status, 'conditions')).some(
    (condition) =>
      asText(getIn(condition, 'status')) === 'True' &&
      /^(?:Succeeded|Complete|Completed|Ready|Available)$/.test(asText(getIn(condition, 'type')) ?? ''),
  );
}
