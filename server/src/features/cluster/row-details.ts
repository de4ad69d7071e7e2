import { formatNumber, plural } from '../../cost/money.ts';
import type { DeviceCounts, LargestFit, LiveCost, LiveNode, LivePool, PoolGrowth } from '../../fleet/cluster-view.ts';
import {
  ageWords,
  costWords,
  deviceNumber,
  devicesWords,
  idleWords,
  listed,
  platformWords,
  stateWords,
  taintWords,
  usageWords,
} from './cluster-words.ts';
import { usageSumWords } from './device-usage-words.ts';

/** What a pool is and offers, most important first. */
export function poolLines(pool: LivePool): readonly string[] {
  const { platform, label, model, instanceTypes, zones, capacity, nodes, resources, devices, taints, growth } = pool;
  const scattered = pool.scattered > 0 ? [`${deviceNumber(pool.scattered)} free GPUs are on nodes in use`] : [];
  const isKnown = devices.free !== null;
  const fits = pool.fits.filter(({ pods }) => pods > 0).map((one) => `${one.pods} × ${one.devices}`);
  return [
    `${platformWords(platform)}${label === null ? '' : ` (${label.key}=${label.value})`}`,
    `${plural(nodes, 'node')}: ${usageWords(devices).join(', ')}`,
    ...(pool.usage === null ? [] : [`Pods: ${usageSumWords(pool.usage) ?? ''}`]),
    ...stateWords(pool),
    ...(model === null ? ['GPU model unknown'] : [`${model.name}, from ${model.from}`]),
    ...(instanceTypes.length === 0 ? [] : [listed(instanceTypes)]),
    ...(capacity === null ? [] : [capacity.replace('-', ' ')]),
    ...(zones.length === 0 ? [] : [`Zones ${listed(zones)}`]),
    ...resources.map(resourceWords),
    ...(pool.largestFit !== null ? [fitWords(pool.largestFit)] : isKnown ? ['No pod with a GPU fits now'] : []),
    ...(fits.length === 0 ? [] : [`Pods that fit now (pods × GPUs): ${fits.join(', ')}`]),
    ...scattered,
    ...taints.map((taint) => `Taint ${taintWords(taint)}`),
    ...(growth === null ? [] : [growthWords(growth)]),
    ...costLines(pool.cost),
  ];
}

export function nodeLines(node: LiveNode, now: number): readonly string[] {
  const { model, instanceType, zone, capacity, devices, resources, mig, sharing, dra, taints, created } = node;
  const isKnown = devices.free !== null;
  return [
    usageWords(devices).join(', '),
    ...(node.ready ? [] : ['Not ready']),
    ...(node.cordoned ? ['Cordoned: no new pods start here'] : []),
    ...(model === null ? [] : [`${model.name}, from ${model.from}`]),
    [instanceType, zone, capacity?.replace('-', ' ')].filter((part) => part != null).join(', '),
    ...resources.map(resourceWords),
    ...(mig === null ? [] : [`MIG ${mig.strategy}${mig.config === null ? '' : `, config ${mig.config}`}`]),
    ...(sharing === null
      ? []
      : [`${sharing.replicas} pods share a GPU${sharing.strategy === null ? '' : ` (${sharing.strategy})`}`]),
    ...dra.map(({ driver, total, allocated }) => `${driver}: ${allocated} of ${total} devices allocated`),
    ...(isKnown
      ? [`Free: ${formatNumber(Math.floor(node.freeCpu * 10) / 10)} CPU, ${memoryWords(node.freeMemory)}`]
      : []),
    ...taints.map((taint) => `Taint ${taintWords(taint)}`),
    ...(created === null ? [] : [`Created ${ageWords(created, now)} ago`]),
    ...costLines(node.cost),
  ].filter((line) => line !== '');
}

/** `nvidia.com/mig-1g.10gb: 5 of 14 requested, 9 free`; what is requested may be unknown. */
function resourceWords({ resource, allocatable, capacity, requested, free }: DeviceCounts): string {
  const missing = capacity > allocatable ? `, ${capacity - allocatable} not allocatable` : '';
  const use = free === null ? String(allocatable) : `${requested} of ${allocatable} requested, ${free} free`;
  return `${resource}: ${use}${missing}`;
}

/** `Largest pod that fits now: 4 GPUs, 90 CPU, 800 GiB`. */
export function fitWords({ resource, devices, cpu, memory }: LargestFit): string {
  const gpus = devicesWords([{ resource, count: devices }]);
  return `Largest pod that fits now: ${gpus}, ${formatNumber(Math.floor(cpu * 10) / 10)} CPU, ${memoryWords(memory)}`;
}

/** `cluster autoscaler: 0–8 nodes`. */
function growthWords({ by, min, max, limits }: PoolGrowth): string {
  const nodes = max === null ? [] : [`${min ?? 0}–${max} nodes`];
  const bounds = [...nodes, ...limits.map(({ resource, limit, used }) => `${used} of ${limit} ${resource}`)];
  return bounds.length === 0 ? `Grows by ${by}` : `Grows by ${by}: ${bounds.join(', ')}`;
}

function costLines(cost: LiveCost): readonly string[] {
  const hourly = costWords(cost.hourly, cost);
  const amount = [hourly, idleWords(cost)].filter((part) => part !== undefined).join(', ');
  return [
    ...(amount === '' ? [] : [amount]),
    ...cost.basis.slice(0, 3),
    ...(cost.unpricedNodes === 0
      ? []
      : [`${plural(cost.unpricedNodes, 'node')} without a price: ${cost.because.join(', ')}`]),
  ];
}

/** `800 GiB`. @param bytes rounded down, because a pod must fit */
function memoryWords(bytes: number): string {
  return `${formatNumber(Math.max(0, Math.floor(bytes / 2 ** 30)))} GiB`;
}
