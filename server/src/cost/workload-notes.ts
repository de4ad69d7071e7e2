import { isInstanceTypeLabel } from '../catalog/index.ts';
import { groupOf } from '../model/manifest.ts';
import { earlierRevision } from '../model/other-revisions.ts';
import type { Selector, Workload } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';

/**
 * What the price of a workload leaves out.
 * @param isListed whether any price is a list price
 */
export function notesOnWorkload(workload: Workload, isListed: boolean): readonly Assumption[] {
  const field = earlierRevision(workload);
  return [
    ...(field === undefined ? [] : [{ kind: 'otherRevision', field } as const]),
    ...(isListed && isOnSageMaker(workload) ? [{ kind: 'sageMaker' } as const] : []),
  ];
}

/** SageMaker rents the machines of EC2 at prices of its own, under their names with `ml.`. */
function isOnSageMaker({ manifest, podSets }: Workload): boolean {
  const group = groupOf(manifest.apiVersion);
  const isMachine = ({ key, values }: Selector) =>
    isInstanceTypeLabel(key) && values.some(({ value }) => value.toLowerCase().startsWith('ml.'));
  return (
    group === 'sagemaker.amazonaws.com' ||
    group.endsWith('sagemaker.aws.amazon.com') ||
    podSets.some(({ selectors }) => selectors.some(isMachine))
  );
}
