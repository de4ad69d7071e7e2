import { addsTolerations, type GpuModel, gpusByLabel, instanceType, type Provider } from '../catalog/index.ts';
import { countIn, product } from '../model/count.ts';
import { modelsOfMachines } from '../model/machine-terms.ts';
import type { NodePool } from '../model/node-pool.ts';
import type { NodeRequirement } from '../model/node-terms.ts';
import { table, tableOf } from '../yaml/table.ts';
import { type Field, type Fields, isFields, meaningOf } from './fields.ts';
import { emptyList } from './hcl-choices.ts';
import { mixedInstancesOf } from './mixed-instances.ts';
import { diskInFields } from './pool-disks.ts';
import { statedTaints } from './stated-taints.ts';

// Pools of nodes in the words of many tools: Terraform, Cluster API, OpenShift, Crossplane, Config Connector. They are read by the meaning of their
// fields, whatever the case: `machine_type`, `instanceTypes`, `vmSize`.

/** The pool that fields describe; undefined unless all its nodes have accelerators. `name`: of the object or block, if the fields have none. */
export function poolInFields(fields: Fields, name: string | null): NodePool | undefined {
  const found = new Map<string, Field>();
  collect(fields, found, 0);
  const of = (...keys: readonly string[]): Field | undefined =>
    keys.map((key) => found.get(key)).find((field) => field !== undefined);
  const mixed = mixedInstancesOf(fields);
  const named = textsIn(
    of('instancetypes', 'instancetype', 'machinetype', 'vmsize', 'nodemachinetype', 'nodeshape', 'sku') ??
      presetOf(of('platform'), of('preset')) ??
      typeOfMachine(of('machine', 'aws', 'gcp', 'azure')) ??
      typeOfCrusoe(of('type')),
  );
  const types = mixed?.types.length ? mixed.types : named;
  const machines = types.map((type) => instanceType(type ?? ''));
  const ofMachineSet = cardsOfMachineSet(found.get('gpus'));
  const provider =
    machines[0]?.provider ??
    (ofMachineSet || found.has('guestaccelerator') || found.has('acceleratortype') || gkeCardIn(found.get('gputype'))
      ? 'gcp'
      : null);
  const cards = of('guestaccelerator', 'guestaccelerators', 'accelerator', 'gpuaccelerator') ?? ofMachineSet;
  const card = new Map<string, Field>();
  collect(cards ?? found, card, 0);
  const model = textOf(
    card.get('acceleratortype') ?? (cards === undefined ? gkeCardIn(found.get('gputype')) : card.get('type')),
  );
  const hasCards = model !== undefined && model !== null;
  if (!hasCards && (machines.length === 0 || machines.some((one) => one === undefined || one.gpu === null)))
    return undefined;
  const count = textOf(
    card.get('acceleratorcount') ?? (cards === undefined ? found.get('gpucount') : card.get('count')),
  );
  const own = textOf(
    [...fields].find(([key]) => /^(?:(?:node_?(?:group|pool)|compute_environment)_?)?name$/i.test(key))?.[1],
  );
  const called = own === undefined ? name : own;
  const labels = tableOf([
    ...labelsIn(
      of('nodelabels', 'requestednodelabels', 'kuberneteslabels', 'k8slabels', 'initialnodelabels', 'labels'),
    ),
    ...nameLabels(provider).flatMap((key) => (called === null ? [] : [[key, called] as const])),
    ...(hasCards ? [[accelerator, model] as const] : []),
  ]);
  const places =
    listedIn(of('region', 'location', 'zone', 'zones', 'availabilityzones', 'nodelocations', 'nodezones')) ??
    listedIn(of('subnets'))?.filter((name) => isZone.test(name ?? '')) ??
    [];
  const region = regionIn(places);
  const sharing = textOf(of('maxsharedclientspergpu'));
  const partition = textOf(of('gpupartitionsize'));
  const topology = textOf(of('tputopology'));
  const term: NodeRequirement[] = [
    ...(types.every((type) => type !== null) && types.length > 0
      ? [isIn('node.kubernetes.io/instance-type', ...types.map((type) => type ?? ''))]
      : []),
    ...Object.entries(labels).map(([key, value]) => isIn(key, value)),
    ...(hasCards && countIn(count ?? undefined) !== null ? [isIn(`${accelerator}-count`, count ?? '')] : []),
    ...(region === null ? [] : [isIn('topology.kubernetes.io/region', region)]),
    ...(sharing ? [isIn('cloud.google.com/gke-max-shared-clients-per-gpu', sharing)] : []),
    ...(partition ? [isIn('cloud.google.com/gke-gpu-partition-size', partition)] : []),
    ...(topology ? [isIn('cloud.google.com/gke-tpu-topology', topology)] : []),
    ...(mixed === undefined
      ? capacityOf(found)
      : mixed.capacities.length > 0
        ? [isIn('karpenter.sh/capacity-type', ...mixed.capacities)]
        : []),
    ...diskInFields(fields, types),
  ];
  const terms = [term];
  // The bound of a compute environment of AWS Batch.
  const cpus = countIn(textOf(of('maxvcpus')) ?? undefined);
  return {
    name: called,
    labels,
    taints: statedTaints(of('taint', 'taints', 'nodetaint', 'nodetaints', 'kubernetestaints')),
    ...(addsTolerations(provider) && { toleratesRequested: true }),
    gpus: (hasCards ? gpusByLabel(accelerator, model) : modelsOfMachines(terms)).map(({ id }: GpuModel) => id),
    terms,
    ...(cpus === null
      ? { size: mixed?.isWeighted ? unknownSize : sizeOf(of, provider, region, fields) }
      : { limits: table({ cpu: cpus }) }),
    ...mixed?.share,
    ...(places.length === 0 && provider !== null && { placedBy: provider }),
  };
}

const accelerator = 'cloud.google.com/gke-accelerator';

const unknownSize = { min: null, max: null };

/** Subnets of kOps have the names of their zones. */
const isZone = /^[a-z]{2}(?:-[a-z]+){1,3}-\d[a-f]$/;

/** Gardener and OpenShift's Hive: `machine: {type: g6.xlarge}`, `platform: {aws: {type: g6.xlarge}}`. */
function typeOfMachine(machine: Field | undefined): Field | undefined {
  return isFields(machine) ? machine.get('type') : undefined;
}

/** Crusoe has the machine in `type`. https://registry.terraform.io/providers/crusoecloud/crusoe/latest/docs/resources/kubernetes_node_pool */
function typeOfCrusoe(field: Field | undefined): Field | undefined {
  return typeof field === 'string' && instanceType(field)?.provider === 'crusoe' ? field : undefined;
}

/** Modules of one's own name the card of GKE in a field of the pool: `gpu_type = "nvidia-l4"`. */
function gkeCardIn(field: Field | undefined): string | undefined {
  return typeof field === 'string' && field.startsWith('nvidia-') && gpusByLabel(accelerator, field).length > 0
    ? field
    : undefined;
}

/** OpenShift on Google Cloud: `gpus: [{type: nvidia-tesla-t4, count: 2}]`. In other tools, `gpus` is a number. */
function cardsOfMachineSet(field: Field | undefined): Field | undefined {
  return Array.isArray(field) && field.length > 0 && field.every((one) => isFields(one) && one.has('type'))
    ? field
    : undefined;
}

/** The pool of an object, whose `count` is the number of its nodes: in Terraform, that is the number of pools. */
export function withCount(fields: Fields): Fields {
  return new Map([...fields].map(([key, value]) => [key === 'count' ? 'nodeCount' : key, value]));
}

/** Collects the first field of each meaning, outside before inside. */
function collect(fields: Field, found: Map<string, Field>, depth: number): void {
  if (depth > 8) return;
  if (Array.isArray(fields)) {
    for (const item of fields.slice(0, 20)) collect(item, found, depth + 1);
    return;
  }
  if (!isFields(fields)) return;
  for (const [key, value] of fields) {
    const meaning = meaningOf(key);
    if (!found.has(meaning)) found.set(meaning, value);
  }
  for (const [key, value] of fields) {
    if (key === 'dynamic') collect(presentBlocks(value), found, depth + 1);
    else if (!/label|tag|annotation|taint/i.test(key)) collect(value, found, depth + 1);
  }
}

/**
 * The dynamic blocks of Terraform that are there: not those of empty lists. Modules offer reservations, which few of their users have, so a
 * reservation needs a list that is known.
 */
function presentBlocks(blocks: Field): readonly Field[] {
  return [blocks].flat().filter((block) => {
    const each = isFields(block) ? block.get('for_each') : undefined;
    if (each === emptyList || (Array.isArray(each) && each.length === 0)) return false;
    const inner = new Map<string, Field>();
    collect(block, inner, 0);
    return each !== null || !inner.has('consumereservationtype');
  });
}

function textOf(field: Field | undefined): string | null | undefined {
  return field === undefined || typeof field === 'string' ? field : null;
}

/** The texts of one value or a list; null for each that is unknown. */
function textsIn(field: Field | undefined): readonly (string | null)[] {
  if (field === undefined) return [];
  if (Array.isArray(field)) return field.map((item) => textOf(item) ?? null);
  return [textOf(field) ?? null];
}

/** A list, or one text with commas, as the modules of Google have it. */
function listedIn(field: Field | undefined): readonly (string | null)[] | undefined {
  if (field === undefined) return undefined;
  return typeof field === 'string' ? field.split(',').map((part) => part.trim()) : textsIn(field);
}

/** Nebius has a machine's platform and its size in two fields; its instance types join them. https://docs.nebius.com/terraform-provider */
function presetOf(platform: Field | undefined, preset: Field | undefined): Field | undefined {
  if (platform === undefined || preset === undefined) return undefined;
  return typeof platform === 'string' && typeof preset === 'string' ? `${platform}_${preset}` : null;
}

/** A map, or blocks with a key and a value. */
function labelsIn(field: Field | undefined): readonly (readonly [string, string])[] {
  if (Array.isArray(field) && field.some((one) => isFields(one) && one.has('key') && one.has('value')))
    return field.flatMap((one): readonly (readonly [string, string])[] => {
      const [key, value] = isFields(one) ? [one.get('key'), one.get('value')] : [];
      return typeof key === 'string' && typeof value === 'string' ? [[key, value]] : [];
    });
  const map = Array.isArray(field) ? field[0] : field;
  if (!isFields(map)) return [];
  return [...map].flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
}

/** The labels that a provider gives to the nodes of a pool. */
function nameLabels(provider: Provider | null): readonly string[] {
  switch (provider) {
    case 'gcp':
      return ['cloud.google.com/gke-nodepool'];
    case 'aws':
      return ['eks.amazonaws.com/nodegroup'];
    case 'azure':
      return ['kubernetes.azure.com/agentpool', 'agentpool'];
    case 'oci':
      return ['oci.oraclecloud.com/node-pool'];
    case 'coreweave':
      return ['compute.coreweave.com/node-pool'];
    default:
      return [];
  }
}

function isIn(key: string, ...values: readonly string[]): NodeRequirement {
  return { key, operator: 'In', values };
}

const capacities = table<string>({
  spot: 'spot',
  low: 'spot',
  ondemand: 'on-demand',
  regular: 'on-demand',
  capacityblock: 'reserved',
});

function capacityOf(found: ReadonlyMap<string, Field>): readonly NodeRequirement[] {
  const is = (key: string) => found.get(key) === 'true';
  if (is('flexstart') || is('queuedprovisioning') || isEnabled(found, 'queuedprovisioning'))
    return [isIn('cloud.google.com/gke-flex-start', 'true')];
  if (found.get('consumereservationtype') === 'SPECIFIC_RESERVATION')
    return [isIn('karpenter.sh/capacity-type', 'reserved')];
  if (is('spot') || is('preemptible') || hasBlock(found, 'preemptible') || hasSpotField(found))
    return [isIn('karpenter.sh/capacity-type', 'spot')];
  const written = [
    ...capacityKeys.map((key) => textOf(found.get(key))),
    // A compute environment of AWS Batch.
    ...(found.has('maxvcpus') ? [textOf(found.get('type'))] : []),
  ];
  const meant = written.flatMap((text) => capacities[meaningOf(text ?? '')] ?? []);
  return meant.slice(0, 1).map((capacity) => isIn('karpenter.sh/capacity-type', capacity));
}

const capacityKeys = [
  'capacitytype',
  'markettype',
  'scalesetpriority',
  'priority',
  'provisioningmodel',
  'gcpprovisioningmodel',
];

/** Fields that only machines on spot have, of Cluster API, Oracle and kOps, whose price may be empty. */
function hasSpotField(found: ReadonlyMap<string, Field>): boolean {
  const price = textOf(found.get('maxprice'));
  return (
    ['spotmarketoptions', 'spotvmoptions', 'preemptiblenodeconfig'].some((key) => found.has(key)) ||
    /\d/.test(price ?? '')
  );
}

/** `queued_provisioning { enabled = true }`, also in Config Connector and Crossplane. */
function isEnabled(found: ReadonlyMap<string, Field>, key: string): boolean {
  const [field] = [found.get(key)].flat();
  return isFields(field) && field.get('enabled') === 'true';
}

/** Nebius: `preemptible = {}`. */
function hasBlock(found: ReadonlyMap<string, Field>, key: string): boolean {
  const field = found.get(key);
  return Array.isArray(field) || isFields(field);
}

/** The region of a location or of zones: `us-central1-a`, `us-east-1b`. Azure's are also written as `West Europe`. */
export function regionIn(places: readonly (string | null)[]): string | null {
  const regions = places.map((place) =>
    (place ?? '')
      .toLowerCase()
      .replaceAll(' ', '')
      .replace(/^(.*\d)-?[a-f]$/, '$1')
      .replace(/^([a-z]+\d?)-[1-3]$/, '$1'),
  );
  const [first = ''] = regions;
  return /^[a-z][a-z\d]*(?:-[a-z\d]+)*$/.test(first) && regions.every((region) => region === first) ? first : null;
}

function sizeOf(
  of: (...keys: readonly string[]) => Field | undefined,
  provider: Provider | null,
  region: string | null,
  fields: Fields,
): NonNullable<NodePool['size']> {
  const number = (...keys: readonly string[]) => {
    const field = of(...keys);
    return field === undefined ? undefined : countIn(textOf(field) ?? undefined);
  };
  // GKE counts per zone. A regional cluster has several, and a pool of any cluster can name more. An unknown place may be either.
  const place = of('region', 'location');
  const isPerZone =
    provider === 'gcp' && place !== undefined && region === (textOf(place) ?? null) && !textOf(of('zone'));
  const zones = provider === 'gcp' ? listedIn(of('nodelocations')) : undefined;
  const each = zones?.every((zone) => zone) ? zones.length : isPerZone || zones !== undefined ? null : 1;
  const inAll = (count: number | null | undefined) => (count === undefined ? undefined : product(count, each));
  const counts = [
    'replicas',
    'nodecount',
    'desiredsize',
    'desiredcapacity',
    'initialnodecount',
    'targetnodes',
    'fixednodecount',
    'instancecount',
  ];
  const fixed = inAll(number(...counts, ...(provider === 'oci' ? ['size'] : []))) ?? null;
  const bound = (whole: string, ...keys: readonly string[]) => {
    const word = keys[0]?.slice(0, 3) ?? '';
    // Gardener has `maximum` next to the machine, for all zones.
    const all = fields.get(`${word}imum`);
    const total = number(whole) ?? (all === undefined ? undefined : countIn(textOf(all) ?? undefined));
    if (total !== undefined) return total;
    const own = number(...keys);
    if (own !== undefined) return inAll(own);
    // Next to the machine or in the bounds of an autoscaler, a bare `max` is that of the pool.
    const scaler = of('autoscaling');
    const bare = fields.get(word) ?? (isFields(scaler) ? scaler.get(word) : undefined);
    return inAll(bare === undefined ? undefined : countIn(textOf(bare) ?? undefined));
  };
  const max = bound('totalmaxnodecount', 'maxsize', 'maxcount', 'maxnodecount', 'maxnodes', 'maxreplicas');
  const min = bound('totalminnodecount', 'minsize', 'mincount', 'minnodecount', 'minnodes', 'minreplicas');
  return { min: min ?? fixed, max: max === undefined ? fixed : max };
}
