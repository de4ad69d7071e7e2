import { containerUse } from '../command/programs.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, at, type Cursor } from '../yaml/cursor.ts';

/** Benchmarks and trials have no progress worth keeping. */
export function isTrial(workload: Workload): boolean {
  const known = trials.get(workload);
  if (known !== undefined) return known;
  const trial = looksLikeTrial(workload);
  trials.set(workload, trial);
  return trial;
}

/** Several rules ask. */
const trials = new WeakMap<Workload, boolean>();

function looksLikeTrial({ name, podSets }: Workload): boolean {
  if (/bench|nccl|burn|smoke|hello|-test\b|\btest-/.test(name ?? '')) return true;
  return podSets.some(({ containers }) =>
    containers.some(({ type, image, command, args }) => {
      if (type === 'init') return false;
      const use = containerUse({
        ...(image && { image: image.value }),
        command: command.map(({ value }) => value),
        args: args.map(({ value }) => value),
      });
      return use.use === 'batch' || use.use === 'serving' || use.use === 'interactive';
    }),
  );
}

/**
 * Whether the command runs a file of a ConfigMap or secret that could not be read: what that file does, and where it keeps its progress, is not
 * told then. A script that was read may itself run another.
 */
export function runsMountedScript({ command, args, volumeMounts, scripts }: Container, { volumes }: PodSet): boolean {
  const places = volumeMounts.flatMap(({ name, mountPath }) => {
    const source = volumes.find((volume) => volume.name === name)?.source;
    const isText = source === 'configMap' || source === 'secret' || source === 'projected';
    return isText ? [mountPath.replace(/(?<!\/)\/+$/, '')] : [];
  });
  if (places.length === 0) return false;
  const words = [...command, ...args].flatMap(({ value }) => value.split(/[\s=;&|"'()]+/));
  const read = new Set(scripts.map(({ path }) => path));
  const unread = (word: string) =>
    !read.has(word) && places.some((place) => word === place || word.startsWith(`${place}/`));
  return words.some(unread) || scripts.some(({ text }) => text.split(/[\s=;&|"'()]+/).some(unread));
}

/** A mount of a volume that is not declared here is one of a claim template. */
export function hasDurableMount({ volumeMounts }: Container, { volumes }: PodSet): boolean {
  return volumeMounts.some((mount) => {
    if (asText(at(mount.at, 'readOnly')) === 'true') return false;
    const volume = volumes.find(({ name }) => name === mount.name);
    return volume === undefined || outlivesNode(volume.source, volume.at);
  });
}

/** Volumes that a new pod on another node finds again. A host path is one where it looks like a network mount. */
export function outlivesNode(source: string, volume: Cursor): boolean {
  switch (source) {
    case 'emptyDir':
    case 'configMap':
    case 'secret':
    case 'downwardAPI':
    case 'projected':
    case 'ephemeral':
    case 'image':
      return false;
    case 'hostPath':
      return !/^\/(dev|tmp|var|sys|proc|usr|etc|run|lib|lib64|opt|boot|local|scratch|mnt\/(local|disks|nvme|ssd|stateful)[^/]*)(\/|$)/.test(
        asText(at(volume, 'hostPath', 'path')) ?? '',
      );
    case 'csi':
      return !/secrets-store|cert-manager|spiffe|image/.test(asText(at(volume, 'csi', 'driver')) ?? '');
    default:
      return true;
  }
}
