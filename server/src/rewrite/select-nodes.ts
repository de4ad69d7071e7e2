import type { PodSet } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { TextEdit } from '../yaml/span.ts';

/** Makes pods go to nodes with some labels, in their nodeSelector. Undefined where the text cannot be edited without damage. */
export function selectNodes(
  document: YamlDocument,
  { pod }: PodSet,
  labels: Readonly<Record<string, string>>,
): readonly TextEdit[] | undefined {
  const selector = getIn(pod, 'nodeSelector');
  if (pod.shared || selector?.shared === true) return undefined;
  if (selector === undefined) {
    const neighbour = ['runtimeClassName', 'schedulerName', 'restartPolicy'].find(
      (key) => getIn(pod, key) !== undefined,
    );
    return insertKey(document, pod, 'nodeSelector', labels, neighbour === undefined ? {} : { after: neighbour });
  }
  const edits: TextEdit[] = [];
  for (const [key, value] of Object.entries(labels)) {
    const entry = getIn(selector, key);
    const made =
      entry === undefined ? insertKey(document, selector, key, value) : replaceScalar(document, entry, value);
    if (made === undefined || entry?.shared === true) return undefined;
    edits.push(...made);
  }
  return joined(edits);
}

/** Insertions at one place as one edit: which of several comes first would be the editor's choice. */
function joined(edits: readonly TextEdit[]): readonly TextEdit[] {
  const whole: TextEdit[] = [];
  for (const edit of edits) {
    const before = whole.findIndex(({ span }) => span.start === edit.span.start && span.end === edit.span.end);
    const other = whole[before];
    if (other === undefined) whole.push(edit);
    else whole[before] = { ...other, newText: other.newText + edit.newText };
  }
  return whole;
}
