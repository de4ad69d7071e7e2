import type { LiveNode, LivePod, LivePool } from '../../fleet/cluster-view.ts';
import type { ClusterNode } from './drawn.ts';

/** Whether a row is shown: it, a row above it or a row below it has all words. */
export interface RowFilter {
  readonly pool: (pool: LivePool, nodes: readonly LiveNode[]) => boolean;
  readonly node: (pool: LivePool, node: LiveNode) => boolean;
  readonly pod: (pool: LivePool, node: LiveNode, pod: LivePod) => boolean;
  readonly row: (row: ClusterNode) => boolean;
}

/** @returns undefined without words */
export function filterOf(typed: string): RowFilter | undefined {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const has = (text: string) => words.every((word) => text.includes(word));
  const ofPool = ({ name, model, instanceTypes, zones, capacity }: LivePool) =>
    [name, model?.name, ...instanceTypes, ...zones, capacity].join(' ').toLowerCase();
  const ofNode = ({ name, instanceType, zone }: LiveNode) => ` ${name} ${instanceType} ${zone}`.toLowerCase();
  const ofPod = ({ namespace, name, owner, state }: LivePod) =>
    ` ${namespace} ${name} ${owner?.kind} ${owner?.name} ${state}`.toLowerCase();
  const node = (above: string, one: LiveNode) => {
    const own = above + ofNode(one);
    return has(own) || one.pods.some((pod) => has(own + ofPod(pod)));
  };
  return {
    pool(pool, nodes) {
      const own = ofPool(pool);
      return has(own) || nodes.some((one) => node(own, one));
    },
    node: (pool, one) => node(ofPool(pool), one),
    pod: (pool, one, pod) => has(ofPool(pool) + ofNode(one) + ofPod(pod)),
    row: ({ label, description, tooltip }) => has(`${label} ${description} ${tooltip}`.toLowerCase()),
  };
}
