import { once } from '../model/once.ts';
import { useOf } from '../model/process-input.ts';
import { pathsAbove } from '../model/scripts.ts';
import type { Container, PodSet, Volume, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn } from '../yaml/cursor.ts';

/** Benchmarks and trials have no progress worth keeping. */
export const isTrial = once(({ name, podSets }: Workload): boolean => {
  if (/bench|nccl|burn|smoke|hello|-test\b|\btest-/.test(name ?? '')) return true;
  return podSets.some(({ containers }) =>
    containers.some((container) => {
      if (container.type === 'init') return false;
      const { use } = useOf(container);
      return use === 'batch' || use === 'serving' || use === 'interactive';
    }),
  );
});

/**
 * Whether the command runs a file of a ConfigMap or secret that could not be read: what that file does, and where it keeps its progress, is not
 * told then. A script that was read may itself run another.
 */
export function runsMountedScript({ command, args, volumeMounts, scripts }: Container, podSet: PodSet): boolean {
  const places = new Set(
    volumeMounts.flatMap(({ name, mountPath }) => {
      const source = volumeNamed(podSet, name)?.source;
      const isText = source === 'configMap' || source === 'secret' || source === 'projected';
      return isText ? [mountPath.replace(/(?<!\/)\/+$/, '')] : [];
    }),
  );
  if (places.size === 0) return false;
  const words = [...command, ...args].flatMap(({ value }) => value.split(/[\s=;&|"'()]+/));
  const read = new Set(scripts.map(({ path }) => path));
  const unread = (word: string) => !read.has(word) && pathsAbove(word).some((path) => places.has(path));
  return words.some(unread) || scripts.some(({ text }) => text.split(/[\s=;&|"'()]+/).some(unread));
}

const volumesByName = once((volumes: PodSet['volumes']) => {
  const byName = new Map<string, Volume>();
  for (const volume of volumes) if (!byName.has(volume.name)) byName.set(volume.name, volume);
  return byName;
});

/** The volume of a pod that a mount names. */
export function volumeNamed({ volumes }: PodSet, name: string): Volume | undefined {
  return volumesByName(volumes).get(name);
}

/** A mount of a volume that is not declared here is one of a claim template. */
export function hasDurableMount({ volumeMounts }: Container, podSet: PodSet): boolean {
  return volumeMounts.some((mount) => {
    if (asText(getIn(mount.at, 'readOnly')) === 'true') return false;
    const volume = volumeNamed(podSet, mount.name);
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
        asText(getIn(volume, 'hostPath', 'path')) ?? '',
      );
    case 'csi':
      return !/secrets-store|cert-manager|spiffe|image/.test(asText(getIn(volume, 'csi', 'driver')) ?? '');
    default:
      return true;
  }
}
