import { asText, type Cursor, getIn, items } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';

/** Whether a field has one item in place of its list, or a list of mappings in place of one. */
export function isBareItem(at: Cursor, field: string): boolean {
  if (field === 'tolerations' && at.entry === undefined) return taint.test(asText(at) ?? '');
  if (field === 'tolerations')
    return (
      at.node.kind === 'map' && ['key', 'operator', 'effect'].filter((key) => getIn(at, key) !== undefined).length > 1
    );
  // As Docker Compose writes it.
  if (field === 'env') return at.entry === undefined && at.node.kind === 'scalar' && /^\w+=/.test(asText(at) ?? '');
  const inner = itemOf[field];
  if (inner !== undefined) return at.node.kind === 'map' && inner.some((key) => getIn(at, key) !== undefined);
  // Node affinity has its terms one level below, unlike the affinity of pods.
  if (field === 'requiredDuringSchedulingIgnoredDuringExecution')
    return items(at).some((item) => getIn(item, 'matchExpressions') !== undefined);
  return field === 'nodeSelector' && items(at).some(({ node }) => node.kind === 'map');
}

/** A taint as kubectl writes it: `nvidia.com/gpu=present:NoSchedule`. */
const taint = /^[\w./-]+(?:=[\w.-]*)?:(?:NoSchedule|NoExecute|PreferNoSchedule)$/;

/** Keys of the items of the lists in an affinity. */
const itemOf = table<readonly string[]>({
  nodeSelectorTerms: ['matchExpressions', 'matchFields'],
  matchExpressions: ['operator'],
  preferredDuringSchedulingIgnoredDuringExecution: ['weight', 'preference', 'podAffinityTerm'],
});
