import type { Cursor } from '../../yaml/cursor.ts';
import { asText, getIn, items } from '../../yaml/cursor.ts';
import { product } from '../count.ts';
import { lowerCount } from '../pod.ts';
import type { KindEntry, KindLowering } from './kind.ts';
import { fromTemplate, times, unlimitedRetries, written } from './pod-sets.ts';
import { lowerRayCluster } from './ray.ts';

/** AIBrix: groups of roles, and fleets of Ray clusters. https://github.com/vllm-project/aibrix/tree/main/api/orchestration/v1alpha1 */
export const aibrixKinds: readonly KindEntry[] = [
  {
    group: 'orchestration.aibrix.ai',
    spansPods: true,
    kinds: ['StormService'],
    words: [],
    role: 'serving',
    replica: 'group',
    lower: ({ root }) => lowerRoles(getIn(root, 'spec'), getIn(root, 'spec', 'template', 'spec')),
  },
  {
    group: 'orchestration.aibrix.ai',
    spansPods: true,
    kinds: ['RoleSet'],
    words: [],
    role: 'serving',
    lower: ({ root }) => lowerRoles(undefined, getIn(root, 'spec')),
  },
  {
    group: 'orchestration.aibrix.ai',
    spansPods: true,
    kinds: ['RayClusterFleet'],
    mountsShm: true,
    rayCluster: (root) => getIn(root, 'spec', 'template', 'spec'),
    words: [],
    role: 'serving',
    replica: 'group',
    lower: ({ root }) => lowerFleet(getIn(root, 'spec')),
  },
  {
    group: 'orchestration.aibrix.ai',
    spansPods: true,
    kinds: ['RayClusterReplicaSet'],
    mountsShm: true,
    rayCluster: (root) => getIn(root, 'spec', 'template', 'spec'),
    words: [],
    role: 'serving',
    lower: ({ root }) => lowerFleet(getIn(root, 'spec')),
  },
];

/** Each replica has all roles; a role's replica may be a group of several pods. */
function lowerRoles(service: Cursor | undefined, roleSet: Cursor | undefined): KindLowering {
  const sets = lowerCount(getIn(service, 'replicas'), 1);
  const podSets = items(getIn(roleSet, 'roles')).flatMap((role) => {
    const replicas = getIn(role, 'replicas');
    const size = lowerCount(getIn(role, 'podGroupSize'), 1);
    const pods = times(written(replicas), product(sets, size));
    return fromTemplate(asText(getIn(role, 'name')) ?? 'role', getIn(role, 'template'), pods, replicas);
  });
  return { podSets, retries: unlimitedRetries, scaling: null, partial: false };
}

function lowerFleet(spec: Cursor | undefined): KindLowering {
  const clusters = lowerCount(getIn(spec, 'replicas'), 1);
  const cluster = lowerRayCluster(getIn(spec, 'template', 'spec'), unlimitedRetries);
  return { ...cluster, podSets: cluster.podSets.map((set) => ({ ...set, pods: times(set.pods, clusters) })) };
}
