import type { PodSet } from '../model/workload.ts';
import { type Cursor, getIn } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';

/** Adds labels to the nodeSelector of pods. Undefined if the text cannot be edited without damage. */
export function selectNodes(document: YamlDocument, { pod }: PodSet, labels: Readonly<Record<string, string>>): Edits {
  const selector = getIn(pod, 'nodeSelector');
  if (selector === undefined) {
    return insertKey(document, pod, 'nodeSelector', labels, afterNeighbor(pod));
  }
  const edits = Object.entries(labels).map(([key, value]) => {
    const entry = getIn(selector, key);
    return entry === undefined ? insertKey(document, selector, key, value) : replaceScalar(document, entry, value);
  });
  return joinEdits(...edits);
}

/** Where fields go that decide on which nodes a pod runs: after one of the short fields, if there is one. */
export function afterNeighbor(pod: Cursor): { readonly after?: string } {
  const after = ['nodeSelector', 'runtimeClassName', 'schedulerName', 'restartPolicy'].find(
    (key) => getIn(pod, key) !== undefined,
  );
  return after === undefined ? {} : { after };
}
