import { type GpuModel, gpus, gpusNamed, hasArmHost } from '../../catalog/index.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { countIn, product } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lowerContainer, lowerCount, text } from '../pod.ts';
import { chipsInName } from '../tpu-slice-name.ts';
import type { Container, Placement } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount } from './kind.ts';
import { between, exactly, times } from './pod-sets.ts';
import { anyCloudOf, machineAt, type NamedMachine, onMachine } from './rented-machines.ts';
import { cloudsNamed, namesAccess, namesStorage } from './skypilot.ts';

/** dstack's configurations, which have no apiVersion. https://dstack.ai/docs/reference/dstack.yml */
export const dstackKinds: readonly KindEntry[] = [
  {
    group: 'dstack',
    kinds: ['task', 'service', 'dev-environment'],
    words: ['instance_types'],
    mountsShm: true,
    spansPodsIf: (root) => lowerCount(getIn(root, 'nodes'), 1) !== 1,
    sameScript: true,
    keepsFiles: (root) =>
      ['volumes', 'mounts', 'registry_auth'].some((key) => getIn(root, key) !== undefined) ||
      envOf(getIn(root, 'env')).some(({ name }) => namesAccess(name)),
    keptDirectories,
    lower: ({ root, kind }) => lowerConfiguration(root, kind),
  },
];

/** The directories of volumes: `name:/path`, or mappings. */
function keptDirectories(root: Cursor): readonly string[] | null {
  const writes = envOf(getIn(root, 'env')).some(({ name }) => namesStorage(name));
  const mounts = ['volumes', 'mounts'].flatMap((key) => items(getIn(root, key)));
  const paths = mounts.map((one) => asText(getIn(one, 'path')) ?? asText(one)?.split(':').at(-1));
  return writes || mounts.some(isTemplated) || paths.includes(undefined) ? null : paths.flatMap((path) => path ?? []);
}

/** The devices belong to each node. Profiles and options of the command line may replace what the file says. */
function lowerConfiguration(root: Cursor, kind: string): KindLowering {
  const nodes = getIn(root, 'nodes');
  const replicas = getIn(root, 'replicas');
  const [machine, ...machines] = items(getIn(root, 'instance_types'));
  const gpu = getIn(root, 'resources', 'gpu');
  const named = gpu === undefined ? machinesIn(root) : [];
  const devices = devicesOfMachines(named) ?? devicesOf(gpu, getIn(root, 'image') === undefined, wantsArm(root));
  const instanceType = machines.length > 0 || machine === undefined || isTemplated(machine) ? undefined : text(machine);
  return {
    ...(kind === 'service' && { role: 'serving' as const }),
    ...(kind === 'dev-environment' && { role: 'interactive' as const }),
    podSets: [
      {
        ...{ name: 'node', pod: root, metadata: undefined, replicas: nodes ?? replicas },
        pods: times(replicasOf(replicas), lowerCount(nodes, 1)),
        containers: kind === 'dev-environment' ? [] : [containerOf(root)],
        ...(devices && { implicitDevices: [devices] }),
        ...(instanceType && { instanceType }),
        placement: { ...placementOf(root), ...eitherOf(named, root) },
      },
    ],
    retries: null,
    scaling: null,
    partial: true,
  };
}

/** `2`, or `0..4` for a service that scales. */
function replicasOf(replicas: Cursor | undefined): PodCount {
  if (replicas === undefined) return exactly(1);
  const range = isTemplated(replicas) ? undefined : rangeIn(asText(replicas) ?? '');
  if (range === undefined) return exactly(null);
  return between(range.min, Number.isFinite(range.max) ? range.max : null);
}

/** The commands run one after the other in one shell. */
function containerOf(root: Cursor): Container {
  const commands = items(getIn(root, 'commands')).flatMap((item) => text(item) ?? []);
  const [first, ...others] = commands;
  const at = getIn(root, 'commands') ?? root;
  const script = others.length === 0 ? first : { value: commands.map(({ value }) => value).join('\n'), at };
  const shell = ['bash', '-c'].map((value) => ({ value, at }));
  const image = text(getIn(root, 'image'));
  return {
    ...lowerContainer(at, 'app', 'commands'),
    ...{ image, command: script ? shell : [], args: script ? [script] : [], env: envOf(getIn(root, 'env')) },
  };
}

/** `KEY=value` or `KEY`, which takes its value where the command is run, in a list; or a mapping. */
function envOf(env: Cursor | undefined): Container['env'] {
  const listed = items(env).flatMap((item) => {
    const [, name, value] = /^(\w+)(?:=([\s\S]*))?$/.exec(asText(item) ?? '') ?? [];
    return name === undefined ? [] : [{ name, value: value === undefined ? undefined : { value, at: item }, at: item }];
  });
  return [...listed, ...entries(env).map((entry) => ({ name: keyOf(entry), value: text(entry), at: entry }))];
}

function placementOf(root: Cursor): Partial<Placement> {
  const spot = getIn(root, 'spot_policy');
  const policy = spot === undefined || isTemplated(spot) ? undefined : asText(spot);
  const named = getIn(root, 'backends');
  const backends = items(named).map((one) => (isTemplated(one) ? '' : (asText(one) ?? '')));
  const [region, ...regions] = items(getIn(root, 'regions'));
  const place = named === undefined ? anyCloudOf('dstack') : cloudsNamed(backends);
  const known = policy === 'spot' || policy === 'on-demand' ? policy : undefined;
  return {
    ...(known && { capacity: known, capacityAt: spot }),
    ...place,
    ...(place.provider != null && { region: regions.length > 0 ? null : (asText(region) ?? null) }),
  };
}

/** The machines in `instance_types`, if all of them have accelerators. */
function machinesIn(root: Cursor): readonly NamedMachine[] {
  const all = items(getIn(root, 'instance_types')).map(machineAt);
  const known = all.flatMap((one) => one ?? []);
  return known.length === all.length ? known : [];
}

/** All devices of one of several machines. */
function devicesOfMachines(machines: readonly NamedMachine[]): ImplicitDevices | undefined {
  const [first, ...others] = machines;
  if (first === undefined) return undefined;
  const isSame = others.every(({ count }) => count === first.count);
  const [vendor = null, ...vendors] = new Set(machines.map(({ gpu }) => gpu.vendor));
  const counts = machines.flatMap(({ count }) => count ?? []);
  const ranges = !isSame && counts.length === machines.length;
  return {
    requested: { kind: 'field', system: 'field', name: 'instance_types' },
    at: first.at,
    form: 'whole',
    vendor: vendors.length > 0 ? null : vendor,
    perPod: isSame ? first.count : null,
    each: 1,
    ...(ranges && { between: { min: Math.min(...counts), max: Math.max(...counts) } }),
    ...{ models: [...new Set(machines.map(({ gpu }) => gpu))], modelFrom: 'instance-type' },
  };
}

/** Each machine at its cloud; one alone decides the placement. */
function eitherOf(machines: readonly NamedMachine[], root: Cursor): Partial<Placement> {
  const { region = null } = placementOf(root);
  const either = machines.flatMap(({ name, provider, gpu, count }) => {
    const where = { ...onMachine(name), provider, providerFrom: null, region };
    return count === null ? [] : [{ models: [gpu.id], devices: count, where }];
  });
  return either.length > 1 && either.length === machines.length ? { either } : {};
}

/** `cpu: arm:8..` or `cpu: {arch: arm}`. */
function wantsArm(root: Cursor): boolean {
  const cpu = getIn(root, 'resources', 'cpu');
  return /\barm\b/i.test(asText(getIn(cpu, 'arch') ?? cpu) ?? '');
}

/** What `gpu` requires, as a mapping or as `name:memory:count` with any of the parts. */
interface Required {
  readonly names: readonly string[];
  readonly memory?: Range;
  readonly vendor?: string;
  /** undefined: not readable. */
  readonly count: Range | undefined;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function devicesOf(gpu: Cursor | undefined, ownImage: boolean, isArm: boolean): ImplicitDevices | undefined {
  if (gpu === undefined) return undefined;
  const required = isTemplated(gpu) ? undefined : requiredIn(gpu);
  const count = required?.count;
  if (count?.max === 0) return undefined;
  const models = required === undefined ? [] : modelsFor(required, ownImage, isArm);
  const [vendor = null, ...vendors] = new Set(models.map((model) => model.vendor));
  const [name = '', ...names] = required?.names ?? [];
  const isTpu = vendor === 'google' || required?.vendor === 'google' || required?.vendor === 'tpu';
  const chips = (names.length === 0 ? chipsInName(name) : null) ?? (isTpu ? null : 1);
  const ranges = count !== undefined && count.max !== count.min && Number.isFinite(count.max);
  return {
    requested: { kind: 'field', system: 'field', name: 'gpu' },
    at: gpu,
    form: 'whole',
    vendor: vendors.length > 0 ? null : vendor,
    perPod: count !== undefined && count.max === count.min ? product(count.min, chips) : null,
    each: 1,
    ...(ranges && { between: count }),
    ...(models.length > 0 && { models, modelFrom: 'field' as const }),
  };
}

function requiredIn(gpu: Cursor): Required {
  if (gpu.node.kind !== 'map') return requiredInWords((asText(gpu) ?? '').split(':'));
  const name = getIn(gpu, 'name');
  const [memory, count] = ['memory', 'count'].map((key) => getIn(gpu, key));
  const names = [name, ...items(name)].flatMap((one) => (one === undefined ? [] : (asText(one) ?? [])));
  const within = memory && rangeIn(asText(memory) ?? '');
  const vendor = asText(getIn(gpu, 'vendor'))?.toLowerCase();
  return {
    names: names.flatMap((one) => one.split(',')),
    ...(within && { memory: within }),
    ...(vendor !== undefined && { vendor }),
    count: count === undefined ? one : rangeIn(asText(count) ?? ''),
  };
}

function requiredInWords(words: readonly string[]): Required {
  let found: Required = { names: [], count: one };
  for (const word of words) {
    const range = rangeIn(word);
    if (range !== undefined) found = /gb/i.test(word) ? { ...found, memory: range } : { ...found, count: range };
    else if (vendors.has(word.toLowerCase())) found = { ...found, vendor: word.toLowerCase() };
    else found = { ...found, names: [...found.names, ...word.split(',')] };
  }
  return found;
}

const one: Range = { min: 1, max: 1 };
const vendors: ReadonlySet<string> = new Set(['nvidia', 'amd', 'google', 'tpu', 'intel', 'tenstorrent']);

/** `2`, `2..8`, `24GB`, `24GB..` or `..80GB`. */
function rangeIn(written: string): Range | undefined {
  const [, from = '', dots, to = ''] = /^\s*(\d*)(?:GB)?(\.\.)?(\d*)(?:GB)?\s*$/i.exec(written) ?? [];
  if (from === '' && to === '') return undefined;
  const min = from === '' ? 0 : countIn(from);
  const max = to === '' ? Number.POSITIVE_INFINITY : countIn(to);
  if (min === null || max === null || (dots === undefined && to !== '')) return undefined;
  return { min, max: dots === undefined ? min : max };
}

/**
 * The models of the names; without a name, the cards with that memory, but not those on machines with Arm processors unless these are requested.
 * dstack's own image is for NVIDIA's.
 * https://dstack.ai/docs/reference/dstack.yml/task#resources-gpu
 */
function modelsFor({ names, memory, vendor }: Required, ownImage: boolean, isArm: boolean): readonly GpuModel[] {
  const fits = ({ memoryGiB }: GpuModel) =>
    memory === undefined || (memoryGiB !== null && memoryGiB >= memory.min && memoryGiB <= memory.max);
  const named = names.map((name) => gpusNamed(name));
  if (named.some((models) => models.length === 0)) return [];
  if (names.length > 0) return [...new Set(named.flat())].filter(fits);
  const maker = vendor ?? (ownImage ? 'nvidia' : undefined);
  return memory === undefined || maker === undefined
    ? []
    : [...gpus.values()].filter((gpu) => gpu.vendor === maker && (isArm || !hasArmHost(gpu)) && fits(gpu));
}
