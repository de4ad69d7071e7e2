import { formatNumber } from '../cost/format.ts';
import { isValues } from '../model/values.ts';
import type { AcceleratorRequest, Container, Workload } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import { type Cursor, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span, TextEdit } from '../yaml/span.ts';
import { writtenQuantities } from './quantity-edits.ts';

/** The accelerators that a container asks for with a count that is known and not 0. */
export function asked({ accelerators }: Pick<Container, 'accelerators'>): readonly AcceleratorRequest[] {
  return accelerators.filter(({ count }) => count !== null && count > 0);
}

/** What a container asks for, in words: `2 nvidia.com/gpu`. */
export function askedWords(requests: readonly AcceleratorRequest[]): string {
  return requests.map(({ count, resource }) => `${formatNumber(count ?? 0)} ${resource}`).join(' and ');
}

/** The key under which the first of the requests is written; the container's resources where that is not plain. */
export function askedSpan(requests: readonly AcceleratorRequest[], container: Container): Span {
  const [first] = requests.flatMap(writtenQuantities);
  return keySpanOf(first?.at ?? container.resources ?? container.at);
}

/** Serves GPUs to others, or runs nothing by itself: not judged as a workload. */
export function isNoWorkload(workload: Workload): boolean {
  // What a chart's values say of a pod, they say of pods that run.
  return workload.role === 'infrastructure' || (workload.role === 'definition' && !isValues(workload));
}

/** Takes every accelerator of a container away, from limits and requests. Undefined where the text cannot be edited without damage. */
export function giveBack(
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
