import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isIncomplete, items, keyOf } from '../../yaml/cursor.ts';
import { deviceOf } from '../claims.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { countOf, imageOfParts, lowerContainer, lowerContainers, lowerCount } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import { byName } from '../requested-resource.ts';
import type { Container, Scaling } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, fromTemplate, times, unlimitedRetries, written } from './pod-sets.ts';

/** NVIDIA's inference operators: NIM and Dynamo, and Grove, on which Dynamo builds. NIMCache only downloads. */
export const nvidiaKinds: readonly KindEntry[] = [
  {
    group: 'apps.nvidia.com',
    kinds: ['NIMService'],
    mountsShm: true,
    passesAnnotations: false,
    role: 'serving',
    lower: ({ root }) => ({ ...served, ...lowerNimService(getIn(root, 'spec'), 'service') }),
  },
  {
    group: 'apps.nvidia.com',
    kinds: ['NIMPipeline'],
    role: 'serving',
    mountsShm: true,
    lower: ({ root }) => lowerNimPipeline(root),
  },
  {
    group: 'nvidia.com',
    kinds: ['DynamoGraphDeployment'],
    spansPodsIf: (root) => entries(getIn(root, 'spec', 'services')).some(isMultinode),
    mountsShm: true,
    role: 'serving',
    lower: ({ root }) => lowerDynamoGraph(getIn(root, 'spec')),
  },
  {
    group: 'nvidia.com',
    kinds: ['DynamoComponentDeployment'],
    spansPodsIf: (root) => isMultinode(getIn(root, 'spec')),
    mountsShm: true,
    role: 'serving',
    lower: ({ root }) => ({ ...served, podSets: componentPods('component', getIn(root, 'spec')) }),
  },
  {
    group: 'grove.io',
    kinds: ['PodCliqueSet'],
    spansPods: true,
    words: [],
    role: 'serving',
    lower: ({ root }) => ({ ...served, podSets: cliquePods(getIn(root, 'spec')) }),
  },
];

const served = { retries: unlimitedRetries, scaling: null, partial: false } as const;

/** The spec has the fields of both the pod and its one container. https://docs.nvidia.com/nim-operator/latest/service.html */
function lowerNimService(spec: Cursor | undefined, name: string): Pick<KindLowering, 'podSets' | 'scaling'> {
  if (spec === undefined) return { podSets: [], scaling: null };
  const scaling = hpaOf(spec);
  const replicas = scaling?.min ?? getIn(spec, 'replicas');
  const pods =
    scaling === null
      ? written(getIn(spec, 'replicas'))
      : between(scaling.floor, scaling.max === undefined ? null : lowerCount(scaling.max, 1));
  const podSet: PodSetSource = {
    name,
    pod: spec,
    metadata: spec,
    replicas,
    pods: times(pods, nodesOf(getIn(spec, 'multiNode'))),
    containers: [nimContainer(spec, name)],
    ...cachedProfile(spec),
    claimed: items(getIn(spec, 'draResources')).flatMap(createdClaims),
    claims: items(getIn(spec, 'draResources')),
  };
  return { podSets: [podSet], scaling };
}

/** The operator requests as many GPUs as a profile of a cache needs, unless the service requests some or claims them. */
function cachedProfile(spec: Cursor): Pick<PodSetSource, 'implicitDevices'> {
  const profile = getIn(spec, 'storage', 'nimCache', 'profile');
  const own = [getIn(spec, 'resources', 'limits'), getIn(spec, 'resources', 'requests')];
  const isOwn = own.some(
    (amounts) => isIncomplete(amounts) || entries(amounts).some((one) => keyOf(one).startsWith('nvidia.com/')),
  );
  if (!asText(profile) || isOwn || getIn(spec, 'draResources') !== undefined) return {};
  const requested = { kind: 'field', system: 'field', name: 'profile' } as const;
  return { implicitDevices: [{ requested, at: profile, form: 'whole', vendor: 'nvidia', perPod: null, each: 1 }] };
}

/** The container with its image, which is a mapping, as one reference located at the tag. */
function nimContainer(spec: Cursor, name: string): Container {
  const image = imageOfParts(getIn(spec, 'image', 'repository'), getIn(spec, 'image', 'tag'));
  return { ...lowerContainer(spec, 'app', name), image };
}

/** The pods of a replica: one per stage of the pipeline; the first versions had `size`. */
function nodesOf(multiNode: Cursor | undefined): number | null {
  return lowerCount(getIn(multiNode, 'parallelism', 'pipeline') ?? getIn(multiNode, 'size'), 1);
}

/** The HPA of a service, which cannot scale to zero. */
function hpaOf(spec: Cursor): Scaling | null {
  const scale = getIn(spec, 'scale');
  const hpa = getIn(scale, 'hpa');
  if (hpa === undefined || asBoolean(getIn(scale, 'enabled')) !== true) return null;
  const min = getIn(hpa, 'minReplicas');
  return {
    mechanism: 'hpa',
    mechanismFrom: 'default',
    min,
    max: getIn(hpa, 'maxReplicas'),
    owner: hpa,
    minKey: 'minReplicas',
    floor: lowerCount(min, 1),
    canReachZero: false,
  };
}

/** The devices of claims that the operator creates. Their default class is that of NVIDIA GPUs. */
function createdClaims(resource: Cursor): readonly ImplicitDevices[] {
  return items(getIn(resource, 'claimCreationSpec', 'devices')).flatMap((device) =>
    deviceOf(
      asText(getIn(device, 'deviceClassName')) ?? 'gpu.nvidia.com',
      lowerCount(getIn(device, 'count'), 1),
      items(getIn(device, 'celExpressions')).flatMap((expression) => asText(expression) ?? []),
      device,
    ),
  );
}

/** A pipeline groups services and creates only the enabled ones. */
function lowerNimPipeline(root: Cursor): KindLowering {
  const services = items(getIn(root, 'spec', 'services')).filter(
    (service) => asBoolean(getIn(service, 'enabled')) !== false,
  );
  const podSets = services.flatMap(
    (service) => lowerNimService(getIn(service, 'spec'), asText(getIn(service, 'name')) ?? 'service').podSets,
  );
  return { ...served, podSets };
}

/** v1alpha1 has a map of services; v1beta1 has a list of components with pod templates. https://docs.nvidia.com/dynamo/latest/kubernetes/ */
function lowerDynamoGraph(spec: Cursor | undefined): KindLowering {
  const services = entries(getIn(spec, 'services')).flatMap((service) => componentPods(keyOf(service), service));
  const components = items(getIn(spec, 'components')).flatMap((component) =>
    fromTemplate(
      asText(getIn(component, 'name')) ?? 'component',
      getIn(component, 'podTemplate'),
      componentCount(component),
      getIn(component, 'replicas'),
    ),
  );
  return { ...served, podSets: [...services, ...components] };
}

function componentPods(name: string, component: Cursor | undefined): readonly PodSetSource[] {
  if (component === undefined) return [];
  const pod = getIn(component, 'extraPodSpec');
  const main = getIn(pod, 'mainContainer');
  const resources = getIn(component, 'resources');
  const gpus = getIn(resources, 'limits', 'gpu') ?? getIn(resources, 'requests', 'gpu');
  const containers = [
    ...(main === undefined ? [] : [lowerContainer(main, 'app', 'main', getIn(main, 'resources') ?? resources)]),
    ...(pod === undefined ? [] : lowerContainers(pod)),
  ];
  const source: PodSetSource = {
    name,
    pod: pod ?? component,
    metadata: getIn(component, 'extraPodMetadata'),
    replicas: getIn(component, 'replicas'),
    pods: componentCount(component),
    containers,
  };
  return [
    gpus === undefined
      ? source
      : { ...source, implicitDevices: [plainGpus(gpus, getIn(resources, 'limits', 'gpuType'))] },
  ];
}

function componentCount(component: Cursor): PodCount {
  const multinode = getIn(component, 'multinode');
  const nodes = multinode === undefined ? 1 : lowerCount(getIn(multinode, 'nodeCount'), 2);
  const autoscaling = getIn(component, 'autoscaling');
  if (asBoolean(getIn(autoscaling, 'enabled')) !== true) return times(written(getIn(component, 'replicas')), nodes);
  const max = getIn(autoscaling, 'maxReplicas');
  const min = lowerCount(getIn(autoscaling, 'minReplicas'), 1);
  return times(between(min, max === undefined ? null : lowerCount(max, 1)), nodes);
}

/** The devices in `gpu: "2"`, which the operator converts to NVIDIA's resource unless `gpuType` names another. */
export function plainGpus(count: Cursor, type: Cursor | undefined): ImplicitDevices {
  const resource = asText(type) ?? 'nvidia.com/gpu';
  return {
    requested: byName(resource),
    at: count,
    form: 'whole',
    vendor: /^nvidia/.test(resource) ? 'nvidia' : null,
    perPod: countOf(lowerQuantity(count)),
    each: 1,
  };
}

/** https://github.com/ai-dynamo/grove */
function cliquePods(spec: Cursor | undefined): readonly PodSetSource[] {
  const sets = lowerCount(getIn(spec, 'replicas'), 1);
  const template = getIn(spec, 'template');
  const groups = items(getIn(template, 'podCliqueScalingGroups'));
  return items(getIn(template, 'cliques')).flatMap((clique): readonly PodSetSource[] => {
    const pod = getIn(clique, 'spec', 'podSpec');
    if (pod === undefined) return [];
    const name = asText(getIn(clique, 'name')) ?? 'clique';
    const group = groups.find((one) => items(getIn(one, 'cliqueNames')).some((member) => asText(member) === name));
    const replicas = getIn(clique, 'spec', 'replicas');
    const pods = times(times(written(replicas), lowerCount(getIn(group, 'replicas'), 1)), sets);
    return [{ name, pod, metadata: clique, replicas, pods }];
  });
}

/** Whether the pods of one replica of a component serve one model together. */
function isMultinode(component: Cursor | undefined): boolean {
  return getIn(component, 'multinode') !== undefined;
}
