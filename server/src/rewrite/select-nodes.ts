import type { PodSet } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';

/** Adds labels to the nodeSelector of pods. Undefined if the text cannot be edited without damage. */
export function selectNodes(document: YamlDocument, { pod }: PodSet, labels: Readonly<Record<string, string>>): Edits {
  const selector = getIn(pod, 'nodeSelector');
  if (selector === undefined) {
    const neighbor = ['runtimeClassName', 'schedulerName', 'restartPolicy'].find(
      (key) => getIn(pod, key) !== undefined,
    );
    return insertKey(document, pod, 'nodeSelector', labels, neighbor === undefined ? {} : { after: neighbor });
  }
  const edits = Object.entries(labels).map(([key, value]) => {
    const entry = getIn(selector, key);
    return entry === undefined ? insertKey(document, selector, key, value) : replaceScalar(document, entry, value);
  });
  return joinEdits(...edits);
}
