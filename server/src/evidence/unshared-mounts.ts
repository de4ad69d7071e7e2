import { partOf } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import type { SimpleCommand, Word } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { asText, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { mpiTasks } from './mpi-tasks.ts';
import { dataPlaces } from './progress-volumes.ts';
import { mayMountMore, outlivesNode, volumeNamed } from './volume-lifetime.ts';

/** A mount of one rank that another rank with the same program lacks. */
export interface UnsharedMount {
  readonly container: Container;
  readonly owner: string;
  readonly mountPath: string;
  /** The word of the command that names a path in it; undefined if only the name of the mount says that it holds data. */
  readonly word: Word | undefined;
  /** The path is that of the model whose parts all pods of a group load. */
  readonly isModel?: true;
}

/**
 * The data that the master of a job mounts and a role with the same program lacks: a path that its command names, or a volume for data. Only the
 * first rank may save, so volumes for results are not meant.
 */
export function unsharedMount(podSet: PodSet, workload: Workload): UnsharedMount | undefined {
  if (workload.kind === 'LeaderWorkerSet') return unsharedModel(podSet, workload);
  if (podSet.pods.max === 0 || !hasRanks(workload)) return undefined;
  const launcher = launcherOf(podSet, workload);
  const masters = workload.podSets.filter(({ name }) => masterNames.test(name));
  const [master, ...others] = launcher === undefined ? masters : [launcher];
  if (master === undefined || others.length > 0 || podSet === master) return undefined;
  if (launcher === undefined && !/^workers?$/i.test(podSet.name)) return undefined;
  const [own, first] = [rankOf(podSet), rankOf(master)];
  if (own === undefined || first === undefined || mayMountMore(own)) return undefined;
  // The launcher's program runs in the pods of its workers.
  const runner = launcher === undefined ? own : first;
  const program = scriptOf(runner);
  if (program === undefined || program.text !== scriptOf(first)?.text || own.image?.value !== first.image?.value)
    return undefined;
  for (const { name, mountPath } of first.volumeMounts) {
    const volume = volumeNamed(master, name);
    const isThere = own.volumeMounts.some(
      (one) => overlaps(one.mountPath, mountPath) || isSame(one.name, podSet, name, master),
    );
    if (volume === undefined || mountPath === '/' || isThere) continue;
    const found = { container: runner, owner: master.name, mountPath };
    const holdsCode = volume.source === 'configMap' && isIn(program.text, mountPath);
    if (holdsCode) return { ...found, word: program };
    if (!outlivesNode(volume.source, volume.at)) continue;
    const isForData = dataPlaces.test(mountPath) || /(?:^|[-_])(?:data|datasets?)(?:$|[-_])/.test(name);
    if (isIn(program.text, mountPath)) return { ...found, word: program };
    if (!isForData) continue;
    // What a launcher reads itself is not for its workers, which may fetch the data themselves.
    if (launcher !== undefined && mentionsPath(own, mountPath)) continue;
    const words = wordsIn(runner, mountPath, launcher !== undefined);
    const word = words.find(({ reads }) => reads)?.word;
    // Only the first rank may write there, and a launcher may have data for itself.
    if (word !== undefined || (words.length === 0 && launcher === undefined)) return { ...found, word };
  }
  return undefined;
}

/** The model of a server whose workers join its Ray cluster: each loads a part of it from the same path. */
function unsharedModel(podSet: PodSet, { podSets }: Workload): UnsharedMount | undefined {
  const leader = podSets.find(({ name }) => name === 'leader');
  if (leader === undefined || podSet === leader || podSet.name !== 'worker') return undefined;
  const [own, first] = [rankOf(podSet), rankOf(leader)];
  if (own === undefined || first === undefined || mayMountMore(own)) return undefined;
  if (![...own.command, ...own.args].some(({ value }) => joinsRay.test(value))) return undefined;
  for (const { name, mountPath } of first.volumeMounts) {
    const volume = volumeNamed(leader, name);
    const isThere = own.volumeMounts.some(
      (one) => overlaps(one.mountPath, mountPath) || isSame(one.name, podSet, name, leader),
    );
    if (volume === undefined || mountPath === '/' || isThere || !outlivesNode(volume.source, volume.at)) continue;
    // Each worker may download the model to the same path.
    if (mentionsPath(own, mountPath)) continue;
    const word = modelIn(first, mountPath);
    if (word !== undefined) return { container: first, owner: leader.name, mountPath, word, isModel: true };
  }
  return undefined;
}

const joinsRay = /\bray start\b(?!.*--head)|multi-node-serving\.sh\s+worker/;

/** The word by which vLLM gets a model from a mount: `vllm serve /models/a`, `--model=/models/a`. */
function modelIn(container: Container, mountPath: string): Word | undefined {
  return commandsIn(container)
    .filter(({ words }) => words.some(({ text }) => /\bvllm\b/.test(text)))
    .flatMap(({ words }) => {
      const flag = readFlags(words).find(({ name, value }) => name === 'model' && isIn(value ?? '', mountPath));
      const served = words.find(({ text }, at) => words[at - 1]?.text === 'serve' && isIn(text, mountPath));
      return flag?.valueWord ?? served ?? [];
    })[0];
}

const masterNames = /^(?:master|chief|leader|head)$/i;

/** Whether the roles of a kind are ranks of one program: those of Ray and others have programs of their own. */
function hasRanks({ kind, apiVersion }: Workload): boolean {
  return /^kubeflow\.org\/(?:PyTorch|JAX|TF|Paddle|MPI)Job$|^batch\.volcano\.sh\/Job$|^jobset\.x-k8s\.io\/JobSet$/.test(
    `${groupOf(apiVersion)}/${kind}`,
  );
}

/** The role whose command starts the processes in the pods of a role. */
function launcherOf(podSet: PodSet, workload: Workload): PodSet | undefined {
  const { launcher } = kindOf(workload);
  const tasks = mpiTasks(workload);
  if (tasks?.workers === podSet) return tasks.launcher;
  return launcher?.driven === podSet.name ? workload.podSets.find(({ name }) => name === launcher.waits) : undefined;
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

/** The container that trains in a role, if nothing else in the pod can bring files. */
function rankOf({ pod, containers }: PodSet): Container | undefined {
  const [only, ...others] = containers;
  const isOpen = [pod, getIn(pod, 'containers'), getIn(pod, 'volumes'), only?.at, getIn(only?.at, 'volumeMounts')].some(
    (one) => isIncomplete(one) || isUnseen(one),
  );
  return others.length > 0 || isOpen ? undefined : only;
}

/** The script that the only Python program of a container runs. What a shell does before may fetch data. */
function scriptOf(container: Container): Word | undefined {
  const [only, ...others] = commandsIn(container);
  return others.length > 0 ? undefined : scriptIn(only);
}

function scriptIn(command: SimpleCommand | undefined): Word | undefined {
  return command?.words.find(({ text, dynamic }) => !dynamic && /^[\w./-]+\.py$/.test(text));
}

function mentionsPath({ command, args }: Container, path: string): boolean {
  return [...command, ...args].some(({ value }) => value.includes(path));
}

/** The words of a command that name a path in a mount, and whether the program reads it for certain. `isLaunched`: only those of the program, not of its launcher. */
function wordsIn(
  container: Container,
  mountPath: string,
  isLaunched: boolean,
): readonly { readonly word: Word; readonly reads: boolean }[] {
  return commandsIn(container).flatMap((command) => {
    const script = isLaunched ? scriptIn(command) : undefined;
    const words = script === undefined ? command.words : command.words.slice(command.words.indexOf(script));
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
