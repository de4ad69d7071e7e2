import { type GpuModel, gpus, gpusNamed, machineCpus, machineMemory, physicalCount } from '../../catalog/index.ts';
import { partOf, wordSet } from '../../catalog/word-patterns.ts';
import { asBoolean, asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { table } from '../../yaml/table.ts';
import { cardChoices } from '../card-choices.ts';
import { product } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import type { NodeRequirement } from '../node-terms.ts';
import { lowerContainer, lowerCount, text } from '../pod.ts';
import { chipsInName } from '../tpu-slice-name.ts';
import type { Container, Placement } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount } from './kind.ts';
import { between, exactly, times } from './pod-sets.ts';
import { anyCloudOf, machineAt, onMachine } from './rented-machines.ts';

/** SkyPilot's tasks and services, which have no apiVersion. https://docs.skypilot.co/en/latest/reference/yaml-spec.html */
export const skypilotKinds: readonly KindEntry[] = [
  {
    group: 'skypilot',
    kinds: ['Task'],
    words: ['instance_type'],
    // Of its pods; machines have their own.
    mountsShm: true,
    spansPodsIf: (root) => lowerCount(getIn(root, 'num_nodes'), 1) !== 1,
    sameScript: true,
    keepsFiles: (root) =>
      ['volumes', 'storage_mounts', 'secrets', 'config', 'experimental'].some(
        (key) => getIn(root, key) !== undefined,
      ) ||
      entries(getIn(root, 'file_mounts')).some((entry) => !isLocal(entry)) ||
      entries(getIn(root, 'envs')).some((entry) => namesAccess(keyOf(entry))),
    keptDirectories,
    lower: ({ root }) => lowerTask(root),
  },
];

/** The mounts of buckets and volumes. What is only copied to a machine ends with it. */
function keptDirectories(root: Cursor): readonly string[] | null {
  const isOpen = ['storage_mounts', 'secrets', 'config', 'experimental'].some((key) => getIn(root, key) !== undefined);
  const writes = entries(getIn(root, 'envs')).some((entry) => namesStorage(keyOf(entry)));
  const mounts = [...entries(getIn(root, 'file_mounts')), ...entries(getIn(root, 'volumes'))];
  if (isOpen || writes || mounts.some((one) => isTemplated(one) || isTemplated(getIn(one, 'mode') ?? one))) return null;
  return mounts
    .filter((one) => one.node.kind === 'map' || keyOf(one.parent ?? one) === 'volumes')
    .flatMap((one) => {
      return asText(getIn(one, 'mode'))?.toUpperCase() === 'COPY' ? [] : [keyOf(one)];
    });
}

/** Whether files are copied from the user's machine. */
function isLocal(source: Cursor): boolean {
  const path = isTemplated(source) ? undefined : asText(source);
  return path !== undefined && !path.includes('://');
}

/** Whether a variable may give access to storage, by its name. */
export function namesAccess(name: string): boolean {
  return accessWords.test(name);
}

/** Whether a variable may give access to storage other than the hubs from which models come. */
export function namesStorage(name: string): boolean {
  return namesAccess(name) && !hubs.test(name);
}

const hubs = /^(?:HF|HUGGING_?FACE|WANDB)_/;

const accessWords = partOf('token key secret credential password', 'bucket s3 gcs ur[il] path dir');

/** The devices belong to each node. Options may be given on the command line instead. */
function lowerTask(root: Cursor): KindLowering {
  const resources = getIn(root, 'resources') ?? root;
  const service = getIn(root, 'service');
  const nodes = getIn(root, 'num_nodes');
  const instanceType = text(getIn(resources, 'instance_type'));
  const alternatives = [...items(getIn(resources, 'any_of')), ...items(getIn(resources, 'ordered'))];
  const blocks = alternatives.length > 0 ? alternatives : [resources];
  const devices = devicesOf(blocks, resources);
  const either = blocks.flatMap((block) => alternativesIn(block, resources));
  return {
    ...(service && { role: 'serving' as const }),
    podSets: [
      {
        ...{ name: 'node', pod: resources, metadata: undefined, replicas: nodes },
        pods: times(replicasOf(service), lowerCount(nodes, 1)),
        containers: scriptsOf(root, resources),
        ...(devices && { implicitDevices: [devices] }),
        ...(instanceType && !isTemplated(instanceType.at) && { instanceType }),
        placement: {
          ...placementOf(resources, blocks),
          ...(either.length > 0 && !either.includes(null) && { either: either.filter((one) => one !== null) }),
        },
      },
    ],
    retries: null,
    scaling: null,
    partial: true,
  };
}

function replicasOf(service: Cursor | undefined): PodCount {
  const policy = getIn(service, 'replica_policy');
  const min = getIn(policy, 'min_replicas');
  if (min === undefined) return exactly(lowerCount(getIn(service, 'replicas'), 1));
  const max = getIn(policy, 'max_replicas');
  return between(lowerCount(min, 1), max === undefined ? lowerCount(min, 1) : lowerCount(max, 1));
}

/** The cards that a block requests by name, or those of its machine. Its fields replace those of the resources around it. */
function requestsIn(block: Cursor, resources: Cursor) {
  const named = getIn(block, 'accelerators') ?? getIn(resources, 'accelerators');
  const machine = machineAt(getIn(block, 'instance_type') ?? getIn(resources, 'instance_type'));
  if (named === undefined && machine !== undefined)
    return [{ at: machine.at, models: [machine.gpu], rented: [machine.gpu.id], isChip: false, devices: machine.count }];
  return cardChoices(named).map(({ name, count, at }) => {
    const chips = chipsOf(name);
    const models = cardsNamed(name);
    return { at, models, rented: cardsRented(name), isChip: chips !== 1, devices: product(count, chips) };
  });
}

function devicesOf(blocks: readonly Cursor[], resources: Cursor): ImplicitDevices | undefined {
  const requests = blocks.flatMap((block) => requestsIn(block, resources));
  const [first] = requests;
  if (first === undefined) return undefined;
  const models = requests.some((one) => one.models.length === 0)
    ? []
    : [...new Set(requests.flatMap((one) => one.models))];
  const [vendor = null, ...vendors] = new Set(models.map((model) => model.vendor));
  const counts = requests.map(({ devices }) => devices);
  const known = counts.filter((count) => count !== null);
  const isSame = counts.every((one) => one === counts[0]);
  const isMachine = keyOf(first.at) === 'instance_type';
  return {
    requested: { kind: 'field', system: 'field', name: isMachine ? 'instance_type' : 'accelerators' },
    at: first.at,
    form: 'whole',
    vendor: vendors.length > 0 ? null : vendor,
    perPod: isSame ? (counts[0] ?? null) : null,
    ...(!isSame && known.length === counts.length && { between: { min: Math.min(...known), max: Math.max(...known) } }),
    each: 1,
    ...(models.length > 0 && { models, modelFrom: isMachine ? ('instance-type' as const) : ('field' as const) }),
  };
}

/**
 * The cards of a name. Of cards that differ in their memory, only the larger ones have it in their names: `A100`, `A100-80GB`.
 * https://github.com/skypilot-org/skypilot-catalog
 */
function cardsNamed(name: string): readonly GpuModel[] {
  const models = gpusNamed(name);
  const least = Math.min(...models.map(({ memoryGiB }) => memoryGiB ?? 0));
  return /\d+ ?GB/i.test(name) ? models : models.filter(({ memoryGiB }) => (memoryGiB ?? 0) === least);
}

/** The cards that clouds rent by a name: without a form in it, some have the PCIe card. */
function cardsRented(name: string): readonly string[] {
  const cards = cardsNamed(name).map(({ id }) => id);
  if (/sxm|nvl|pcie|mega/i.test(name)) return cards;
  return [...new Set(cards.flatMap((id) => [id, id.replace(/-sxm$/, '-pcie')]))].filter((id) => gpus.has(id));
}

/** The chips of a TPU slice, null if the size in its name is unknown; one of any other card. */
function chipsOf(name: string): number | null {
  return chipsInName(name) ?? (/^tpu.*-\d+$/i.test(name) ? null : 1);
}

/** The script that each node runs, as the container that it would be. */
function scriptsOf(root: Cursor, resources: Cursor): readonly Container[] {
  const script = text(getIn(root, 'run'));
  if (script === undefined) return [];
  const shell = ['bash', '-c'].map((value) => ({ value, at: script.at }));
  const env = entries(getIn(root, 'envs')).map((entry) => ({ name: keyOf(entry), value: text(entry), at: entry }));
  return [
    { ...lowerContainer(script.at, 'app', 'run'), image: imageOf(resources), command: shell, args: [script], env },
  ];
}

/** `docker:` and the image in which the script runs. Other texts name an image of the machine. */
function imageOf(resources: Cursor): Container['image'] {
  const written = text(getIn(resources, 'image_id'));
  return written?.value.startsWith(dockerPrefix)
    ? { ...written, value: written.value.slice(dockerPrefix.length) }
    : undefined;
}

const dockerPrefix = 'docker:';

/** Each card of an alternative, where it is rented; null for a number or a name that is unknown. */
function alternativesIn(
  block: Cursor,
  resources: Cursor,
): readonly (NonNullable<Placement['either']>[number] | null)[] {
  const machine = writtenIn(block, 'instance_type') ?? writtenIn(resources, 'instance_type');
  const where = { ...capacityIn(block, resources), ...placeOf(block, resources), ...(machine && onMachine(machine)) };
  const size = sizeOf(block, resources);
  return requestsIn(block, resources).map(({ rented: models, devices, isChip }) => {
    if (devices === null || models.length === 0) return null;
    const isRented = !machine && !isChip;
    return { models, devices, where: { ...(isRented && { terms: [[withCards(devices), ...size]] }), ...where } };
  });
}

/** Of machines, only those with this number of cards are rented. */
function withCards(devices: number): NodeRequirement {
  return { key: physicalCount, operator: 'In', values: [String(devices)] };
}

/** The size of the machines: `cpus: 8` is exact, `8+` the least. Memory is in GiB. */
function sizeOf(block: Cursor, resources: Cursor): readonly NodeRequirement[] {
  const amountOf = (field: string, key: string): readonly NodeRequirement[] => {
    const written = writtenIn(block, field) ?? writtenIn(resources, field) ?? '';
    const [, amount, more] = /^(\d{1,6}(?:\.\d{1,3})?)(?:GB|GiB)?(\+?)$/i.exec(written) ?? [];
    if (amount === undefined) return [];
    return [more === '' ? { key, operator: 'In', values: [String(Number(amount))] } : atLeast(key, Number(amount))];
  };
  return [...amountOf('cpus', machineCpus), ...amountOf('memory', machineMemory)];
}

function atLeast(key: string, amount: number): NodeRequirement {
  return { key, operator: 'Gt', values: [String(amount - 0.001)] };
}

function capacityIn(block: Cursor, resources: Cursor): Partial<Placement> {
  return capacityOf(getIn(block, 'use_spot') ?? getIn(resources, 'use_spot'));
}

function placeOf(block: Cursor, resources: Cursor): Partial<Placement> {
  const owner = machineAt(getIn(block, 'instance_type') ?? getIn(resources, 'instance_type'))?.provider;
  return cloudOf(cloudFields.some((key) => getIn(block, key)) ? block : resources, owner);
}

/** What all alternatives agree on. Their fields replace those of the resources around them. */
function placementOf(resources: Cursor, blocks: readonly Cursor[]): Partial<Placement> {
  const capacities = blocks.map((block) => capacityIn(block, resources));
  const places = blocks.map((block) => placeOf(block, resources));
  const [capacity, cloud] = [capacities[0], places[0]];
  const sameCloud = places.every(
    ({ provider, otherCloud }) => provider === cloud?.provider && otherCloud === cloud?.otherCloud,
  );
  const isNamed = places.every(({ provider }) => provider !== undefined);
  const sameRegion = places.every(({ region }) => region === cloud?.region);
  const providers = places.flatMap(({ provider }) => provider ?? []);
  const regions = places.flatMap(({ region }) => region ?? []);
  return {
    ...(capacities.every((one) => one.capacity === capacity?.capacity) && capacity),
    ...(sameCloud && { ...cloud, ...(!sameRegion && { region: null }) }),
    // The config's cloud is for tasks that name none.
    ...(!sameCloud &&
      isNamed && { provider: null, providerFrom: null, region: null, providers: [...new Set(providers)] }),
    ...(!(sameCloud && sameRegion) && regions.length > 0 && { regions: [...new Set(regions)] }),
  };
}

function capacityOf(spot: Cursor | undefined): Partial<Placement> {
  const isSpot = spot === undefined || isTemplated(spot) ? undefined : asBoolean(spot);
  return isSpot === undefined ? {} : { capacity: isSpot ? 'spot' : 'on-demand', capacityAt: spot };
}

const cloudNames = ['infra', 'cloud'];
const cloudFields = [...cloudNames, 'region'];

/** `infra: aws/us-east-1`, or `cloud` and `region`. The user's own machines, such as a Kubernetes cluster, may be anywhere. */
function cloudOf(resources: Cursor, owner: string | undefined): Partial<Placement> {
  const [infra, inRegion] = (writtenIn(resources, 'infra') ?? '').split('/');
  const isUnnamed = cloudNames.every((key) => getIn(resources, key) === undefined);
  const cloud = infra || writtenIn(resources, 'cloud') || (isUnnamed ? owner : undefined);
  if (cloud === undefined && isUnnamed) return anyCloudOf('SkyPilot');
  const place = cloudsNamed(cloud === undefined ? [] : [cloud]);
  if (place.provider == null) return place;
  const region = inRegion || writtenIn(resources, 'region');
  const isName = region !== undefined && /^[\w-]+$/.test(region);
  return { ...place, region: isName ? region : null };
}

function writtenIn(block: Cursor, key: string): string | undefined {
  const at = getIn(block, key);
  return at === undefined || isTemplated(at) ? undefined : asText(at);
}

/** Where a task runs that names these clouds, whatever the config says. The user's own machines may be anywhere. */
export function cloudsNamed(names: readonly string[]): Partial<Placement> {
  const all = names.map((name) => name.toLowerCase());
  const isReadable = all.every((name) => isCloudName.test(name) && !ownMachines.has(name));
  const [first] = all;
  if (first === undefined || !isReadable) return {};
  const [provider, ...others] = new Set(all.flatMap((name) => clouds[name] ?? []));
  const nowhere = { provider: null, providerFrom: null, region: null };
  if (provider === undefined) return { ...nowhere, otherCloud: otherClouds[first] ?? names[0] ?? first };
  const isOne = others.length === 0 && all.every((name) => clouds[name] !== undefined);
  return isOne ? { provider, providerFrom: null } : { ...nowhere, providers: [provider, ...others] };
}

const clouds = table<string>({
  aws: 'aws',
  azure: 'azure',
  coreweave: 'coreweave',
  crusoe: 'crusoe',
  gcp: 'gcp',
  oci: 'oci',
  hyperstack: 'hyperstack',
  lambda: 'lambda',
  nebius: 'nebius',
  runpod: 'runpod',
});

const isCloudName = /^[a-z][a-z0-9_-]{0,30}$/i;
const ownMachines = wordSet('k8s kubernetes ssh slurm local vsphere remote');
const otherClouds = table<string>({
  do: 'DigitalOcean',
  digitalocean: 'DigitalOcean',
  ibm: 'IBM Cloud',
  vast: 'Vast.ai',
  vastai: 'Vast.ai',
});
