import type { Referenced } from '../model/cross-references.ts';
import type { DataKeys } from '../model/data-keys.ts';
import { isClusterKind } from '../model/kinds/index.ts';
import type { Facts } from './facts.ts';
import { isInSiblingFolder, type Place, pathFrom } from './place.ts';
import type { ObjectSummary } from './summary.ts';
import { type Found, nameOf, type Workspace } from './workspace.ts';

/** The file from which a lookup starts, and its workspace. */
export interface Scope extends Place {
  readonly workspace: Workspace;
}

/** Objects of one kind and name that are equally near to a file. The same objects are always the same array. */
export type Group = readonly Found[];

/**
 * The nearest objects with a name. An object without a namespace and one in `default` find each other, unless they are in folders of their own.
 * @param kind with its group
 */
export function candidates(scope: Scope, kind: string, namespace: string | null, name: string): Group {
  const slash = kind.indexOf('/');
  const at = (where: string | null) => {
    const word = fullName(kind.slice(0, slash), kind.slice(slash + 1), where, name);
    return scope.workspace.objects(kind.slice(slash + 1), fullNameOf, word, name).nearest(scope);
  };
  return inNamespaces(scope, namespace, at);
}

/** What a lookup finds in a namespace; without a result, also objects without a namespace for `default`, and the reverse. */
export function inNamespaces(scope: Place, namespace: string | null, at: (namespace: string | null) => Group): Group {
  const found = at(namespace);
  if (found.length > 0 || namespaceKey(namespace) !== null) return found;
  const others = at(namespace === null ? 'default' : null);
  return others.some(({ folders }) => isInSiblingFolder(scope, folders)) ? found : others;
}

/** The full name of an object, by which `candidates` finds it. */
export function fullNameOf({ object: { group, kind, namespace, name } }: Pick<Found, 'object'>): string {
  return fullName(group, kind, namespace, name);
}

/** A name with its group and, unless the kind belongs to the whole cluster, its namespace. */
export function fullName(group: string, kind: string, namespace: string | null, name: string): string {
  if (group === claimGroup) return JSON.stringify([group, namespaceKey(namespace), name]);
  return JSON.stringify([group, isClusterKind(`${group}/${kind}`) ? null : namespace, name]);
}

const claimGroup = 'resource.k8s.io';

/** Without a namespace, kubectl creates objects in `default`, unless configured otherwise. */
export function namespaceKey(namespace: string | null): string | null {
  return namespace === 'default' ? null : namespace;
}

/** The nearest objects of a name, of the first kind that has any; several if they are equally near. */
export function objectNamed(
  workspace: Workspace,
  place: Place,
  kinds: readonly string[],
  namespace: string | null,
  name: string,
): Group {
  for (const kind of kinds) {
    const found = candidates({ ...place, workspace }, kind, namespace, name);
    if (found.length > 0) return found;
  }
  return [];
}

type FactsOf<T extends Facts['type']> =
  Extract<Facts, { readonly type: T }> extends { readonly facts: infer F } ? F : never;

/** The facts about the nearest objects of a name; undefined if there are none or they disagree. */
export function factsNamed<
  T extends
    | 'pods'
    | 'llm'
    | 'steps'
    | 'training'
    | 'devices'
    | 'files'
    | 'workload'
    | 'volume'
    | 'runtimeClass'
    | 'service'
    | 'account'
    | 'capacity',
>(
  scope: Scope,
  kinds: readonly string[],
  namespace: string | null,
  name: string,
  type: T,
): Referenced<FactsOf<T>> | undefined {
  return agreed(scope, objectNamed(scope.workspace, scope, kinds, namespace, name), type);
}

/** The facts about an object if they are of this type; otherwise null. */
export function factsAs<T extends Facts['type']>(object: ObjectSummary, type: T): FactsOf<T> | null {
  const facts = object.facts();
  return facts !== null && facts.type === type && 'facts' in facts ? (facts.facts as FactsOf<T>) : null;
}

/** Facts with the object that they come from, named as seen from a place. */
export function referenced<T>(scope: Place, found: Found, facts: T): Referenced<T> {
  const { kind, name } = found.object;
  return { kind, name, file: pathFrom(scope, found), siblingFolder: isInSiblingFolder(scope, found.folders), facts };
}

/** The facts that all objects of a group agree on; undefined if they differ or one has none. */
export function agreed<T extends Facts['type']>(
  scope: Place,
  group: Group,
  type: T,
): Referenced<FactsOf<T>> | undefined {
  const [first] = group;
  if (first === undefined || !oncePerGroup(group, `agree on ${type}`, () => haveSameFacts(group, type)))
    return undefined;
  const facts = factsAs(first.object, type);
  return facts === null ? undefined : referenced(scope, first, facts);
}

function haveSameFacts(group: Group, type: Facts['type']): boolean {
  const [first, ...others] = group.map(({ object }) => factsAs(object, type));
  if (others.length === 0) return true;
  const text = JSON.stringify(first);
  return first !== null && others.every((facts) => JSON.stringify(facts) === text);
}

/** The keys of the only Secret or ConfigMap of a name, if it is in the file itself. */
export function keysOf(scope: Scope, kind: string, namespace: string | null, name: string): DataKeys | undefined {
  const [only, ...others] = candidates(scope, `/${kind}`, namespace, name);
  if (only === undefined || others.length > 0 || pathFrom(scope, only) !== null) return undefined;
  return keysIn(only);
}

/** The keys of the only ConfigMap of a name, if it is in the file itself, in any namespace. */
export function keysInFile(scope: Scope, name: string): DataKeys | undefined {
  const [only, ...others] = scope.workspace.objects('ConfigMap', nameOf, name, name).all;
  return only === undefined || others.length > 0 || pathFrom(scope, only) !== null ? undefined : keysIn(only);
}

function keysIn({ object }: Found): DataKeys | undefined {
  const facts = object.facts();
  return (facts !== null && 'keys' in facts && facts.keys) || undefined;
}

/** Computes a result that depends on the group only, once. */
export function oncePerGroup<T>(group: Group, question: string, compute: () => T): T {
  const known = answers.get(group) ?? new Map<string, unknown>();
  answers.set(group, known);
  if (!known.has(question)) known.set(question, compute());
  return known.get(question) as T;
}

const answers = new WeakMap<Group, Map<string, unknown>>();
