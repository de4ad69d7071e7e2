import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, entries, getIn, isIncomplete, items, keyOf } from '../yaml/cursor.ts';
import { seesDevicesOfNode } from './other-devices.ts';

/** A rank of a process group that has GPUs, and the container without any that runs the same program. */
export interface RankTwin {
  readonly other: PodSet;
  readonly container: Container;
}

/**
 * The role of a job with the same program and with GPUs, for a role without any: all roles of these jobs are ranks of one process group. Roles
 * of other jobs have tasks of their own, such as parameter servers.
 */
export function rankTwin(podSet: PodSet, { podSets }: Workload): RankTwin | undefined {
  const container = rankOf(podSet);
  if (container === undefined || podSet.accelerators.some(({ perPod }) => perPod !== 0)) return undefined;
  if (items(getIn(podSet.pod, 'resourceClaims')).length > 0 || seesDevicesOfNode(podSet)) return undefined;
  if (namesOtherDevice(container)) return undefined;
  const program = programOf(container);
  if (/gloo|\bcpu\b|no[-_]cuda/i.test(program)) return undefined;
  const other = podSets.find((one) => {
    const rank = one.accelerators.some(({ perPod }) => perPod !== null && perPod > 0) ? rankOf(one) : undefined;
    return rank !== undefined && programOf(rank) === program;
  });
  return other && { other, container };
}

/** The container that trains in a role of a PyTorchJob or JAXJob, or of Volcano's plugin for them, also in one that another object creates. */
function rankOf({ name, pod, pods, containers }: PodSet): Container | undefined {
  const [only, ...others] = containers.filter(({ type }) => type === 'app');
  const roles = pod.parent?.parent?.parent;
  if (roles === undefined || pods.max === 0 || others.length > 0 || isIncomplete(only?.at)) return undefined;
  const hasPlugin = keyOf(roles) === 'tasks' && getIn(roles.parent, 'plugins', 'pytorch') !== undefined;
  const isRank = hasPlugin ? /^(?:master|worker)$/i.test(name) : /^(?:pytorch|jax)ReplicaSpecs$/.test(keyOf(roles));
  return isRank ? only : undefined;
}

/** A resource with a prefix and another amount than 0 may be a device: misspelled, without its amount, or unknown here. */
function namesOtherDevice({ resources }: Container): boolean {
  return ['limits', 'requests']
    .flatMap((part) => entries(getIn(resources, part)))
    .some((entry) => keyOf(entry).includes('/') && asText(entry) !== '0');
}

/** What a rank runs, with the variables that may give it a task of its own, but not those that number it. */
function programOf({ image, command, args, env, at }: Container): string {
  const settings = env
    .filter(({ name }) => !/RANK|WORLD|ADDR|HOST|PORT|NAME|_IP$/.test(name))
    .map(({ name, value }) => `${name}=${value?.value}`);
  const maps = items(getIn(at, 'envFrom')).flatMap((one) =>
    ['configMapRef', 'secretRef'].map((key) => asText(getIn(one, key, 'name'))),
  );
  return [image?.value, ...[...command, ...args].map(({ value }) => value), ...settings, ...maps].join(' ');
}
