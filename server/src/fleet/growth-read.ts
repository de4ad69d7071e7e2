import type { GrowingPool } from './cluster-objects.ts';
import { at, list, number, text, textMap, texts } from './json.ts';
import { readNodeTerm, readTaint } from './read.ts';
import { amountsOf } from './requests.ts';
import type { Requirement } from './types.ts';

// Pools to which an autoscaler can add nodes.

/**
 * A Karpenter NodePool as the API server returns it. Its nodes have the labels of its template and meet its requirements.
 * https://karpenter.sh/docs/concepts/nodepools/
 */
export function readKarpenterPool(object: unknown): GrowingPool {
  const name = text(at(object, 'metadata', 'name')) ?? '';
  const template = at(object, 'spec', 'template');
  const conditions = list(at(object, 'status', 'conditions'));
  const { labels, fields } = readNodeTerm({ matchExpressions: at(template, 'spec', 'requirements') });
  return {
    by: 'karpenter',
    creates: true,
    name,
    labels: new Map([...textMap(at(template, 'metadata', 'labels')), ['karpenter.sh/nodepool', name]]),
    taints: list(at(template, 'spec', 'taints')).map(readTaint),
    terms: [{ labels, fields }],
    min: null,
    max: null,
    nodes: null,
    limits: amountsOf(at(object, 'spec', 'limits')),
    used: amountsOf(at(object, 'status', 'resources')),
    ready: conditions.every((each) => at(each, 'type') !== 'Ready' || at(each, 'status') !== 'False'),
  };
}

/** The label by which pods select a ComputeClass, and of its nodes. */
export const computeClassLabel = 'cloud.google.com/compute-class';

/**
 * A ComputeClass of GKE as the API server returns it; undefined if it creates no node pools. Each of its priorities describes other nodes, except
 * those that name pools which exist. Autopilot always creates pools, which the class does not say.
 * https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass
 */
export function readComputeClass(object: unknown): GrowingPool | undefined {
  const name = text(at(object, 'metadata', 'name')) ?? '';
  const spec = at(object, 'spec');
  const enabled = at(spec, 'nodePoolAutoCreation', 'enabled');
  const creates = enabled === true || at(spec, 'autopilot', 'enabled') === true ? true : null;
  const priorities = list(at(spec, 'priorities')).filter((priority) => at(priority, 'nodepools') === undefined);
  if ((creates === null && enabled === false) || priorities.length === 0) return undefined;
  const config = at(spec, 'nodePoolConfig');
  return {
    by: 'compute-class',
    creates,
    name,
    labels: new Map([...textMap(at(config, 'nodeLabels')), [computeClassLabel, name]]),
    taints: list(at(config, 'taints')).map(readTaint),
    terms: priorities.map((priority) => ({
      labels: priorityLabels(priority, at(spec, 'priorityDefaults')),
      fields: [],
    })),
    min: null,
    max: null,
    nodes: null,
    limits: new Map(),
    used: new Map(),
    ready: true,
  };
}

/** The labels of the nodes that a priority describes. */
function priorityLabels(priority: unknown, defaults: unknown): readonly Requirement[] {
  const written: readonly (readonly [key: string, value: unknown])[] = [
    ['node.kubernetes.io/instance-type', at(priority, 'machineType')],
    ['cloud.google.com/machine-family', at(priority, 'machineFamily')],
    ['cloud.google.com/gke-accelerator', at(priority, 'gpu', 'type')],
    ['cloud.google.com/gke-accelerator-count', at(priority, 'gpu', 'count')],
    ['cloud.google.com/gke-tpu-accelerator', at(priority, 'tpu', 'type')],
    ['cloud.google.com/gke-tpu-topology', at(priority, 'tpu', 'topology')],
  ];
  const isSpot = at(priority, 'spot') === true;
  const zones = texts(at(priority, 'location', 'zones') ?? at(defaults, 'location', 'zones'));
  return [
    ...written.flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, operator: 'In', values: [String(value)] }],
    ),
    { key: 'cloud.google.com/gke-spot', operator: isSpot ? 'In' : 'DoesNotExist', values: isSpot ? ['true'] : [] },
    ...(zones.length === 0 ? [] : [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: zones }]),
  ];
}

/**
 * The node groups in the ConfigMap kube-system/cluster-autoscaler-status, which is YAML since 1.30 and plain lines before. What nodes a group adds
 * follows from those that it has: their names begin with the group's.
 * https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/clusterstate
 */
export function readAutoscalerStatus(configMap: unknown): readonly GrowingPool[] {
  const status = text(at(configMap, 'data', 'status')) ?? '';
  const groups = /^[ \t]*node-?groups:/im.exec(status);
  if (groups === null) return [];
  const items = status.slice(groups.index).split(/^[ \t]*-[ \t](?=\w)|^[ \t]*(?=Name:)/m);
  return items.slice(1).flatMap((item): GrowingPool[] => {
    const name = /^[ \t]*name:[ \t]*"?([^\s"]{1,300})/im.exec(item)?.[1];
    const count = (word: string) => countIn(new RegExp(`\\b${word}[:=][ \\t]*(\\d{1,6})\\b`).exec(item)?.[1]);
    if (name === undefined) return [];
    const isHealthy = /\bhealth:\s+(?:Healthy\b|[\s\S]{0,2000}?\bstatus:\s*Healthy\b)/i.test(item);
    return [
      {
        by: 'cluster-autoscaler',
        creates: false,
        name: (name.split('/').at(-1) ?? name).replace(/-grp$/, ''),
        labels: new Map(),
        taints: [],
        terms: [],
        min: count('minSize'),
        max: count('maxSize'),
        nodes: count('cloudProviderTarget'),
        limits: new Map(),
        used: new Map(),
        ready: isHealthy && !/\bBackoff\b/.test(item),
      },
    ];
  });
}

function countIn(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

/** A MachineAutoscaler of OpenShift; undefined if it scales something else than a MachineSet. */
export function readMachineAutoscaler(object: unknown): GrowingPool | undefined {
  const target = at(object, 'spec', 'scaleTargetRef');
  const name = text(at(target, 'name'));
  if (at(target, 'kind') !== 'MachineSet' || name === undefined) return undefined;
  return {
    by: 'machine-autoscaler',
    creates: false,
    name,
    labels: new Map(),
    taints: [],
    terms: [],
    min: number(at(object, 'spec', 'minReplicas')) ?? null,
    max: number(at(object, 'spec', 'maxReplicas')) ?? null,
    nodes: null,
    limits: new Map(),
    used: new Map(),
    ready: true,
  };
}
