import type { Cursor } from '../../yaml/cursor.ts';
import { getIn } from '../../yaml/cursor.ts';
import { claimedDevices } from '../claims.ts';
import type { KindEntry, KindLowering } from './kind.ts';
import { exactly } from './pod-sets.ts';

/** Device claims run nothing; their devices are counted in the pods that use them. */
export const draKinds: readonly KindEntry[] = [
  {
    group: 'resource.k8s.io',
    kinds: ['ResourceClaimTemplate'],
    role: 'definition',
    named: true,
    lower: ({ root }) => lowerClaim(getIn(root, 'spec', 'spec')),
  },
  {
    group: 'resource.k8s.io',
    kinds: ['ResourceClaim'],
    role: 'definition',
    named: true,
    lower: ({ root }) => lowerClaim(getIn(root, 'spec')),
  },
];

function lowerClaim(spec: Cursor | undefined): KindLowering {
  const rest = { retries: null, scaling: null, partial: true } as const;
  if (spec === undefined) return { ...rest, podSets: [] };
  const implicitDevices = claimedDevices(spec);
  const set = { name: 'claim', pod: spec, metadata: undefined, replicas: undefined, pods: exactly(null) };
  return { ...rest, podSets: [{ ...set, containers: [], implicitDevices }] };
}
