import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { isRequested } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Volume } from '../model/workload.ts';
import { asBoolean, asText, getIn, isIncomplete, isTemplated, isUnseen, items } from '../yaml/cursor.ts';

/** A volume in memory that is meant for /dev/shm, by its name, but is not there in any container with accelerators. */
export interface StrayMemory {
  readonly volume: Volume;
  /** Where it is instead, in words. */
  readonly where: string;
}

/** The stray volume of a pod, for its first container with accelerators only; undefined if a container has it at /dev/shm, or may have. */
export function strayMemory(container: Container, podSet: PodSet): StrayMemory | undefined {
  const { pod, volumes, containers } = podSet;
  const volume = volumeIn(volumes);
  if (volume === undefined || containers.find(isHolder)?.at !== container.at) return undefined;
  if (asBoolean(getIn(pod, 'hostIPC')) === true || isTemplated(getIn(volume.at, 'name'))) return undefined;
  const lists = ['containers', 'initContainers', 'volumes'].map((key) => getIn(pod, key));
  if ([pod, ...lists, volume.at].some(isUnseen) || lists.some(isIncomplete)) return undefined;
  const holders = containers.filter(isHolder);
  if (!holders.every(hasKnownMounts) || holders.some(mountsShm)) return undefined;
  const own = container.volumeMounts.find(({ name }) => name === volume.name);
  if (own !== undefined) {
    // A program that knows the directory uses it.
    const texts = [...container.command, ...container.args, ...container.env.flatMap(({ value }) => value ?? [])];
    const isUsed = texts.some(({ value }) => value.includes(own.mountPath));
    return isUsed ? undefined : { volume, where: `mounted at ${own.mountPath}` };
  }
  const other = containers.find(({ volumeMounts }) => volumeMounts.some(({ name }) => name === volume.name));
  if (other === undefined) return { volume, where: 'mounted nowhere' };
  return { volume, where: `mounted only in ${other.name ?? 'another container'}` };
}

function isHolder({ type, accelerators }: Container): boolean {
  return type === 'app' && accelerators.some(isRequested);
}

/** The only volume in memory with such a name. */
const volumeIn = once((volumes: PodSet['volumes']): Volume | undefined => {
  const named = volumes.filter(
    ({ name, source }) => source === 'emptyDir' && wordsOf(name).some((one) => words.has(one)),
  );
  const [volume, ...others] = named;
  const isOne = volume !== undefined && others.length === 0;
  return isOne && asText(getIn(volume.at, 'emptyDir', 'medium')) === 'Memory' ? volume : undefined;
});

/** Whether all mounts of a container are written. */
function hasKnownMounts({ at }: Container): boolean {
  const mounts = getIn(at, 'volumeMounts');
  if (mounts === undefined) return !isIncomplete(at);
  return ![mounts, ...items(mounts)].some(
    (one) =>
      isUnseen(one) || isIncomplete(one) || isTemplated(getIn(one, 'mountPath')) || isTemplated(getIn(one, 'name')),
  );
}

function mountsShm({ volumeMounts }: Container): boolean {
  return volumeMounts.some(({ mountPath }) => /^\/dev(?:\/?$|\/shm(?:\/|$))/.test(mountPath));
}

const words = wordSet('shm dshm devshm shmem sharedmem');
