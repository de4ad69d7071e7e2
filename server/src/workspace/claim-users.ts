import { claimUse } from './kinds.ts';
import { type Asker, candidates, type Group } from './named.ts';
import type { Places } from './places.ts';
import type { Found, FoundReference } from './workspace.ts';

const claim = 'resource.k8s.io/ResourceClaim';

/** The kinds on which the number of a claim's users rests. */
export const claimKinds = ['ResourceClaim', claimUse] as const;

/** How many of the places that name a claim of this name mean the same one. */
export function claimUsers(asker: Asker, namespace: string | null, name: string): number {
  const { workspace } = asker;
  const meant = candidates(asker, claim, namespace, name);
  if (meant.length === 0) return 0;
  const uses = workspace.claimUses(usedClaim, JSON.stringify([namespace, name]), name);
  workspace.restOn(claimKinds);
  const known = counts.get(uses);
  const generation = workspace.stampOf(['ResourceClaim']);
  const made =
    known?.generation === generation
      ? known
      : { generation, users: usersOf(uses, asker, namespace, name), totals: new Map() };
  counts.set(uses, made);
  const total = made.totals.get(meant) ?? countOf(meant, made.users);
  made.totals.set(meant, total);
  return total;
}

function usedClaim({ reference: { kinds, namespace, name } }: FoundReference): string | undefined {
  return kinds.includes(claim) ? JSON.stringify([namespace, name]) : undefined;
}

/** Places that mean the same objects are counted together, by each of the objects. */
type Users = ReadonlyMap<Found, ReadonlyMap<Group, number>>;

interface Counts {
  readonly generation: number;
  readonly users: Users;
  readonly totals: Map<Group, number>;
}

/** A place may mean claims that only some of the others mean, so groups overlap. Each asker would count all places. */
const counts = new WeakMap<Places<FoundReference>, Counts>();

function usersOf(uses: Places<FoundReference>, { workspace }: Asker, namespace: string | null, name: string): Users {
  const groups = new Map<Group, number>();
  for (const use of uses.all) {
    const meant = candidates({ ...use, workspace }, claim, namespace, name);
    groups.set(meant, (groups.get(meant) ?? 0) + 1);
  }
  const users = new Map<Found, Map<Group, number>>();
  for (const [group, count] of groups) {
    for (const found of group) users.set(found, (users.get(found) ?? new Map<Group, number>()).set(group, count));
  }
  return users;
}

function countOf(meant: Group, users: Users): number {
  const groups = new Map(meant.flatMap((found) => [...(users.get(found) ?? [])]));
  return [...groups.values()].reduce((sum, count) => sum + count, 0);
}
