import type { AcceleratorRequest, Quantity } from '../model/workload.ts';
import { type Cursor, getIn, isNull } from '../yaml/cursor.ts';
import { insertKey, renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';

/** The quantities in which a request's count is written, limits first. */
export function writtenQuantities({ limit, request }: AcceleratorRequest): readonly Quantity[] {
  if (limit === undefined) return request === undefined ? [] : [request];
  return request === undefined ? [limit] : [limit, request];
}

/** Whether Kubernetes accepts the count: a whole number, not negative. */
export function isWhole(quantity: Quantity): boolean {
  return quantity.value !== null && Number.isInteger(quantity.value) && quantity.value >= 0;
}

/** Whether the value is in the file. Templated values are unknown, and the API server ignores empty ones. */
export function isKnown(quantity: Quantity): boolean {
  return !quantity.templated && !quantity.empty;
}

/** Sets several quantities to one value; undefined if one of them cannot be edited without damage. */
export function replaceQuantities(
  document: YamlDocument,
  quantities: readonly Quantity[],
  value: string | number,
): Edits {
  // As a string, a count would get quotes that its neighbors do not have.
  const plain = typeof value === 'string' && /^[1-9]\d{0,14}$|^0$/.test(value) ? Number(value) : value;
  return joinEdits(...quantities.map(({ at }) => replaceScalar(document, at, plain)));
}

/** Adds the limit of a resource; undefined if the limits cannot be edited without damage. */
export function addLimit(
  document: YamlDocument,
  resources: Cursor | undefined,
  resource: string,
  value: string | number,
): Edits {
  const limits = getIn(resources, 'limits');
  if (limits === undefined)
    return insertKey(document, resources, 'limits', { [resource]: value }, { after: 'requests' });
  return limits.node.kind === 'map' || isNull(limits) ? insertKey(document, limits, resource, value) : undefined;
}

/** Renames a request's resource in limits and requests. */
export function renameQuantities(document: YamlDocument, request: AcceleratorRequest, resource: string): Edits {
  return joinEdits(...writtenQuantities(request).map(({ at }) => renameKey(document, at, resource)));
}
