import { wordSet } from '../catalog/word-patterns.ts';
import { baseName, type Word } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { isGpuFile } from './gpu-files.ts';
import { usesAccelerators } from './launch.ts';
import { cloneTarget } from './repeated-clone.ts';
import { mayMountMore, outlivesNode, volumeNamed } from './volume-lifetime.ts';
import { folderOf, unknownRoots } from './working-folder.ts';

/** A program that a container clones next to the volume that is mounted for it. */
export interface StrayClone {
  readonly word: Word;
  /** As written. */
  readonly folder: string;
  readonly mount: Container['volumeMounts'][number];
}

/** The clone into a folder that has the name of a mounted one, but is another, which nothing else of the command names. */
export function strayClone(container: Container, podSet: PodSet): StrayClone | undefined {
  const { command, args, env, volumeMounts } = container;
  // The program may read the place of its files from a variable.
  const text = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])].map(({ value }) => value).join('\n');
  if (!/\bgit\b.*\bclone\b/.test(text) || mayMountMore(container) || !usesGpus(container, podSet)) return undefined;
  for (const one of commandsIn(container)) {
    const words = programWords(one);
    const word = one.words.find((each) => each.text === 'clone');
    const target = baseName(words[0] ?? '') === 'git' && words[1] === 'clone' ? cloneTarget(words.slice(2)) : undefined;
    if (word === undefined || target === undefined || /[$`*~]/.test(target)) continue;
    const from = target.startsWith('/') ? '' : folderOf(word, container);
    if (from === undefined || from.startsWith(unknownRoots.home)) continue;
    const path = target.startsWith('/') ? target : `${from.replace(/\/$/, '')}/${target.replace(/^\.\//, '')}`;
    if (volumeMounts.some(({ mountPath }) => isIn(path, mountPath))) continue;
    const name = nameOf(path);
    const [mount, ...others] = volumeMounts.filter(
      (each) => nameOf(each.mountPath).toLowerCase() === name.toLowerCase(),
    );
    if (mount === undefined || others.length > 0 || forFiles.has(name.toLowerCase()) || text.includes(mount.mountPath))
      continue;
    // In an unknown folder, only another spelling is certainly another one.
    if (path.startsWith(unknownRoots.image) && nameOf(mount.mountPath) === name) continue;
    const volume = volumeNamed(podSet, mount.name);
    if (volume !== undefined && outlivesNode(volume.source, volume.at)) return { word, folder: target, mount };
  }
  return undefined;
}

/** Names of volumes for the files of any program, whose settings may have the path. */
const forFiles = wordSet(
  'data dataset datasets model models checkpoint checkpoints weights output outputs result results log logs cache',
  'config configs workspace work scripts code src storage shared home',
);

/** Whether a container has GPUs, also by their device files. */
function usesGpus(container: Container, podSet: PodSet): boolean {
  return usesAccelerators(container, podSet) || container.volumeMounts.some(({ mountPath }) => isGpuFile(mountPath));
}

function nameOf(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1);
}
