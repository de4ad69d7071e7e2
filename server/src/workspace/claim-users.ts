import type { Count } from './kind-index.ts';
import { claimUse } from './kinds.ts';
import { candidates, fullName, fullNameOf, type Group, namespaceKey, type Scope } from './named.ts';
import { placeAt } from './place.ts';
import type { Found, FoundReference } from './workspace.ts';

const claim = 'resource.k8s.io/ResourceClaim';

/** The kinds on which the number of a claim's users depends. */
export const claimKinds = ['ResourceClaim', claimUse] as const;

/** The number of references that resolve to the same claim as a reference from this file. */
export function claimUsers(scope: Scope, namespace: string | null, name: string): number {
  const { workspace } = scope;
  const targets = candidates(scope, claim, namespace, name);
  if (targets.length === 0) return 0;
  const uses = workspace.claimUses(usedClaim, JSON.stringify([namespaceKey(namespace), name]), name);
  workspace.dependOn(claimKinds);
  const word = fullName('resource.k8s.io', 'ResourceClaim', namespace, name);
  const all = workspace.objects('ResourceClaim', fullNameOf, word, name).all;
  // All claims of this name are targets, so every reference resolves to them.
  if (targets.length === all.length) return uses.all;
  const known = counts.get(uses);
  const stamp = workspace.stampOf(claimKinds);
  const made =
    known?.stamp === stamp
      ? known
      : { stamp, users: usersOf(uses, all, (key) => targetsIn(scope, key, namespace, name)), totals: new Map() };
  counts.set(uses, made);
  const total = made.totals.get(targets) ?? countOf(targets, made.users);
  made.totals.set(targets, total);
  return total;
}

function usedClaim({ reference: { kinds, namespace, name } }: FoundReference): string | undefined {
  return kinds.includes(claim) ? JSON.stringify([namespaceKey(namespace), name]) : undefined;
}

function targetsIn({ workspace }: Scope, key: string, namespace: string | null, name: string): Group {
  return candidates({ ...placeAt(key), workspace }, claim, namespace, name);
}

/** For each claim, the number of references by the group of claims that they resolve to. */
type Users = ReadonlyMap<Found, ReadonlyMap<Group, number>>;

interface Counts {
  readonly stamp: number;
  readonly users: Users;
  readonly totals: Map<Group, number>;
}

/** Groups overlap, because references from different folders resolve to different claims. Cached, or each scope would count all references. */
const counts = new WeakMap<Count, Counts>();

/** All references in a folder resolve to the same claims, except those in files that define such a claim. */
function usersOf(uses: Count, all: Group, targetsBy: (key: string) => Group): Users {
  const groups = new Map<Group, number>();
  const add = (key: string, count: number) => {
    const targets = targetsBy(key);
    groups.set(targets, (groups.get(targets) ?? 0) + count);
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

function countOf(targets: Group, users: Users): number {
  const groups = new Map(targets.flatMap((found) => [...(users.get(found) ?? [])]));
  return [...groups.values()].reduce((sum, count) => sum + count, 0);
}
