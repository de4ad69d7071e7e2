import { namesAccelerators } from '../model/accelerators.ts';
import type { Workload } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete } from '../yaml/cursor.ts';
import { writtenText } from './written.ts';

/** `resourceVersion` and `uid` of a whole object with accelerators: the API server sets them, and `kubectl get -o yaml` writes them. */
export function exportedFields({ partial, podSets, manifest }: Workload): readonly Cursor[] {
  const metadata = getIn(manifest.root, 'metadata');
  const [version, uid] = [getIn(metadata, 'resourceVersion'), getIn(metadata, 'uid')];
  if (partial || version === undefined || isIncomplete(metadata) || !podSets.some(namesAccelerators)) return [];
  if (!/^[1-9]\d*$/.test(writtenText(version) ?? '')) return [];
  return [version, ...(uid === undefined ? [] : [uid])];
}
