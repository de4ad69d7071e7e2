import type { Manifest } from '../model/workload.ts';
import { asText, at, items } from '../yaml/cursor.ts';

/** Whether an object's own `status`, in a file that was read from a cluster, says that it ran as it is. */
export function hasRun({ root }: Manifest): boolean {
  const status = at(root, 'status');
  if (status === undefined) return false;
  const phase = asText(at(status, 'phase')) ?? asText(at(status, 'state')) ?? asText(at(status, 'jobStatus')) ?? '';
  if (/^(?:succeeded|completed?)$/i.test(phase)) return true;
  return items(at(status, 'conditions')).some(
    (condition) =>
      asText(at(condition, 'status')) === 'True' &&
      /^(?:Succeeded|Complete|Completed|Ready|Available)$/.test(asText(at(condition, 'type')) ?? ''),
  );
}
