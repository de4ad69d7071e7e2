import type { CrossReferences, Referenced, WorkloadFacts } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, getIn, isTemplated } from '../yaml/cursor.ts';

/** What a scaler scales, where it is in the same project. KEDA's target is a Deployment unless it says so. */
export function targetOf(
  { root, kind, namespace }: Manifest,
  crossReferences: CrossReferences,
): Referenced<WorkloadFacts> | undefined {
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const name = getIn(target, 'name') ?? (kind === 'HTTPScaledObject' ? getIn(target, 'deployment') : undefined);
  const written = getIn(target, 'kind');
  if (name === undefined || isTemplated(name) || isTemplated(written)) return undefined;
  const targetKind = asText(written) ?? (/ScaledObject$/.test(kind) ? 'Deployment' : '');
  return crossReferences.workload(targetKind, namespace, asText(name) ?? '');
}
