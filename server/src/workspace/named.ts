import type { Referenced } from '../model/cross-references.ts';
import { isClusterKind } from '../model/kinds/index.ts';
import type { Facts } from './facts.ts';
import { isInSiblingFolder, type Place, pathFrom } from './place.ts';
import type { ObjectSummary } from './summary.ts';
import type { Found, Workspace } from './workspace.ts';

/** A file, and what it is seen with. */
export interface Asker extends Place {
  readonly workspace: Workspace;
}

/** Objects of one kind and name that are equally near to a file. The same ones are always the same array. */
export type Group = readonly Found[];

/** @param kind with its group */
export function candidates(asker: Asker, kind: string, namespace: string | null, name: string): Group {
  const slash = kind.indexOf('/');
  const word = fullName(kind.slice(0, slash), kind.slice(slash + 1), namespace, name);
  return asker.workspace.objects(kind.slice(slash + 1), fullNameOf, word, name).nearest(asker);
}

export function fullNameOf({ object: { group, kind, namespace, name } }: Pick<Found, 'object'>): string {
  return fullName(group, kind, namespace, name);
}

export function fullName(group: string, kind: string, namespace: string | null, name: string): string {
  if (group === claimGroup) return JSON.stringify([group, claimNamespace(namespace), name]);
  return JSON.stringify([group, isClusterKind(`${group}/${kind}`) ? null : namespace, name]);
}

const claimGroup = 'resource.k8s.io';

/** kubectl creates in `default` what names no namespace, unless it is set otherwise. */
export function claimNamespace(namespace: string | null): string | null {
  return namespace === 'default' ? null : namespace;
}

/** The objects that are meant, of the first kind that has some: more than one where several are equally near. */
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

export function factsNamed<T extends 'pods' | 'llm' | 'training' | 'devices' | 'files' | 'workload'>(
  asker: Asker,
  kinds: readonly string[],
  namespace: string | null,
  name: string,
  type: T,
): Referenced<FactsOf<T>> | undefined {
  return agreed(asker, objectNamed(asker.workspace, asker, kinds, namespace, name), type);
}

export function factsAs<T extends Facts['type']>(object: ObjectSummary, type: T): FactsOf<T> | null {
  const facts = object.facts();
  return facts !== null && facts.type === type && 'facts' in facts ? (facts.facts as FactsOf<T>) : null;
}

export function seen<T>(asker: Place, found: Found, facts: T): Referenced<T> {
  const { kind, name } = found.object;
  return { kind, name, file: pathFrom(asker, found), siblingFolder: isInSiblingFolder(asker, found.folders), facts };
}

/** One of several that say the same; nothing where they do not, or where one says nothing. */
export function agreed<T extends Facts['type']>(
  asker: Place,
  group: Group,
  type: T,
): Referenced<FactsOf<T>> | undefined {
  const [first] = group;
  if (first === undefined || !ofGroup(group, `agree on ${type}`, () => saySame(group, type))) return undefined;
  const facts = factsAs(first.object, type);
  return facts === null ? undefined : seen(asker, first, facts);
}

function saySame(group: Group, type: Facts['type']): boolean {
  const [first, ...others] = group.map(({ object }) => factsAs(object, type));
  if (others.length === 0) return true;
  const text = JSON.stringify(first);
  return first !== null && others.every((facts) => JSON.stringify(facts) === text);
}

/** What follows from a group alone, found out once however many ask. */
export function ofGroup<T>(group: Group, question: string, compute: () => T): T {
  const known = answers.get(group) ?? new Map<string, unknown>();
  answers.set(group, known);
  if (!known.has(question)) known.set(question, compute());
  return known.get(question) as T;
}

const answers = new WeakMap<Group, Map<string, unknown>>();
