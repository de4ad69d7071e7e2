import { admits, selects } from './labels.ts';
import type { NodeState } from './node-state.ts';
import { untolerated } from './tolerations.ts';
import type { FleetNode, FleetPod, SpreadConstraint } from './types.ts';

// https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/plugins/podtopologyspread/filtering.go

/** For each constraint, how many pods each domain has. */
export type SpreadState = readonly ReadonlyMap<string, number>[];

export function spreadState(pod: FleetPod, states: readonly NodeState[]): SpreadState {
  const eligible = states.filter(({ node }) => pod.spread.every(({ topologyKey }) => node.labels.has(topologyKey)));
  return pod.spread.map((constraint) => {
    const domains = new Map<string, number>();
    for (const { node, pods } of eligible) {
      const domain = node.labels.get(constraint.topologyKey);
      if (domain === undefined || !counts(constraint, pod, node)) continue;
      domains.set(domain, (domains.get(domain) ?? 0) + matching(constraint, pod, pods));
    }
    return domains;
  });
}

/** Whether a node counts as part of a domain. */
function counts({ honorsAffinity, honorsTaints }: SpreadConstraint, pod: FleetPod, node: FleetNode): boolean {
  return (!honorsAffinity || admits(pod, node)) && (!honorsTaints || untolerated(pod.tolerations, node) === undefined);
}

/** An empty selector counts no pods, though it selects all. */
function matching({ selector }: SpreadConstraint, pod: FleetPod, pods: readonly FleetPod[]): number {
  if (selector?.length === 0) return 0;
  return pods.filter(
    (other) => !other.terminating && other.namespace === pod.namespace && selects(selector, other.labels),
  ).length;
}

/** Why the constraints keep the pod off a node: it lacks a label, or its domain would have too many pods. */
export function spreadProblem(
  pod: FleetPod,
  node: FleetNode,
  state: SpreadState,
): 'missing label' | 'skew' | undefined {
  for (const [index, constraint] of pod.spread.entries()) {
    const domain = node.labels.get(constraint.topologyKey);
    if (domain === undefined) return 'missing label';
    const domains = state[index] ?? new Map<string, number>();
    const own = selects(constraint.selector, pod.labels) ? 1 : 0;
    const least = domains.size < constraint.minDomains ? 0 : Math.min(...domains.values());
    if ((domains.get(domain) ?? 0) + own - least > constraint.maxSkew) return 'skew';
  }
  return undefined;
}
