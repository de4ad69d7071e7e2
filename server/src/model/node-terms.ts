import { otherCloudKey } from '../catalog/index.ts';
import { asString, asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';

/** A requirement on the label of a node, as in a node selector term. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values: readonly string[];
  /** The disk of the nodes, if their pool states it; no label does then. */
  readonly disk?: PoolDisk;
}

/** The disks on which the pods of a pool have their ephemeral storage. */
export interface PoolDisk {
  /** The volume of the node; null: unknown. */
  readonly giB: number | null;
  /** The local disks of the machine are used instead, if it has any (`instead`), or perhaps (`maybe`). */
  readonly local: 'no' | 'instead' | 'maybe';
  /** No object states it: it is what the tool creates otherwise. */
  readonly byDefault?: true;
}

/** Requirements that a node must meet together. */
export type NodeTerm = readonly NodeRequirement[];

/**
 * The nodes that can run the pods: a node must meet every requirement of one of the terms. A requirement that is templated or not readable is left
 * out, so the terms may allow more nodes than the scheduler does. Always at least one term; an empty one allows every node.
 * @param also labels that nodes have for other reasons: inherited selectors, the instance type of a kind's own field
 * @param outside labels and terms that are written outside the pod
 */
export function lowerNodeTerms(
  pod: Cursor,
  also: NodeTerm,
  outside: { readonly nodeSelector?: Cursor; readonly nodeSelectorTerms?: Cursor } = {},
): readonly NodeTerm[] {
  const own = getIn(pod, 'nodeSelector') ?? getIn(pod, 'node_selector');
  const plain = [...entries(own), ...entries(outside.nodeSelector)].flatMap((entry): NodeTerm => {
    const value = asText(entry);
    return value === undefined || isTemplated(entry) ? [] : [{ key: keyOf(entry), operator: 'In', values: [value] }];
  });
  const terms = affinityTerms(pod, outside.nodeSelectorTerms);
  return (terms.length === 0 ? [[]] : terms).map((term) => [...also, ...plain, ...term]);
}

/**
 * The terms of a pod's required node affinity; none if it has none.
 * @param outside terms that are written outside the pod and apply without its own
 */
export function affinityTerms(pod: Cursor, outside?: Cursor): readonly NodeTerm[] {
  const required = getIn(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  return items(getIn(required, 'nodeSelectorTerms') ?? outside).map((term) =>
    items(getIn(term, 'matchExpressions')).flatMap(lowerRequirement),
  );
}

const operators: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);

/** One requirement: `{key, operator, values}`; none if it is templated or not readable. */
export function lowerRequirement(expression: Cursor): NodeTerm {
  const key = asText(getIn(expression, 'key'));
  const operator = asString(getIn(expression, 'operator')) ?? '';
  const written = items(getIn(expression, 'values'));
  if (key === undefined || !operators.has(operator) || written.some(isTemplated)) return [];
  return [
    {
      key,
      operator: operator as NodeRequirement['operator'],
      values: written.flatMap((value) => asText(value) ?? []),
    },
  ];
}

/** More terms than anybody writes. */
const maxTerms = 100;

/** The nodes that meet a term of both; those of the first if there are too many. */
export function inBoth(first: readonly NodeTerm[], second: readonly NodeTerm[]): readonly NodeTerm[] {
  if (second.length === 0 || first.length * second.length > maxTerms) return first;
  return first.flatMap((one) => second.map((other) => [...one, ...other]));
}

/** The values that every term allows for a label, if each term limits them with `In`; undefined if one does not. */
export function allowedValues(
  terms: readonly NodeTerm[],
  isKey: (key: string) => boolean,
): readonly string[] | undefined {
  const all: string[] = [];
  for (const term of terms) {
    const lists = term.filter(({ key, operator }) => operator === 'In' && isKey(key)).map(({ values }) => values);
    const [first, ...others] = lists;
    if (first === undefined) return undefined;
    all.push(...first.filter((value) => others.every((list) => list.includes(value))));
  }
  return [...new Set(all)];
}

/** The cloud without prices to which all terms belong. */
export function otherCloudOf([first, ...others]: readonly NodeTerm[]): string | undefined {
  const cloudOf = (term: NodeTerm) => term.find(({ key }) => key === otherCloudKey)?.values[0];
  const cloud = first && cloudOf(first);
  return others.every((term) => cloudOf(term) === cloud) ? cloud : undefined;
}
