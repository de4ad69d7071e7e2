import { asText, type Cursor, getIn, items } from '../yaml/cursor.ts';

/** Whether a field has one item in place of its list, or a list of mappings in place of one. */
export function isBareItem(at: Cursor, field: string): boolean {
  if (field === 'tolerations')
    return (
      at.node.kind === 'map' && ['key', 'operator', 'effect'].filter((key) => getIn(at, key) !== undefined).length > 1
    );
  // As Docker Compose writes it.
  if (field === 'env') return at.entry === undefined && at.node.kind === 'scalar' && /^\w+=/.test(asText(at) ?? '');
  return field === 'nodeSelector' && items(at).some(({ node }) => node.kind === 'map');
}
