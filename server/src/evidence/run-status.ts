import type { Manifest } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';

/** Whether the object's `status` in a file exported from a cluster shows that it ran in this form. */
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
