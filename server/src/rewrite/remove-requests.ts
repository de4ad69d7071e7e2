import type { AcceleratorRequest } from '../model/workload.ts';
import { removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Fix, fix } from './fix.ts';
import { writtenQuantities } from './quantities.ts';

/** Removes accelerator requests from limits and requests. Undefined if the text cannot be edited without damage. */
export function removeRequests(
  document: YamlDocument,
  requests: readonly AcceleratorRequest[],
  title: string,
): Fix | undefined {
  return fix(title, 'unsafe', ...requests.flatMap(writtenQuantities).map(({ at }) => removeKey(document, at)));
}
