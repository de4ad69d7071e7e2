import { knownAccelerator } from '../catalog/index.ts';
import { type CheckpointSign, findCheckpointSigns, signOfFlag } from '../command/checkpoint.ts';
import type { ProcessInput } from '../command/processes.ts';
import { readServedFlags, type ServedFlags } from '../command/served-flags.ts';
import type { Word } from '../command/shell.ts';
import { isRequested } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import { imageUseOf, processInput } from '../model/process-input.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest, Container, MountedScript, PodAccelerator, PodSet } from '../model/workload.ts';
import { getIn, isUnseen } from '../yaml/cursor.ts';
import { claimedDevices, claimedGpus } from './claimed-devices.ts';
import { namedSettings } from './settings-files.ts';

export { processInput };

/** The input for a script from a ConfigMap that the container runs. Its positions are not in this document. */
export function scriptInput({ text }: MountedScript, container: Container): ProcessInput {
  return { command: ['bash', '-c', text], args: [], env: processInput(container).env };
}

/** Whether a template may add words to the command line or variables, or write all of them. */
export const mayRunMore = once(({ at }: Container): boolean =>
  ['command', 'args', 'env', 'envFrom'].some((key) => isUnseen(getIn(at, key))),
);

/** Whether a container may have variables that are unknown: those of Secrets, and of ConfigMaps that are elsewhere. */
export function mayHaveVariables({ at, knowsEnvFrom }: Container): boolean {
  return knowsEnvFrom !== true && getIn(at, 'envFrom') !== undefined;
}

/** The server that a container's image starts if there is no command. KServe's runtimes have their own image. */
export function serverOfImage(container: Container): string | undefined {
  if (container.image === undefined && container.repository === undefined) return 'runtime';
  const { use, program } = imageUseOf(container);
  return use === 'serving' ? (program ?? undefined) : undefined;
}

/** What the container's only model server loads, by its flags. */
export const servedFlags = once((container: Container): ServedFlags | undefined =>
  readServedFlags(processInput(container), serverOfImage(container)),
);

/**
 * A check of a container as it is, and as each script from a ConfigMap runs in it. The place of all words of a script is the argument that names
 * it.
 */
export function eachLaunch<Context>(check: (container: Container, context: Context) => void): typeof check {
  return (container, context) => {
    check(container, context);
    for (const { text, at } of container.scripts) {
      const command = ['bash', '-c', text].map((value) => ({ value, at }));
      check({ ...container, command, args: [], scripts: [] }, context);
    }
  };
}

/**
 * Signs of checkpoints on the command line, in the environment, in scripts and in files of settings. Those in scripts have no word, those in
 * files the word that names the file, without a flag that could be changed.
 */
export function checkpointSigns(container: Container): readonly CheckpointSign[] {
  const inScripts = container.scripts.flatMap((script) => findCheckpointSigns(scriptInput(script, container)));
  const onLine = findCheckpointSigns(processInput(container));
  const files = namedSettings(container).flatMap(({ word, flags }) => {
    const signs = flags.flatMap((flag) => signOfFlag(flag).map((sign) => ({ ...sign, word: flag.word })));
    return signs.some(({ kind }) => kind === 'path') ? [{ word, signs }] : [];
  });
  // A file that says where the progress goes is known.
  const known = new Set<Word | undefined>(files.map(({ word }) => word));
  return [
    ...onLine.filter(({ kind, word, flag }) => kind !== 'unknown' || !known.has(flag?.valueWord ?? word)),
    ...files.flatMap(({ signs }) => signs),
    ...inScripts.map(({ kind, text }) => ({ kind, text })),
  ];
}

/** The number of whole GPUs that only this container uses; null if it is unknown, or if the nodes share or partition their GPUs. */
export function wholeGpus(container: Container, podSet: PodSet): number | null {
  const requested = container.accelerators.filter(isRequested);
  const only = requested[0];
  if (only === undefined) return claimedGpus(container, podSet) ?? gpusOfPod(container, podSet);
  if (requested.length > 1 || only.form !== 'whole' || !isGpu(only)) return null;
  const inPod = acceleratorByName(podSet.accelerators, only.resource);
  return inPod !== undefined && inPod.devices === inPod.perPod ? only.count : null;
}

/** Whether a container uses accelerators: its own, those of its claims, or those that its kind gives the pod for its only container. */
export function usesAccelerators(container: Container, podSet: PodSet): boolean {
  if (container.accelerators.some(isRequested) || devicesOfPod(container, podSet) !== undefined) return true;
  return claimedDevices(container, podSet).length > 0;
}

/** The GPUs of a pod whose kind requests them in a field of its own, for its only container. */
function gpusOfPod(container: Container, podSet: PodSet): number | null {
  const devices = devicesOfPod(container, podSet);
  if (devices?.form !== 'whole' || devices.devices !== devices.perPod) return null;
  const { requested } = devices;
  const isGpus =
    requested.kind === 'resource'
      ? isGpu({ resource: requested.name })
      : requested.kind === 'field' && requested.system !== 'nodes';
  return isGpus ? devices.perPod : null;
}

/** The only container of a pod, and the only devices. A pod may have thousands of containers. */
const givenDevices = once(({ containers, accelerators }: PodSet) => {
  const apps = containers.filter(({ type }) => type === 'app');
  const requested = accelerators.filter(isRequested);
  return requested.length > 1 || apps.length !== 1 ? {} : { only: apps[0], devices: requested[0] };
});

/** Whether any container of a pod uses accelerators. */
export const hasUser = once((podSet: PodSet) => podSet.containers.some((one) => usesAccelerators(one, podSet)));

/** What a field of the kind gives the pod, if the pod has one container to use it. */
function devicesOfPod(container: Container, podSet: PodSet): PodAccelerator | undefined {
  const { only, devices } = givenDevices(podSet);
  if (only?.at !== container.at) return undefined;
  const { kind } = devices?.requested ?? {};
  const isGiven = kind === 'resource' || kind === 'field' || kind === 'annotation';
  return devices?.at !== undefined && isGiven ? devices : undefined;
}

/** GPUs are used by one process per device; TPUs and Neuron devices hold several cores. */
function isGpu({ resource }: Pick<AcceleratorRequest, 'resource'>): boolean {
  const vendor = knownAccelerator(resource)?.vendor;
  return vendor === 'nvidia' || vendor === 'amd' || vendor === 'habana';
}
