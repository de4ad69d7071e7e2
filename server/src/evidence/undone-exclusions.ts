import { asText, type Cursor, getIn, isUnseen, items } from '../yaml/cursor.ts';
import { isUnknown } from './written.ts';

/**
 * The first expression that is to exclude nodes, in a term next to others. A node matches if it meets one of the terms, so another term lets in what this
 * one excludes. Undefined if the terms may be meant as alternatives: they have several expressions, or exclude a common value.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity
 */
export function undoneExclusion(pod: Cursor | undefined): Cursor | undefined {
  const required = getIn(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = items(getIn(required, 'nodeSelectorTerms'));
  const read = terms.map((term) => {
    const [only, ...others] = items(getIn(term, 'matchExpressions'));
    if (only === undefined || others.length > 0 || getIn(term, 'matchFields') !== undefined) return undefined;
    const [key, operator] = [getIn(only, 'key'), getIn(only, 'operator')];
    const values = items(getIn(only, 'values'));
    const isOpen = [term, only, getIn(only, 'values')].some(isUnseen) || [key, operator, ...values].some(isUnknown);
    return isOpen
      ? undefined
      : { only, key: asText(key), excludes: asText(operator) === 'NotIn', values: values.map((one) => asText(one)) };
  });
  const all = read.flatMap((one) => one ?? []);
  const exclusions = all.filter(({ excludes }) => excludes);
  const [first] = exclusions;
  if (first === undefined || all.length < 2 || all.length < terms.length) return undefined;
  const rest = all.filter((one) => one !== first);
  // The same label in both ways, or a value that all exclude, may be meant so.
  const isPlain =
    exclusions.length === all.length
      ? !first.values.some((value) => rest.every(({ values }) => values.includes(value)))
      : rest.every(({ key, excludes }) => excludes || key !== first.key);
  return isPlain ? first.only : undefined;
}
