import type { Container, PodSet } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { addItem } from './add-item.ts';
import type { Edits } from './fix.ts';

/** Mounts a memory-backed volume at /dev/shm: the pod's own one, or a new one. */
export function mountMemory(document: YamlDocument, container: Container, podSet: PodSet): readonly Edits[] {
  const existing = podSet.volumes.find(
    ({ source, at: volume }) => source === 'emptyDir' && asText(getIn(volume, 'emptyDir', 'medium')) === 'Memory',
  );
  const taken = podSet.volumes.some(({ name }) => name === 'shm');
  const name = existing?.name ?? (taken ? 'shared-memory' : 'shm');
  const volume = { name, emptyDir: { medium: 'Memory' } };
  return [
    addItem(document, container.at, 'volumeMounts', { name, mountPath: '/dev/shm' }),
    existing === undefined ? addItem(document, podSet.pod, 'volumes', volume) : [],
  ];
}
