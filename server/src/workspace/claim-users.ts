import { claimUse } from './kinds.ts';
import { type Asker, candidates, claimNamespace, fullName, fullNameOf, type Group } from './named.ts';
import { placeAt } from './place.ts';
import type { Count } from './shelf.ts';
import type { Found, FoundReference } from './workspace.ts';

const claim = 'resource.k8s.io/ResourceClaim';

/** The kinds on which the number of a claim's users rests. */
export const claimKinds = ['ResourceClaim', claimUse] as const;

/** How many of the places that name a claim of this name mean the same one. */
export function claimUsers(asker: Asker, namespace: string | null, name: string): number {
  const { workspace } = asker;
  const meant = candidates(asker, claim, namespace, name);
  if (meant.length === 0) return 0;
  const uses = workspace.claimUses(usedClaim, JSON.stringify([claimNamespace(namespace), name]), name);
  workspace.restOn(claimKinds);
  const word = fullName('resource.k8s.io', 'ResourceClaim', namespace, name);
  const all = workspace.objects('ResourceClaim', fullNameOf, word, name).all;
  // Then there is nothing else that a place could mean.
  if (meant.length === all.length) return uses.all;
  const known = counts.get(uses);
  const stamp = workspace.stampOf(claimKinds);
  const made =
    known?.stamp === stamp
      ? known
      : { stamp, users: usersOf(uses, all, (key) => meantIn(asker, key, namespace, name)), totals: new Map() };
  counts.set(uses, made);
  const total = made.totals.get(meant) ?? countOf(meant, made.users);
  made.totals.set(meant, total);
  return total;
}

function usedClaim({ reference: { kinds, namespace, name } }: FoundReference): string | undefined {
  return kinds.includes(claim) ? JSON.stringify([claimNamespace(namespace), name]) : undefined;
}

function meantIn({ workspace }: Asker, key: string, namespace: string | null, name: string): Group {
  return candidates({ ...placeAt(key), workspace }, claim, namespace, name);
}

/** Places that mean the same objects are counted together, by each of the objects. */
type Users = ReadonlyMap<Found, ReadonlyMap<Group, number>>;

interface Counts {
  readonly stamp: number;
  readonly users: Users;
  readonly totals: Map<Group, number>;
}

/** A place may mean claims that only some of the others mean, so groups overlap. Each asker would count all places. */
const counts = new WeakMap<Count, Counts>();

/** All places of a folder mean the same, but for those in files that have such a claim themselves. */
function usersOf(uses: Count, all: Group, meantBy: (key: string) => Group): Users {
  const groups = new Map<Group, number>();
  const add = (key: string, count: number) => {
    const meant = meantBy(key);
    groups.set(meant, (groups.get(meant) ?? 0) + count);
  };
  const own = new Map<string, number>();
  for (const key of new Set(all.map((found) => found.key))) {
    const count = uses.inFile.get(key) ?? 0;
    add(key, count);
    const folder = key.slice(0, key.lastIndexOf('/') + 1);
    own.set(folder, (own.get(folder) ?? 0) + count);
  }
  for (const [folder, count] of uses.inFolder) add(folder, count - (own.get(folder) ?? 0));
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
