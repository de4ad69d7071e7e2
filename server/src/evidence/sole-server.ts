import { wordSet } from '../catalog/word-patterns.ts';
import { programWords, recognizeProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { groupOf } from '../model/manifest.ts';
import { once } from '../model/once.ts';
import { imageUseOf, processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asBoolean, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { mayBeCompleted } from './chart-pods.ts';

/** The one server that a container runs. */
export interface SoleServer {
  readonly program: string;
  /** Its command, or the arguments for the entrypoint of the image; undefined for an entrypoint without arguments. */
  readonly command: SimpleCommand | undefined;
  /** The entrypoint of the image starts it, and may set flags of its own. */
  readonly byImage: boolean;
}

/** The server of a container that runs one, and nothing that could forward requests to it or ask it. */
export const soleServer = once((container: Container): SoleServer | undefined => {
  const { command, args, env } = processInput(container);
  const commands = allCommands(readCommandLine(command, args, env).statements);
  const servers = commands.flatMap((one) => {
    const found = recognizeProgram([one]);
    return found?.use === 'serving' && found.program !== null ? [{ program: found.program, command: one }] : [];
  });
  const [server, ...others] = servers;
  // A proxy or a client next to the server is what connects to it.
  const started = server?.command ?? (command.length === 0 ? commands[0] : undefined);
  if (commands.some((one) => one.background || !(one === started || isHarmless(one)))) return undefined;
  if (server !== undefined) return others.length > 0 ? undefined : { ...server, byImage: false };
  // The entrypoint of the image is the server.
  const { use, program } = imageUseOf(container);
  if (command.length > 0 || use !== 'serving' || program === null) return undefined;
  return { program, command: commands[0], byImage: true };
});

/**
 * The servers that a container's command line starts, whatever else runs there: a leader and its workers, or one after a script that prepares it.
 * Each reads only its own flags.
 */
export const startedServers = once((container: Container): readonly SoleServer[] => {
  const sole = soleServer(container);
  if (sole !== undefined) return [sole];
  const { command, args, env } = processInput(container);
  return allCommands(readCommandLine(command, args, env).statements).flatMap((one) => {
    const found = recognizeProgram([one]);
    return found?.use === 'serving' && found.program !== null
      ? [{ program: found.program, command: one, byImage: false }]
      : [];
  });
});

/** The first server that a script starts, if nothing before it can set variables or bring files: what comes after it does not change its start. */
export const firstServer = once((container: Container): string | undefined => {
  const { command, args, env } = processInput(container);
  for (const one of allCommands(readCommandLine(command, args, env).statements)) {
    const found = recognizeProgram([one]);
    if (found?.use === 'serving' && found.program !== null) return found.program;
    if (!isHarmless(one) || /^(?:source|\.)$/.test(programWords(one)[0] ?? '')) return undefined;
  }
  return undefined;
});

/**
 * Whether nothing else in a pod can be what its probes and Services reach: no other container, and not the network of the node, where programs
 * of the node may be meant.
 */
export function isAlone(container: Container, { containers, pod }: PodSet, workload: Workload): boolean {
  const isWhole = !mayBeCompleted(workload) && workload.role !== 'definition';
  const isSeen = isWhole && !isIncomplete(pod) && !isUnseen(getIn(pod, 'containers'));
  const hasOthers = containers.some((one) => one !== container && one.type !== 'init');
  return isSeen && !isIncomplete(container.at) && !hasOthers && asBoolean(getIn(pod, 'hostNetwork')) !== true;
}

/** Whether containers run what the manifest says: operators such as KubeRay replace commands and add flags and volumes. */
export function runsAsWritten({ apiVersion }: Pick<Workload, 'apiVersion'>): boolean {
  return plainGroups.has(groupOf(apiVersion));
}

const plainGroups: ReadonlySet<string> = new Set([
  ...['', 'apps', 'batch', 'leaderworkerset.x-k8s.io', 'jobset.x-k8s.io', 'keda.sh', 'serving.knative.dev'],
  ...['serving.kserve.io', 'argoproj.io', 'apps.kruise.io'],
]);

/** A command that prepares the server, and neither serves nor asks it. */
export function isHarmless(command: SimpleCommand): boolean {
  const [name = '', action = ''] = programWords(command);
  return name === '' || preparing.has(baseName(name)) || (baseName(name) === 'ray' && joinsRay.has(action));
}

const preparing = wordSet(
  'cd export set source . env ulimit sleep wait test [ true echo date',
  'mkdir touch ln cp mv rm ls cat head tail grep sed tee chmod chown printf pwd id whoami hostname nproc free df du nvidia-smi ldconfig',
  // They install programs or download models.
  'pip pip3 uv conda mamba apt apt-get apk git hf huggingface-cli modelscope',
  'wget curl aws aria2c azcopy gsutil gcloud rclone s5cmd tar unzip',
);

/** Actions of `ray` after which a server may run on its cluster. */
const joinsRay = wordSet('start status stop');
