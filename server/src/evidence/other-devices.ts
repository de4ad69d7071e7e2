import { oneOf } from '../catalog/word-patterns.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { isDriverFile, isGpuFile } from './gpu-files.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** Whether devices come from a claim, a scheduler's annotation, or a resource that is not in the catalog. */
export function getsDevicesOtherwise(
  { pod, annotations, labels, containers }: PodSet,
  { manifest }: Workload,
): boolean {
  const scheduler = getIn(pod, 'schedulerName');
  // Exported objects name the scheduler of the cluster.
  const hasOwn = scheduler !== undefined && asText(scheduler) !== 'default-scheduler';
  // NVIDIA's operator has claims under its own name.
  const claims = ['resourceClaims', 'draResources'].flatMap((key) => items(getIn(pod, key)));
  if (claims.length > 0 || hasOwn) return true;
  const marks = [...annotations, ...labels, ...manifest.annotations, ...manifest.labels];
  if (marks.some(({ at: mark, value }) => givesDevices(keyOf(mark), value))) return true;
  return containers.some(({ resources }) =>
    [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))].some((entry) =>
      keyOf(entry).includes('/'),
    ),
  );
}

/** Whether a scheduler or a webhook may give a pod devices by a label or an annotation. A name of resources or nodes, and `gpu: "true"`, only describe it. */
function givesDevices(key: string, value: string): boolean {
  const isPlain = /^(?:(?:use|needs?|requires?|has)[-_.]?)?gpus?(?:[-_.]?(?:enabled|required|workload))?$/i.test(key);
  if (isPlain && /^(?:true|yes|required|nvidia)$/i.test(value)) return false;
  return /gpu|vcuda|runai|kai\./i.test(key) && !/^(?:nvidia|amd)\.com\/gpu(?:\.(?:present|count|product))?$/.test(key);
}

/** Whether a template inserts containers, or resources of a container, in which devices may be requested. */
export function mayRequestUnseen({ pod, containers }: PodSet): boolean {
  const parts = containers.flatMap(({ at, resources }) => {
    return [at, resources, getIn(resources, 'limits'), getIn(resources, 'requests')];
  });
  return [getIn(pod, 'containers'), ...parts].some((part) => isIncomplete(part) || isTemplated(part));
}

/** Whether the pod manages its node: it mounts host directories or runs with host privileges. */
export function servesNode(podSet: PodSet): boolean {
  return hostPaths(podSet).length > 0 || hasHostRights(podSet);
}

/** Whether the pod may get devices from its node: by the node's own directories (drivers, devices, sockets) or by host privileges. */
export function seesDevicesOfNode(podSet: PodSet): boolean {
  return hasHostRights(podSet) || mountsSystem(podSet);
}

/** Whether the pod may manage its node: it mounts the node's own directories or sees its processes. Others are privileged for their devices. */
export function managesNode(podSet: PodSet): boolean {
  const system = hostPaths(podSet).filter((path) => path === undefined || !holdsData(path));
  return isTrue(getIn(podSet.pod, 'hostPID')) || system.some((path) => !/^\/dev(?:\/|$)/.test(path ?? ''));
}

function mountsSystem(podSet: PodSet): boolean {
  return hostPaths(podSet).some((path) => path === undefined || !holdsData(path));
}

/** A GPU's device files, or its driver, of the node in a container. */
interface MountedGpu {
  /** Undefined if a chart mounts them into the containers of its pods. */
  readonly container: Container | undefined;
  readonly at: Cursor;
  readonly path: string;
}

/** The first mount of a GPU's device files or driver from the node, in a container that runs with the pod. */
export function mountedGpu(podSet: PodSet): MountedGpu | undefined {
  for (const container of podSet.containers) {
    for (const { name, at } of container.type === 'app' ? container.volumeMounts : []) {
      const path = gpuFile(getIn(volumeNamed(podSet, name)?.at, 'hostPath', 'path'));
      if (path !== undefined) return { container, at: getIn(at, 'mountPath') ?? at, path };
    }
  }
  for (const volume of persistenceOf(podSet.pod)) {
    const at = getIn(volume, 'hostPath');
    const path = gpuFile(at);
    const isOff = asBoolean(getIn(volume, 'enabled')) === false;
    if (at === undefined || path === undefined || isOff) continue;
    const only = getIn(volume, 'advancedMounts');
    if (only === undefined) return { container: undefined, at, path };
    // By controller and container.
    const mounts = getIn(only, podSet.name);
    const container = podSet.containers.find(
      ({ type, name }) => type === 'app' && items(getIn(mounts, name)).length > 0,
    );
    if (container !== undefined) return { container, at, path };
  }
  return undefined;
}

function gpuFile(at: Cursor | undefined): string | undefined {
  const path = isTemplated(at) ? '' : (asText(at) ?? '');
  return isGpuFile(path) || isDriverFile(path) ? path : undefined;
}

function hasHostRights({ pod, containers }: PodSet): boolean {
  return ['hostPID', 'hostNetwork'].some((field) => isTrue(getIn(pod, field))) || containers.some(isPrivileged);
}

/** The directories of the node that the pod mounts; undefined for unknown ones. */
function hostPaths({ pod, volumes }: PodSet): readonly (string | undefined)[] {
  const direct = volumes.filter(({ source }) => source === 'hostPath').map(({ at }) => getIn(at, 'hostPath', 'path'));
  const named = persistenceOf(pod).flatMap((volume) => getIn(volume, 'hostPath') ?? []);
  return [...direct, ...named].map((at) => (isTemplated(at) ? undefined : asText(at)));
}

/** Whether a directory is outside those of the system. https://refspecs.linuxfoundation.org/FHS_3.0/fhs/index.html */
function holdsData(path: string): boolean {
  if (withoutDevices.test(path)) return true;
  const isSystem = system.test(path) || /^\/var(?:\/lib)?\/?$/.test(path);
  return /^\/\w/.test(path) && !path.includes('..') && !isSystem && !/nvidia|cuda|rocm|driver|\.sock$/i.test(path);
}

/** Memory and the time zone: programs of any kind mount them. */
const withoutDevices = /^\/(?:dev\/shm|etc\/(?:localtime|timezone)|usr\/share\/zoneinfo)(?:\/[\w-]+)*\/?$/;

const system = new RegExp(
  `^/(?:${oneOf('bin boot dev etc lib\\w* proc run sbin sys usr')}|var/(?:run|log|lib/(?:${oneOf('kubelet docker containerd containers crio cni rancher k0s')})))(?:/|$)`,
);

/** Whether a container sees all devices of its node. */
export function isPrivileged({ at: container }: Container): boolean {
  return isTrue(getIn(container, 'securityContext', 'privileged'));
}

function isTrue(at: Cursor | undefined): boolean {
  return asBoolean(at) === true;
}

/** The volumes that the charts of the common library mount into their pods. */
function persistenceOf(pod: Cursor): readonly Cursor[] {
  for (let here: Cursor | undefined = pod; here !== undefined; here = here.parent) {
    const volumes = getIn(here, 'persistence');
    if (volumes !== undefined) return entries(volumes);
  }
  return [];
}
