import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Volume } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';
import { servedFlags } from './launch.ts';
import { isBelow } from './model-volume.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** The directory from which a server loads its model, and the volume that holds it and never gets a file. */
export interface EmptyModelVolume {
  readonly path: string;
  readonly volume: Volume;
}

/**
 * The emptyDir from which a model server loads its model, if nothing can have put it there: no other container mounts the volume, and servers do
 * not download to the path that they load. Undefined if a shell, a hook or a request may bring the model.
 */
export function emptyModelVolume(container: Container, podSet: PodSet): EmptyModelVolume | undefined {
  const { command, args, volumeMounts } = container;
  const lines = [...command, ...args];
  if (container.type !== 'app' || lines.some(({ at }) => isTemplated(at)) || isIncomplete(container.at))
    return undefined;
  if (lines.some(({ value }) => brings.test(value)) || getIn(container.at, 'lifecycle') !== undefined) return undefined;
  const path = modelPath(container);
  if (path === undefined || path.startsWith('/mnt/')) return undefined;
  const [mount] = volumeMounts
    .filter(({ mountPath }) => isBelow(path, mountPath))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  const volume = mount === undefined ? undefined : volumeNamed(podSet, mount.name);
  if (volume?.source !== 'emptyDir' || isIncomplete(volume.at)) return undefined;
  const mounts = podSet.containers.flatMap((one) => one.volumeMounts.filter(({ name }) => name === volume.name));
  const holdsOthers = volumeMounts.some(({ mountPath }) => mountPath !== mount?.mountPath && isBelow(mountPath, path));
  return mounts.length === 1 && !holdsOthers ? { path, volume } : undefined;
}

/** A shell, an address, and Triton's models that requests load. */
export const brings = /^-\w*c$|:\/\/|^(?:-mu|-hfr?|--hf-\w+|--model-url)\b|^(?:--model-control-mode=)?explicit$/;

/** The path from which a server loads its model; undefined for a name, an address or an unknown one. */
export function modelPath(container: Container): string | undefined {
  const { command, args } = processInput(container);
  const words = [...command, ...args];
  const repository = words.findIndex((word) => /^--model[-_](?:repository|store|base[-_]path)(?:=|$)/.test(word));
  const [, value = words[repository + 1]] = /=(.*)$/.exec(words[repository] ?? '') ?? [];
  const path = repository < 0 ? servedFlags(container)?.model?.value : value;
  return path !== undefined && /^(?:\/[\w.-]+)+\/?$/.test(path) ? path.replace(/\/$/, '') : undefined;
}
