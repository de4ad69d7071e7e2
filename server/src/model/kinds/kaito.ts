import type { Cursor } from '../../yaml/cursor.ts';
import { asText, getIn, isTemplated } from '../../yaml/cursor.ts';
import { namesAccelerators } from '../accelerators.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { devicesOfInstance } from '../implicit-devices.ts';
import { lowerContainers, lowerCount, text } from '../pod.ts';
import { byName, type RequestedResource } from '../requested-resource.ts';
import type { KindEntry, KindLowering, PodSetSource } from './kind.ts';
import { times, unlimitedRetries, written } from './pod-sets.ts';

/**
 * KAITO creates nodes of an instance type and uses all their GPUs, so the type determines the number.
 * https://github.com/kaito-project/kaito/tree/main/api
 */
export const kaitoKinds: readonly KindEntry[] = [
  // A Workspace has no `spec`: its fields are at the root.
  { group: 'kaito.sh', kinds: ['Workspace'], lower: ({ root }) => lowerWorkspace(root) },
  {
    group: 'kaito.sh',
    kinds: ['InferenceSet'],
    role: 'serving',
    replica: 'group',
    lower: ({ root }) => lowerInferenceSet(getIn(root, 'spec')),
  },
  {
    group: 'kaito.sh',
    kinds: ['RAGEngine'],
    role: 'serving',
    lower: ({ root }) => lowerRagEngine(getIn(root, 'spec')),
  },
];

const rest = { retries: unlimitedRetries, scaling: null, partial: false } as const;

/** @param object the root, or the `spec` in which the fields are by mistake */
function lowerWorkspace(object: Cursor): KindLowering {
  const inSpec = getIn(object, 'resource') === undefined ? getIn(object, 'spec') : undefined;
  const root = getIn(inSpec, 'resource') === undefined ? object : (inSpec ?? object);
  const resource = getIn(root, 'resource');
  const tuning = getIn(root, 'tuning');
  const podSets = nodePods(
    tuning === undefined ? 'inference' : 'tuning',
    resource,
    getIn(root, 'inference', 'template'),
  );
  return { ...rest, podSets, role: tuning === undefined ? 'serving' : 'training' };
}

function lowerInferenceSet(spec: Cursor | undefined): KindLowering {
  const template = getIn(spec, 'template');
  const sets = lowerCount(getIn(spec, 'replicas'), 1);
  const podSets = nodePods(
    'inference',
    getIn(template, 'resource') ?? template,
    getIn(template, 'inference', 'template'),
  );
  return {
    ...rest,
    podSets: podSets.map((set) => ({ ...set, replicas: getIn(spec, 'replicas'), pods: times(set.pods, sets) })),
  };
}

/** Without an instance type, a RAGEngine runs on CPUs. */
function lowerRagEngine(spec: Cursor | undefined): KindLowering {
  const compute = getIn(spec, 'compute');
  return {
    ...rest,
    podSets: getIn(compute, 'instanceType') === undefined ? [] : nodePods('engine', compute, undefined),
  };
}

/** One pod per node. The template's own requests are for the node's GPUs; they count only if the node's GPUs are unknown. */
function nodePods(name: string, resource: Cursor | undefined, template: Cursor | undefined): readonly PodSetSource[] {
  if (resource === undefined) return [];
  const pod = getIn(template, 'spec');
  const containers = pod === undefined ? [] : lowerContainers(pod);
  const instanceType = text(getIn(resource, 'instanceType'));
  const onNode = nodeDevices(resource);
  const isKnown = onNode.perPod !== null || !containers.some(namesAccelerators);
  const count = getIn(resource, 'count');
  return [
    {
      name,
      pod: pod ?? resource,
      metadata: getIn(template, 'metadata'),
      replicas: count,
      pods: written(count),
      containers,
      ...(isKnown ? { implicitDevices: [onNode] } : {}),
      ...(instanceType === undefined || isTemplated(instanceType.at) ? {} : { instanceType }),
    },
  ];
}

/** The devices of one node. A partition takes a slice or some cards of an existing node. */
function nodeDevices(resource: Cursor): ImplicitDevices {
  const partition = getIn(resource, 'partition');
  const count = lowerCount(getIn(partition, 'count'), 1);
  const profile = asText(getIn(partition, 'profile'));
  if (profile !== undefined) {
    const name = `nvidia.com/mig-${profile.replace('+', '.')}`;
    return {
      requested: byName(name),
      at: partition,
      form: 'mig',
      vendor: 'nvidia',
      perPod: count,
      each: null,
      profile,
    };
  }
  if (partition !== undefined)
    return { requested: field('partition'), at: partition, form: 'whole', vendor: 'nvidia', perPod: count, each: 1 };
  const type = text(getIn(resource, 'instanceType'));
  return devicesOfInstance(field(type === undefined ? 'labelSelector' : 'instanceType'), type);
}

function field(name: string): RequestedResource {
  return { kind: 'field', system: 'kaito', name };
}
