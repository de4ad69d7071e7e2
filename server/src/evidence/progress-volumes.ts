import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { baseName } from '../command/shell.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Volume } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { asText, getIn, isUnseen } from '../yaml/cursor.ts';
import { mayMountMore, outlivesNode, volumeNamed } from './volume-lifetime.ts';

/** An empty volume of the pod that is mounted for what training saves. */
export interface ProgressVolume {
  readonly mountPath: string;
  readonly volume: Volume;
  /** It is for checkpoints. Otherwise it is for results, which may be copied elsewhere. */
  readonly holdsCheckpoints: boolean;
}

/** The only place that a pod has for what training saves, if it is an empty volume of the pod, by the names of the volume and the path. */
export function progressVolume(container: Container, podSet: PodSet): ProgressVolume | undefined {
  if (mayMountMore(container)) return undefined;
  let found: ProgressVolume | undefined;
  for (const mount of container.volumeMounts) {
    const volume = volumeNamed(podSet, mount.name);
    const emptyDir = volume && getIn(volume.at, 'emptyDir');
    const names = [mount.name, baseName(mount.mountPath.replace(/\/+$/, ''))].map(wordsOf);
    const isFor = (words: ReadonlySet<string>) =>
      names.some(
        (name) => name.some((word) => words.has(word)) && name.every((word) => words.has(word) || fill.has(word)),
      );
    if (volume === undefined || isUnseen(volume.at) || isUnseen(emptyDir)) return undefined;
    if (emptyDir === undefined) {
      // Another volume may be the one for what training saves.
      if (outlivesNode(volume.source, volume.at) && !isForInput(mount)) return undefined;
      continue;
    }
    if (asText(getIn(emptyDir, 'medium')) === 'Memory' || isForDownloads(mount, container)) continue;
    // An init container may fill it, and a sidecar may copy it.
    if ((users(podSet).get(mount.name) ?? 0) > 1) return undefined;
    const holdsCheckpoints = isFor(checkpoints);
    if (!holdsCheckpoints && !isFor(results)) continue;
    if (found === undefined || (holdsCheckpoints && !found.holdsCheckpoints))
      found = { mountPath: mount.mountPath, volume, holdsCheckpoints };
  }
  return found;
}

/** The number of containers that mount each volume. */
const users = once(({ containers }: PodSet): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { volumeMounts } of containers)
    for (const name of new Set(volumeMounts.map((mount) => mount.name))) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
});

/** Directories at the root for data, in which an image has no program that a volume would hide. */
export const dataPlaces = new RegExp(
  `^/(?:mnt/|pvc/)?(?:${oneOf('data datasets? inputs? imagenet coco corpus raw[_-]?data training[_-]data')})(?:/|$)`,
  'i',
);

function isForInput({ at, mountPath }: Container['volumeMounts'][number]): boolean {
  return dataPlaces.test(mountPath) || /cache|hugging/i.test(mountPath) || asText(getIn(at, 'readOnly')) === 'true';
}

/** Whether a library keeps what it downloads in a mount: `TORCH_HOME`. */
function isForDownloads({ mountPath }: Container['volumeMounts'][number], { env }: Container): boolean {
  return env.some(({ name, value }) => /(?:HOME|CACHE)(?:_DIR)?$/.test(name) && isIn(value?.value ?? '', mountPath));
}

const checkpoints = wordSet('checkpoint checkpoints ckpt ckpts snapshots');
const results = wordSet('output outputs out results artifacts');
const fill = wordSet('training train trained model models volume vol storage store dir data job run runs my the');
