import {
  addsTolerations,
  allInstanceTypes,
  type GpuModel,
  gpus,
  gpusByLabel,
  instanceType,
  isGpuCountLabel,
  isGpuLabel,
  isInstanceTypeLabel,
  machineChips,
  providerOfLabel,
  spotSelector,
} from '../catalog/index.ts';
import { countIn } from '../model/count.ts';
import { objectKinds } from '../model/kinds/object-kinds.ts';
import { groupOf } from '../model/manifest.ts';
import { modelsOfNodeLabel } from '../model/named-models.ts';
import { isTaintEffect, type NodePool, type NodeTaint } from '../model/node-pool.ts';
import { lowerRequirement, type NodeRequirement, type NodeTerm } from '../model/node-terms.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asString,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, table, tableOf } from '../yaml/table.ts';
import { eksctlCapacities, onDemandShareOf } from './eksctl-capacity.ts';
import { computeClassDisk, eksctlDisk } from './pool-disks.ts';

/**
 * The pool that a Karpenter object describes. https://karpenter.sh/docs/concepts/nodepools/
 * @param owner the mapping with the requirements and taints
 */
export function karpenterPool({ root, kind, name }: Manifest, owner: Cursor): NodePool {
  const metadata = kind === 'NodePool' ? getIn(root, 'spec', 'template', 'metadata') : getIn(root, 'spec');
  const poolLabel = kind === 'NodePool' ? 'karpenter.sh/nodepool' : 'karpenter.sh/provisioner-name';
  const required = requiredValues(owner);
  const single = [...required].flatMap(([key, [value, ...others]]) =>
    value === undefined || others.length > 0 ? [] : [[key, value] as const],
  );
  const labels = tableOf([
    ...single,
    ...Object.entries(labelsAt(getIn(metadata, 'labels'))),
    ...(name === null ? [] : [[poolLabel, name] as const]),
  ]);
  return {
    name,
    labels,
    ...gpusInLabels(labels),
    ...nodesOf(required),
    terms: [
      [
        ...items(getIn(owner, 'requirements')).flatMap(lowerRequirement),
        ...Object.entries(labels).map(([key, value]) => isIn(key, value)),
      ],
    ],
    limits: limitsAt(getIn(root, 'spec', 'limits', 'resources') ?? getIn(root, 'spec', 'limits')),
    ...staticSize(getIn(root, 'spec', 'replicas')),
    ...taintsOf(owner),
    toleratesRequested: toleratesRequested(owner),
    ...nodeClassOf(owner),
  };
}

/** The size of a static pool, which Karpenter does not scale. https://karpenter.sh/docs/concepts/nodepools/#specreplicas */
function staticSize(replicas: Cursor | undefined): Pick<NodePool, 'size'> {
  const nodes = countIn(asText(replicas)) ?? null;
  return replicas === undefined ? {} : { size: { min: nodes, max: nodes } };
}

function nodeClassOf(owner: Cursor): Pick<NodePool, 'nodeClass'> {
  const reference = getIn(owner, 'nodeClassRef') ?? getIn(owner, 'providerRef');
  const [group, kind, name] = ['group', 'kind', 'name'].map((key) => asText(getIn(reference, key)));
  if (reference === undefined || name === undefined || entries(reference).some(isTemplated)) return {};
  const { group: usual } = objectKinds.find(({ kinds }) => kinds.includes(kind ?? '')) ?? {};
  return { nodeClass: { kind: `${group ?? usual ?? ''}/${kind ?? ''}`, name } };
}

function isIn(key: string, ...values: readonly string[]): NodeRequirement {
  return { key, operator: 'In', values };
}

/**
 * The pool that a node group of eksctl describes. https://eksctl.io/usage/schema/
 * @param cluster the ClusterConfig
 */
export function eksctlPool(cluster: Cursor, group: Cursor, types: readonly string[]): NodePool {
  const name = asText(getIn(group, 'name')) ?? null;
  const labels = table(labelsAt(getIn(group, 'labels')));
  const number = (key: string) => countIn(asText(getIn(group, key)));
  const nameLabels =
    name === null ? undefined : { 'alpha.eksctl.io/nodegroup-name': name, 'eks.amazonaws.com/nodegroup': name };
  return {
    name,
    labels: table(labels, nameLabels),
    ...gpusInLabels(labels),
    ...nodesOf(new Map([['node.kubernetes.io/instance-type', types]])),
    terms: [eksctlNodes(cluster, group, types, labels)],
    size: { min: number('minSize') ?? number('desiredCapacity'), max: number('maxSize') ?? number('desiredCapacity') },
    ...onDemandShareOf(group),
    ...taintsOf(group),
    toleratesRequested: true,
  };
}

function eksctlNodes(cluster: Cursor, group: Cursor, types: readonly string[], labels: Table<string>): NodeTerm {
  const at = getIn(cluster, 'metadata', 'region');
  const region = isTemplated(at) ? undefined : asText(at);
  const capacities = eksctlCapacities(group);
  return [
    isIn('node.kubernetes.io/instance-type', ...types),
    ...Object.entries(labels).map(([key, value]) => isIn(key, value)),
    ...(region === undefined ? [] : [isIn('topology.kubernetes.io/region', region)]),
    ...(capacities.length > 0 ? [isIn('karpenter.sh/capacity-type', ...capacities)] : []),
    ...eksctlDisk(group),
  ];
}

/** The taints of the nodes, in a list (Karpenter, eksctl, Rancher) or in a mapping (older eksctl). */
export function taintsOf(owner: Cursor): Pick<NodePool, 'taints' | 'incomplete'> {
  const at = getIn(owner, 'taints');
  const listed = items(at);
  return {
    taints: listed.length > 0 ? listed.flatMap(taint) : mappedTaints(at),
    incomplete: isIncomplete(owner) || isIncomplete(at) || isTemplated(at) || listed.some(isUnknown),
  };
}

/** The values that requirements allow, by label; without those that a template may change. */
function requiredValues(owner: Cursor): ReadonlyMap<string, readonly string[]> {
  return new Map(
    items(getIn(owner, 'requirements')).flatMap((requirement): [string, string[]][] => {
      const values = items(getIn(requirement, 'values'));
      if (asString(getIn(requirement, 'operator')) !== 'In' || values.some(isTemplated)) return [];
      return [[asText(getIn(requirement, 'key')) ?? '', values.map((value) => asText(value) ?? '')]];
    }),
  );
}

/** The properties that all nodes share, according to their labels. */
function nodesOf(
  labels: ReadonlyMap<string, readonly string[]>,
): Pick<NodePool, 'gpu' | 'gpus' | 'devices' | 'instanceType' | 'capacity' | 'zones'> {
  const pairs = [...labels].flatMap(([key, values]) => values.map((value) => ({ key, value })));
  const types = pairs.filter(({ key }) => isInstanceTypeLabel(key)).map(({ value }) => value);
  const models = pairs.flatMap(({ key, value }) => {
    const found = gpusByLabel(key, value);
    return found.length > 0 || isInstanceTypeLabel(key) || isGpuLabel(key) ? [found] : [];
  });
  const counts = pairs.filter(({ key }) => isGpuCountLabel(key)).map(({ value }) => countIn(value));
  const capacities = pairs.flatMap(({ key, value }) => spotSelector(key, value) ?? []);
  const devices = counts.length > 0 ? counts : types.map((type) => instanceType(type)?.gpuCount ?? null);
  return {
    gpu: only(models.map((found) => (found.length === 1 ? (found[0]?.id ?? null) : null))),
    ...gpusOf(
      [...labels].flatMap(([key, values]) => {
        const found = values.map((value) => gpusByLabel(key, value));
        const isKnown = found.every((some) => some.length > 0);
        return isKnown ? [found.flat()] : isInstanceTypeLabel(key) || isGpuLabel(key) ? [[]] : [];
      }),
    ),
    devices: only(devices),
    instanceType: only(types),
    capacity: only(capacities),
    zones: labels.get('topology.kubernetes.io/zone') ?? null,
  };
}

/** The models that all labels allow, each by its known values. */
function gpusOf([first = [], ...others]: readonly (readonly GpuModel[])[]): Pick<NodePool, 'gpus'> {
  const ids = new Set(first.filter((model) => others.every((found) => found.includes(model))).map(({ id }) => id));
  return ids.size > 0 ? { gpus: [...ids] } : {};
}

/** The models that the labels of a pool's nodes name; those of its machines take precedence. */
function gpusInLabels(labels: Table<string>): Pick<NodePool, 'gpus'> {
  const named = Object.entries(labels).map(([key, value]) => modelsOfNodeLabel(key, value));
  return gpusOf(named.filter((models) => models.length > 0));
}

/** The one value that all have; null for no value and for several. */
function only<T>(values: readonly (T | null)[]): T | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

function limitsAt(limits: Cursor | undefined): Table<number> | null {
  if (limits === undefined || isIncomplete(limits)) return null;
  return tableOf(
    entries(limits).flatMap((entry) => {
      const { value } = lowerQuantity(entry);
      return value === null ? [] : [[keyOf(entry), value] as const];
    }),
  );
}

/** Whether the provider adds tolerations to pods: known from the node class, or from a label or instance type that only that provider has. */
function toleratesRequested(owner: Cursor): boolean {
  const nodeClass = getIn(owner, 'nodeClassRef') ?? getIn(owner, 'providerRef');
  const group = asText(getIn(nodeClass, 'group')) ?? groupOf(asText(getIn(nodeClass, 'apiVersion')) ?? '');
  const kind = asText(getIn(nodeClass, 'kind')) ?? '';
  if (nodeClassGroups.has(group) || /^(?:AKSNodeClass|EC2NodeClass|AWSNodeTemplate)$/.test(kind)) return true;
  return items(getIn(owner, 'requirements')).some((requirement) => {
    const key = asText(getIn(requirement, 'key')) ?? '';
    const types = isInstanceTypeLabel(key) ? items(getIn(requirement, 'values')) : [];
    const providers = [
      providerOfLabel(key),
      ...types.map((type) => instanceType(asText(type) ?? '')?.provider ?? null),
    ];
    return providers.some(addsTolerations);
  });
}

const nodeClassGroups: ReadonlySet<string> = new Set(['karpenter.azure.com', 'karpenter.k8s.aws', 'eks.amazonaws.com']);

/**
 * The pools of a GKE compute class. Pods that select the class tolerate the taint of the class automatically, but not the taints in its
 * nodePoolConfig. https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass
 */
export function computeClassPools({ root, name }: Manifest): readonly NodePool[] {
  const config = getIn(root, 'spec', 'nodePoolConfig');
  const taints = getIn(config, 'taints');
  if (name === null) return [];
  // Node pools that were created by hand may have other taints.
  const manualPools = items(getIn(root, 'spec', 'priorities')).some(
    (priority) => getIn(priority, 'nodepools') !== undefined,
  );
  const unknown = isTemplated(taints) || items(taints).some(isUnknown) || [config, taints].some(isIncomplete);
  return [
    {
      name,
      labels: table(labelsAt(getIn(config, 'nodeLabels')), { 'cloud.google.com/compute-class': name }),
      taints: items(taints).flatMap(taint),
      terms: items(getIn(root, 'spec', 'priorities')).flatMap((priority) => nodesOfPriority(priority, config)),
      ...gpusOf([items(getIn(root, 'spec', 'priorities')).flatMap(modelsOfPriority)]),
      toleratesRequested: true,
      incomplete: manualPools || unknown,
      needsSelector: true,
    },
  ];
}

/** The nodes that a priority adds; none for nodes without accelerators. */
function nodesOfPriority(priority: Cursor, config: Cursor | undefined): readonly NodeTerm[] {
  if (modelsOfPriority(priority).length === 0) return [];
  const value = (...path: readonly string[]) => {
    const at = getIn(priority, ...path);
    return at === undefined || isTemplated(at) ? undefined : asText(at);
  };
  const written = [
    ['node.kubernetes.io/instance-type', value('machineType')],
    ['cloud.google.com/machine-family', value('machineFamily')],
    ['cloud.google.com/gke-accelerator', value('gpu', 'type')],
    ['cloud.google.com/gke-accelerator-count', value('gpu', 'count')],
    ['cloud.google.com/gke-tpu-accelerator', value('tpu', 'type')],
    ['cloud.google.com/gke-tpu-topology', value('tpu', 'topology')],
    [machineChips, value('tpu', 'count')],
    ['cloud.google.com/gke-spot', value('spot')],
    ['cloud.google.com/gke-flex-start', value('flexStart', 'enabled')],
    ['cloud.google.com/reservation-name', needsReservation(priority) ? 'any' : undefined],
  ] as const;
  return [
    [
      ...written.flatMap(([key, text]) => (text === undefined ? [] : [isIn(key, text)])),
      ...Object.entries(labelsAt(getIn(config, 'nodeLabels'))).map(([key, text]) => isIn(key, text)),
      ...computeClassDisk(priority),
    ],
  ];
}

/**
 * Whether a priority adds nodes in reservations only. Without room there, `AnyBestEffort` adds nodes on demand, and `None` always does:
 * https://docs.cloud.google.com/kubernetes-engine/docs/how-to/consuming-reservations
 */
function needsReservation(priority: Cursor): boolean {
  const reservations = getIn(priority, 'reservations');
  const affinity = asText(getIn(reservations, 'affinity'));
  return reservations !== undefined && affinity !== 'AnyBestEffort' && affinity !== 'None';
}

/** The models of the nodes that a priority of a compute class adds; none for nodes without accelerators. */
function modelsOfPriority(priority: Cursor): readonly GpuModel[] {
  const named = [
    ['cloud.google.com/gke-accelerator', getIn(priority, 'gpu', 'type')],
    ['cloud.google.com/gke-tpu-accelerator', getIn(priority, 'tpu', 'type')],
    ['node.kubernetes.io/instance-type', getIn(priority, 'machineType')],
    ['cloud.google.com/machine-family', getIn(priority, 'machineFamily')],
  ] as const;
  return (
    named
      .map(([key, value]) => (isTemplated(value) ? [] : gpusByLabel(key, asText(value) ?? '')))
      .find((found) => found.length > 0) ?? modelsOfFamily(asText(getIn(priority, 'machineFamily')))
  );
}

/** The models of a family of which all machines have accelerators: `a2` has two. */
function modelsOfFamily(family: string | undefined): readonly GpuModel[] {
  const machines = allInstanceTypes().filter(
    ({ provider, name }) => provider === 'gcp' && name.split('-')[0] === family,
  );
  const ids = new Set(machines.map(({ gpu }) => gpu ?? ''));
  return ids.has('') ? [] : [...ids].flatMap((id) => gpus.get(id) ?? []);
}

function labelsAt(map: Cursor | undefined): Table<string> {
  return tableOf(
    entries(map).flatMap((entry) => (isTemplated(entry) ? [] : [[keyOf(entry), asText(entry) ?? ''] as const])),
  );
}

function taint(item: Cursor): readonly NodeTaint[] {
  const key = asText(getIn(item, 'key'));
  const effect = asText(getIn(item, 'effect'));
  if (key === undefined || !isTaintEffect(effect)) return [];
  return [{ key, value: asText(getIn(item, 'value')) ?? '', effect }];
}

/** eksctl's older form: `nvidia.com/gpu: "true:NoSchedule"`. */
function mappedTaints(map: Cursor | undefined): readonly NodeTaint[] {
  return entries(map).flatMap((entry) => {
    const [value = '', effect] = (asText(entry) ?? '').split(':');
    return isTaintEffect(effect) ? [{ key: keyOf(entry), value, effect }] : [];
  });
}

function isUnknown(item: Cursor): boolean {
  return isIncomplete(item) || entries(item).some(isTemplated);
}
