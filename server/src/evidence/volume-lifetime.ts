import { oneOf } from '../catalog/word-patterns.ts';
import { kindOf } from '../model/kinds/index.ts';
import { once } from '../model/once.ts';
import { useOf } from '../model/process-input.ts';
import { pathsAbove } from '../model/scripts.ts';
import type { Container, PodSet, Volume, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, isUnseen, items } from '../yaml/cursor.ts';

/** Benchmarks and trials have no progress worth keeping. */
export const isTrial = once((workload: Workload): boolean => isTrialIn(workload, workload.podSets));

/** The same for some pods of a workload, such as those of one step. */
export function isTrialIn({ name }: Workload, podSets: readonly PodSet[]): boolean {
  if (/bench|burn|smoke|hello|-test\b|\btest-/.test(name ?? '')) return true;
  // Training is also named after the library by which its ranks talk.
  if (/nccl/.test(name ?? '') && !podSets.some(({ containers }) => containers.some(trains))) return true;
  return podSets.some(({ containers }) =>
    containers.some((container) => {
      if (container.type === 'init') return false;
      if ([...container.command, ...container.args].some(({ value }) => rehearsal.test(value))) return true;
      const { use } = useOf(container);
      return use === 'batch' || use === 'serving' || use === 'interactive';
    }),
  );
}

/** The same for the pods of one container: the steps of a workflow that do not train have no progress either. */
export function isTrialStep(workload: Workload, podSet: PodSet): boolean {
  const training = trainingPods(workload);
  if (training === workload.podSets || training.length === 0) return isTrial(workload);
  return !training.includes(podSet) || isTrialIn(workload, [podSet]);
}

/** The pods that train: of a workflow, only those of the steps that do. */
export function trainingPods({ manifest, podSets }: Workload): readonly PodSet[] {
  const { runsSteps, runsAsWritten } = kindOf(manifest);
  if (runsSteps !== true && runsAsWritten !== true) return podSets;
  return podSets.filter(({ containers }) => containers.some((one) => trains(one) || useOf(one).use === 'training'));
}

function trains({ command, args }: Container): boolean {
  return [...command, ...args].some(({ value }) => /(?:^|[/\s_-])train\w*\.py\b/.test(value));
}

/** Compilers and profilers that run a few steps of a training program; what it saves is not kept. */
const rehearsal = /(?:^|[\s/;&|])(?:neuron_parallel_compile|nsys|ncu|rocprofv?[23]?)(?:\s|$)/;

/**
 * Whether the command runs a file from a ConfigMap or Secret that could not be read: then it is unknown what the file does and where it saves
 * its progress. A script that was read may itself run such a file.
 */
export function runsMountedScript(container: Container, podSet: PodSet): boolean {
  const { command, args, volumeMounts, scripts, settingsFiles = [] } = container;
  const mountPaths = new Set(
    volumeMounts.flatMap(({ name, mountPath }) => {
      const source = volumeNamed(podSet, name)?.source;
      const isText = source === 'configMap' || source === 'secret' || source === 'projected';
      return isText ? [mountPath.replace(/(?<!\/)\/+$/, '')] : [];
    }),
  );
  if (mountPaths.size === 0) return false;
  const words = [...command, ...args].flatMap(({ value }) => value.split(/[\s=;&|"'()]+/));
  const settings = settingsFiles.filter(({ path }) => !path.endsWith('.py'));
  const read = new Set([...scripts, ...settings].map(({ path }) => path));
  const unread = (word: string) => !read.has(word) && pathsAbove(word).some((path) => mountPaths.has(path));
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

/** Whether a template may mount more, or elsewhere, than is written. */
export const mayMountMore = once(({ at, volumeMounts }: Container): boolean => {
  const mounts = [...items(getIn(at, 'volumeMounts')), ...volumeMounts.map((mount) => mount.at)];
  return (
    isUnseen(getIn(at, 'volumeMounts')) ||
    mounts.some((mount) => isUnseen(mount) || isTemplated(getIn(mount, 'mountPath')))
  );
});

/** Whether a writable mount outlives the node, or may. A volume that the pod does not declare comes from a claim template. */
export function hasDurableMount(container: Container, podSet: PodSet): boolean {
  if (mayMountMore(container)) return true;
  return container.volumeMounts.some((mount) => {
    if (asText(getIn(mount.at, 'readOnly')) === 'true') return false;
    const volume = volumeNamed(podSet, mount.name);
    return volume === undefined || outlivesNode(volume.source, volume.at);
  });
}

/** Whether a new pod on another node still has the volume. For a host path, if its path looks like a network mount. */
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
      return !ofNode.test(asText(getIn(volume, 'hostPath', 'path')) ?? '');
    case 'csi':
      return !/secrets-store|cert-manager|spiffe|image/.test(asText(getIn(volume, 'csi', 'driver')) ?? '');
    default:
      return true;
  }
}

/** Folders of a node that do not outlive it, or that hold its system. */
const ofNode = new RegExp(
  `^/(${oneOf('dev tmp var sys proc usr etc run lib lib64 opt boot local scratch')}|mnt/(${oneOf('local disks k8s-disks nvme ssd stateful scratch ephemeral resource')})[^/]*)(/|$)`,
);
