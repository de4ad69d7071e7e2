import type { GrowingPool } from './cluster-objects.ts';
import { at, list, number, text, textMap } from './json.ts';
import { readNodeTerm, readTaint } from './read.ts';
import { amountsOf } from './requests.ts';

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

/**
 * The node groups in the ConfigMap kube-system/cluster-autoscaler-status, which is YAML since 1.30 and plain lines before. What nodes a group adds
 * follows from those that it has: their names begin with the group's.
 * https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/clusterstate
 */
export function readAutoscalerStatus(configMap: unknown): readonly GrowingPool[] {
  const status = text(at(configMap, 'data', 'status')) ?? '';
  const groups = /^\s*node-?groups:/im.exec(status);
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
