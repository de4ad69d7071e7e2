import type { AcceleratorRequest } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { insertKey, removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { TextEdit } from '../yaml/span.ts';
import type { Fix } from './fix.ts';
import { writtenQuantities } from './quantities.ts';

/** Takes every accelerator of a container away, from limits and requests. Undefined where the text cannot be edited without damage. */
export function removeRequests(
  document: YamlDocument,
  requests: readonly AcceleratorRequest[],
  title: string,
): Fix | undefined {
  const edits: TextEdit[] = [];
  for (const { at } of requests.flatMap(writtenQuantities)) {
    const made = at.shared ? undefined : removeKey(document, at);
    if (made === undefined) return undefined;
    edits.push(...made);
  }
  return edits.length === 0 ? undefined : { title, safe: false, edits };
}

/** Adds a key to a mapping that is this place's own. */
export function addKey(
  document: YamlDocument,
  owner: Cursor | undefined,
  key: string,
  value: Parameters<typeof insertKey>[3],
): readonly TextEdit[] | undefined {
  return owner === undefined || owner.shared ? undefined : insertKey(document, owner, key, value);
}
