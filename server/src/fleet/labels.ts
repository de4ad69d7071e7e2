import type { FleetNode, FleetPod, LabelSelector, Labels, NodeSelectorTerm, Requirement } from './types.ts';

// https://github.com/kubernetes/component-helpers/blob/master/scheduling/corev1/nodeaffinity/nodeaffinity.go

/** Whether labels meet all conditions of a selector. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  return selector?.every((requirement) => meets(requirement, labels.get(requirement.key))) ?? false;
}

/** Whether the pod's node selector and required node affinity admit a node. */
export function admits(pod: FleetPod, node: FleetNode): boolean {
  for (const [key, value] of pod.nodeSelector) if (node.labels.get(key) !== value) return false;
  return pod.nodeTerms?.some((term) => matchesTerm(term, node)) ?? true;
}

/** Whether a term matches a node. One that cannot be read, such as `Gt` with a text, matches none. */
export function matchesTerm(term: NodeSelectorTerm, node: FleetNode): boolean {
  if ((term.labels.length === 0 && term.fields.length === 0) || isUnreadable(term)) return false;
  return (
    selects(term.labels, node.labels) &&
    term.fields.every((field) => meets(field, field.key === 'metadata.name' ? node.name : ''))
  );
}

/** Whether the scheduler cannot read a term: `Gt` and `Lt` need one integer. */
export function isUnreadable({ labels }: NodeSelectorTerm): boolean {
  return labels.some(
    ({ operator, values }) => (operator === 'Gt' || operator === 'Lt') && integer(values[0]) === undefined,
  );
}

/** The names to which `matchFields` restricts the pod, before any other filter; undefined if it restricts nothing. */
export function namedNodes({ nodeTerms }: FleetPod): ReadonlySet<string> | undefined {
  if (nodeTerms === null) return undefined;
  const all = new Set<string>();
  for (const { fields } of nodeTerms) {
    const named = fields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    const [first] = named;
    if (first === undefined) return undefined;
    for (const name of first.values) if (named.every(({ values }) => values.includes(name))) all.add(name);
  }
  return all;
}

function meets({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [actual, bound] = [integer(value), integer(values[0])];
      if (actual === undefined || bound === undefined) return false;
      return operator === 'Gt' ? actual > bound : actual < bound;
    }
    default:
      return false;
  }
}

/** As strconv.ParseInt reads it. */
function integer(value: string | undefined): bigint | undefined {
  if (value === undefined || !/^[+-]?\d+$/.test(value)) return undefined;
  const read = BigInt(value.replace('+', ''));
  return read === BigInt.asIntN(64, read) ? read : undefined;
}
