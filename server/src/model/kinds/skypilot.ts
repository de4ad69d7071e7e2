import { gpusNamed } from '../../catalog/index.ts';
import { asBoolean, asText, type Cursor, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import { table } from '../../yaml/table.ts';
import { cardChoices } from '../card-choices.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { lowerCount, text } from '../pod.ts';
import type { Placement } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount } from './kind.ts';
import { between, exactly, times } from './pod-sets.ts';

/** SkyPilot's tasks and services, which have no apiVersion. https://docs.skypilot.co/en/latest/reference/yaml-spec.html */
export const skypilotKinds: readonly KindEntry[] = [
  {
    group: 'skypilot',
    kinds: ['Task'],
    words: [],
    lower: ({ root }) => lowerTask(root),
  },
];

/** The devices belong to each node. Options may be given on the command line instead. */
function lowerTask(root: Cursor): KindLowering {
  const resources = getIn(root, 'resources') ?? root;
  const service = getIn(root, 'service');
  const nodes = getIn(root, 'num_nodes');
  const instanceType = text(getIn(resources, 'instance_type'));
  const alternatives = [...items(getIn(resources, 'any_of')), ...items(getIn(resources, 'ordered'))];
  const devices = devicesOf([resources, ...alternatives]);
  return {
    ...(service && { role: 'serving' as const }),
    podSets: [
      {
        ...{ name: 'node', pod: resources, metadata: undefined, replicas: nodes },
        pods: times(replicasOf(service), lowerCount(nodes, 1)),
        containers: [],
        ...(devices && { implicitDevices: [devices] }),
        ...(instanceType && !isTemplated(instanceType.at) && { instanceType }),
        placement: alternatives.length > 0 ? {} : { ...capacityOf(resources), ...cloudOf(resources) },
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

function devicesOf(blocks: readonly Cursor[]): ImplicitDevices | undefined {
  const choices = blocks.flatMap((block) => cardChoices(getIn(block, 'accelerators')));
  const [first, ...others] = choices;
  if (first === undefined) return undefined;
  const named = choices.map(({ name }) => gpusNamed(name));
  const models = named.some((one) => one.length === 0) ? [] : [...new Set(named.flat())];
  const [vendor = null, ...vendors] = new Set(models.map((model) => model.vendor));
  return {
    requested: { kind: 'field', system: 'field', name: 'accelerators' },
    at: first.at,
    form: 'whole',
    vendor: vendors.length > 0 ? null : vendor,
    perPod: others.every(({ count }) => count === first.count) ? first.count : null,
    // The name of a TPU has the number of its cores or chips.
    each: /^tpu/i.test(first.name) ? null : 1,
    // SkyPilot chooses the machine by its card.
    ...(models.length > 0 && { models, modelFrom: 'instance-type' as const }),
  };
}

function capacityOf(resources: Cursor): Partial<Placement> {
  const spot = getIn(resources, 'use_spot');
  const isSpot = spot === undefined || isTemplated(spot) ? undefined : asBoolean(spot);
  return isSpot === undefined ? {} : { capacity: isSpot ? 'spot' : 'on-demand', capacityAt: spot };
}

/** `infra: aws/us-east-1`, or `cloud` and `region`. A Kubernetes cluster may be anywhere. */
function cloudOf(resources: Cursor): Partial<Placement> {
  const [infra, inRegion] = (writtenIn(resources, 'infra') ?? '').split('/');
  const cloud = (infra || writtenIn(resources, 'cloud') || '').toLowerCase();
  const known = clouds[cloud];
  if (known === undefined) return {};
  const region = inRegion || writtenIn(resources, 'region');
  const isName = region !== undefined && /^[\w-]+$/.test(region);
  return { provider: known, providerFrom: null, region: isName ? region : null };
}

function writtenIn(block: Cursor, key: string): string | undefined {
  const at = getIn(block, key);
  return at === undefined || isTemplated(at) ? undefined : asText(at);
}

const clouds = table<string>({
  aws: 'aws',
  azure: 'azure',
  gcp: 'gcp',
  oci: 'oci',
  hyperstack: 'hyperstack',
  lambda: 'lambda',
  nebius: 'nebius',
  runpod: 'runpod',
});
