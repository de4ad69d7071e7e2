import type { Container, PodSet, Workload } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { addItem } from './add-item.ts';
import { type Edits, joinEdits } from './fix.ts';

/** The name of the claim for a workload's checkpoints; undefined if the workload has no name. */
export function checkpointClaim({ name }: Workload): string | undefined {
  return name === null ? undefined : `${name}-checkpoints`;
}

/** Mounts a claim in a container. Undefined if a volume is already mounted in or above the path, or if the pod's volumes are elsewhere. */
export function mountClaim(
  document: YamlDocument,
  podSet: PodSet,
  container: Container,
  claim: { readonly claimName: string; readonly mountPath: string },
): Edits {
  const { claimName, mountPath } = claim;
  if (container.volumeMounts.some((one) => isIn(mountPath, one.mountPath) || isIn(one.mountPath, mountPath)))
    return undefined;
  const name = 'checkpoints';
  const taken = [...podSet.volumes, ...container.volumeMounts].some((volume) => volume.name === name);
  if (taken || getIn(podSet.pod, 'containers') === undefined) return undefined;
  return joinEdits(
    addItem(document, container.at, 'volumeMounts', { name, mountPath }),
    addItem(document, podSet.pod, 'volumes', { name, persistentVolumeClaim: { claimName } }),
  );
}

/** Whether a path is a directory or in it. */
export function isIn(path: string, directory: string): boolean {
  const plain = directory.replace(/(?<!\/)\/+$/, '');
  return path === plain || path.startsWith(`${plain}/`);
}
