import type { AcceleratorRequest, Quantity } from '../model/workload.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';

/** The places where a request's count is written: limits first. */
export function writtenQuantities(request: AcceleratorRequest): readonly Quantity[] {
  return [request.limit, request.request].filter((quantity) => quantity !== undefined);
}

/** A count that Kubernetes takes: a whole number that is not negative. */
export function isWhole(quantity: Quantity): boolean {
  return quantity.value !== null && Number.isInteger(quantity.value) && quantity.value >= 0;
}

/** Nothing is known of a templated value, and an empty one is dropped by the API server. */
export function isKnown(quantity: Quantity): boolean {
  return !quantity.templated && !quantity.empty;
}

/** Writes one value over several quantities; undefined where one of them cannot be edited without damage. */
export function replaceQuantities(
  document: YamlDocument,
  quantities: readonly Quantity[],
  value: string | number,
): Edits {
  // A count is a number: written as a string it would get quotes where its neighbours have none.
  const plain = typeof value === 'string' && /^[1-9]\d{0,14}$|^0$/.test(value) ? Number(value) : value;
  return joinEdits(...quantities.map(({ at }) => replaceScalar(document, at, plain)));
}

/** Gives a request's resource another name wherever its count is written. */
export function renameQuantities(document: YamlDocument, request: AcceleratorRequest, resource: string): Edits {
  return joinEdits(...writtenQuantities(request).map(({ at }) => renameKey(document, at, resource)));
}
