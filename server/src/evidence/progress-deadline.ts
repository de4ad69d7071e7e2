import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated } from '../yaml/cursor.ts';

/** The written time in which a new pod must become ready. */
export interface ProgressDeadline {
  readonly at: Cursor;
  readonly seconds: number;
  /** Knative removes the pods; a Deployment keeps them and only reports the failure. */
  readonly by: 'Knative' | 'Deployment';
}

/**
 * The progress deadline of a Deployment, or of a revision of Knative. https://knative.dev/docs/serving/configuration/deployment/
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progress-deadline-seconds
 */
export function progressDeadline(workload: Workload, podSet: PodSet): ProgressDeadline | undefined {
  const { kind, apiVersion, manifest } = workload;
  if (kind === 'Deployment' && apiVersion === 'apps/v1') {
    const at = getIn(manifest.root, 'spec', 'progressDeadlineSeconds');
    return lasting(at, /^(\d{1,6})$/, 'Deployment');
  }
  const annotations = [...podSet.annotations, ...manifest.annotations];
  const written = annotations.find(({ at }) => at.step === 'serving.knative.dev/progress-deadline');
  return lasting(written?.at, /^(\d{1,6})s$/, 'Knative');
}

function lasting(at: Cursor | undefined, form: RegExp, by: ProgressDeadline['by']): ProgressDeadline | undefined {
  const [, seconds] = form.exec(asText(at) ?? '') ?? [];
  return at === undefined || seconds === undefined || isTemplated(at)
    ? undefined
    : { at, seconds: Number(seconds), by };
}
