import type { Flag } from '../command/flags.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { addItem } from './add-item.ts';
import { type Fix, fix } from './fix.ts';
import { setFlag } from './words.ts';

/** A directory of checkpoints, as written, and the flag that names it. */
export interface CheckpointDirectory {
  readonly path: string;
  readonly flag: Flag | undefined;
}

/** The parts of a workload that a claim is added to. */
interface Target {
  readonly container: Container;
  readonly podSet: PodSet;
  readonly workload: Workload;
}

/**
 * Mounts a claim at the directory, or sets its flag to a new directory on a claim if the old one may also contain the program. Undefined if a
 * volume is already mounted in or above the new place, and if the path is a file, because other files may share its directory.
 */
export function keepCheckpoints(
  document: YamlDocument,
  { path: written, flag }: CheckpointDirectory,
  { container, podSet, workload }: Target,
): Fix | undefined {
  const path = written.replace(/(?<!\/)\/+$/, '');
  const isOwn = /^(?:\/[\w-]+)+$/.test(path) && !mayHoldProgram.test(path);
  if (!isOwn && (flag === undefined || !/^(?:[\w./-]*[/])?[\w-]+$/.test(path))) return undefined;
  const mountPath = isOwn ? path : '/checkpoints';
  if (container.volumeMounts.some((mount) => isIn(mountPath, mount.mountPath) || isIn(mount.mountPath, mountPath)))
    return undefined;
  const name = 'checkpoints';
  const taken = [...podSet.volumes, ...container.volumeMounts].some((volume) => volume.name === name);
  if (taken || workload.name === null || getIn(podSet.pod, 'containers') === undefined) return undefined;
  const claimName = `${workload.name}-checkpoints`;
  const lines = [...container.command, ...container.args];
  return fix(
    isOwn ? `Mount the claim ${claimName} at ${mountPath}` : `Write to the claim ${claimName} at ${mountPath}`,
    'unsafe',
    addItem(document, container.at, 'volumeMounts', { name, mountPath }),
    addItem(document, podSet.pod, 'volumes', { name, persistentVolumeClaim: { claimName } }),
    isOwn || flag === undefined ? [] : setFlag(document, lines, flag, mountPath),
  );
}

/** Directories in which images keep their programs. */
const mayHoldProgram = /^\/(?:workspace|app|code|src|opt|root|home|usr|bin|etc|var|tmp|mnt|data)?$/;

function isIn(path: string, directory: string): boolean {
  const plain = directory.replace(/(?<!\/)\/+$/, '');
  return path === plain || path.startsWith(`${plain}/`);
}
