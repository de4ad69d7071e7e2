import { partOf } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import type { SimpleCommand, Word } from '../command/shell.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { asText, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';
import { dataPlaces } from './progress-volumes.ts';
import { mayMountMore, outlivesNode, volumeNamed } from './volume-lifetime.ts';

/** A mount of one rank that another rank with the same program lacks. */
export interface UnsharedMount {
  readonly container: Container;
  readonly owner: string;
  readonly mountPath: string;
  /** The word of the command that names a path in it; undefined if only the name of the mount says that it holds data. */
  readonly word: Word | undefined;
}

/**
 * The data that the master of a job mounts and a role with the same program lacks: a path that its command names, or a volume for data. Only the
 * first rank may save, so volumes for results are not meant.
 */
export function unsharedMount(podSet: PodSet, { podSets }: Workload): UnsharedMount | undefined {
  const [master, ...others] = podSets.filter(({ name }) => /^(?:master|chief)$/i.test(name));
  if (master === undefined || others.length > 0 || podSet === master || !/^worker$/i.test(podSet.name))
    return undefined;
  const [own, first] = [rankOf(podSet), rankOf(master)];
  if (own === undefined || first === undefined || podSet.pods.max === 0 || mayMountMore(own)) return undefined;
  const program = scriptOf(own);
  if (program === undefined || program.text !== scriptOf(first)?.text || own.image?.value !== first.image?.value)
    return undefined;
  for (const { name, mountPath } of first.volumeMounts) {
    const volume = volumeNamed(master, name);
    const isThere = own.volumeMounts.some(
      (one) => overlaps(one.mountPath, mountPath) || isSame(one.name, podSet, name, master),
    );
    if (volume === undefined || mountPath === '/' || isThere) continue;
    const holdsCode = volume.source === 'configMap' && isIn(program.text, mountPath);
    if (holdsCode) return { container: own, owner: master.name, mountPath, word: program };
    if (!outlivesNode(volume.source, volume.at)) continue;
    const isForData = dataPlaces.test(mountPath) || /(?:^|[-_])(?:data|datasets?)(?:$|[-_])/.test(name);
    if (isIn(program.text, mountPath)) return { container: own, owner: master.name, mountPath, word: program };
    if (!isForData) continue;
    const words = wordsIn(own, mountPath);
    const word = words.find(({ reads }) => reads)?.word;
    // Only the first rank may write there.
    if (words.length === 0 || word !== undefined) return { container: own, owner: master.name, mountPath, word };
  }
  return undefined;
}

/** Whether two roles have one volume, perhaps at different paths. */
function isSame(one: string, podSet: PodSet, other: string, ofOther: PodSet): boolean {
  const [claim, claimOfOther] = [volumeNamed(podSet, one), volumeNamed(ofOther, other)].map((volume) =>
    asText(getIn(volume?.at, 'persistentVolumeClaim', 'claimName')),
  );
  return one === other || (claim !== undefined && claim === claimOfOther);
}

function overlaps(one: string, other: string): boolean {
  return isIn(one, other) || isIn(other, one);
}

/** The container that trains in a role of a PyTorchJob, TFJob or the like, if nothing else in the pod can bring files. */
function rankOf({ pod, containers }: PodSet): Container | undefined {
  const [only, ...others] = containers;
  const roles = pod.parent?.parent?.parent;
  const isOpen = [pod, getIn(pod, 'containers'), getIn(pod, 'volumes'), only?.at, getIn(only?.at, 'volumeMounts')].some(
    (one) => isIncomplete(one) || isUnseen(one),
  );
  if (only === undefined || others.length > 0 || isOpen || roles === undefined) return undefined;
  return /^(?:pytorch|jax|tf|paddle)ReplicaSpecs$/.test(keyOf(roles)) ? only : undefined;
}

/** The script that the only Python program of a container runs. What a shell does before may fetch data. */
function scriptOf(container: Container): Word | undefined {
  const [only, ...others] = commandsIn(container);
  return others.length > 0 ? undefined : scriptIn(only);
}

function scriptIn(command: SimpleCommand | undefined): Word | undefined {
  return command?.words.find(({ text, dynamic }) => !dynamic && /^[\w./-]+\.py$/.test(text));
}

/** The words of a command that name a path in a mount, and whether the program reads it for certain. */
function wordsIn(container: Container, mountPath: string): readonly { readonly word: Word; readonly reads: boolean }[] {
  return commandsIn(container).flatMap(({ words }) => {
    const flags = readFlags(words);
    const mayDownload = flags.some(({ name }) => /download/.test(name));
    return words
      .filter(({ text }) => isIn(text.slice(text.indexOf('=') + 1), mountPath))
      .map((word) => {
        const flag = flags.find(({ valueWord }) => valueWord === word);
        return { word, reads: !mayDownload && !(flag !== undefined && writes.test(flag.name)) };
      });
  });
}

const writes = partOf(
  'out save checkpoint ckpt log result tensorboard cache export report metric profile',
  'artifact resume model tmp scratch work run exp',
);
