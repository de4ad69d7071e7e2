import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, isTemplated, keyOf } from '../../yaml/cursor.ts';
import { tableOf } from '../../yaml/table.ts';
import type { ReferencedSelector, StepFacts } from '../referenced-pods.ts';

// The second document of a compiled Kubeflow pipeline: what its pods have on Kubernetes, by executor.
// https://github.com/kubeflow/pipelines/blob/master/kubernetes_platform/proto/kubernetes_executor_config.proto

const path = ['platforms', 'kubernetes', 'deploymentSpec', 'executors'] as const;

/** The kind of such a document. Both documents of a pipeline are in one file, so that its settings need no name. */
export const platformKind = 'PlatformSpec';

/** Whether a document has such settings. */
export function isPlatform(root: Cursor): boolean {
  return getIn(root, ...path) !== undefined;
}

/** The node labels that each executor selects. */
export function platformSteps(root: Cursor): StepFacts {
  const executors = entries(getIn(root, ...path)).map((executor) => {
    const labels = entries(getIn(executor, 'nodeSelector', 'labels'));
    const selectors = labels.flatMap((label): readonly ReferencedSelector[] => {
      const value = isTemplated(label) ? undefined : asText(label);
      return value === undefined ? [] : [{ key: keyOf(label), values: [value] }];
    });
    const name = keyOf(executor);
    return [name, [{ name, min: null, max: null, containers: [], selectors }]] as const;
  });
  return { runs: tableOf(executors) };
}
