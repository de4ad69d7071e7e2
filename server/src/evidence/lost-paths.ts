import type { CheckpointSign } from '../command/checkpoint.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { asBoolean, asText, getIn, isTemplated } from '../yaml/cursor.ts';
import { checkpointSigns } from './launch.ts';
import { dataPlaces } from './progress-volumes.ts';
import { mayMountMore, outlivesNode, volumeNamed } from './volume-lifetime.ts';
import { folderOf, unknownRoots } from './working-folder.ts';

/** A path, and the word of the command that has it. */
export type Place = Pick<CheckpointSign, 'text' | 'word'>;

/** The mount that holds a path. */
export function mountOf(
  path: string | undefined,
  { volumeMounts }: Container,
): Container['volumeMounts'][number] | undefined {
  if (path === undefined) return undefined;
  return volumeMounts
    .filter(({ mountPath }) => isIn(path, mountPath))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
}

/** Whether what a container writes to a path ends with the pod or its node. */
export function isLost(sign: Place, container: Container, podSet: PodSet): boolean {
  if (mayMountMore(container)) return false;
  const path = absolute(sign, container);
  const mounts = container.volumeMounts.filter((mount) => !losesFiles(mount, podSet));
  // Wherever a relative path leads, it leads to the container or to one of its mounts.
  if (path === undefined || mounts.length === 0) return mounts.length === 0;
  if (isIn(path, unknownRoots.home))
    return !(
      mounts.some(({ mountPath }) => homes.test(mountPath)) ||
      container.env.some(({ name }) => name === 'HOME') ||
      [...container.command, ...container.args].some(({ value }) => value.includes('HOME='))
    );
  if (isIn(path, unknownRoots.image)) return isBesideData(sign, container, podSet);
  const mount = mountOf(path, container);
  return mount === undefined || losesFiles(mount, podSet);
}

const homes = /^\/(?:root|home|users?)?(?:\/|$)/i;

/** Whether a path is relative to the unknown directory of an image, while all volumes that outlive the pod are places for data. */
export function isBesideData(sign: Place, container: Container, podSet: PodSet): boolean {
  const path = absolute(sign, container);
  if (path === undefined || !isIn(path, unknownRoots.image)) return false;
  if (container.image === undefined || isTemplated(container.image.at)) return false;
  const mounts = container.volumeMounts.filter((mount) => !losesFiles(mount, podSet));
  const [, first = ''] = path.slice(1).split('/');
  // A program in the volume may run there.
  return (
    mounts.length > 0 &&
    mounts.every(({ mountPath }) => dataPlaces.test(mountPath) && !mountPath.split('/').includes(first))
  );
}

function losesFiles(mount: Container['volumeMounts'][number], podSet: PodSet): boolean {
  const volume = volumeNamed(podSet, mount.name);
  return volume !== undefined && !outlivesNode(volume.source, volume.at) && !isCopied(mount, podSet);
}

/** Whether another container, which runs at the same time, has the volume and a tool that copies files to other storage. */
function isCopied({ name }: Container['volumeMounts'][number], { containers }: PodSet): boolean {
  const others = containers.filter(
    ({ type, volumeMounts }) => type !== 'init' && volumeMounts.some((mount) => mount.name === name),
  );
  return others.length > 1 && others.some((other) => checkpointSigns(other).some(({ kind }) => kind === 'store'));
}

/** Resolves a path against the folder in which its command runs. Undefined if the folder is unknown. */
export function absolute({ text: path, word }: Place, container: Container): string | undefined {
  if (path.startsWith('/')) return path;
  if (path.startsWith('~/')) return `${unknownRoots.home}${path.slice(1)}`;
  if (path.startsWith('~')) return undefined;
  const folder = word === undefined ? asText(getIn(container.at, 'workingDir')) : folderOf(word, container);
  return folder === undefined ? undefined : `${folder.replace(/\/$/, '')}/${path.replace(/^\.\//, '')}`;
}

/** Whether a mount is read-only. */
export function isFixed({ at, name }: Container['volumeMounts'][number], podSet: PodSet): boolean {
  const volume = volumeNamed(podSet, name);
  // The kubelet mounts these read-only.
  if (/^(?:configMap|secret|downwardAPI|projected)$/.test(volume?.source ?? '')) return true;
  const claim = getIn(volume?.at, 'persistentVolumeClaim', 'readOnly');
  return [getIn(at, 'readOnly'), claim].some(
    (one) => one !== undefined && !isTemplated(one) && asBoolean(one) === true,
  );
}
