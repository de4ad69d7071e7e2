import type { CrossReferences, Referenced, WorkloadFacts } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, getIn, isTemplated } from '../yaml/cursor.ts';

/** The workload that a scaler scales, if it is in the same project. KEDA's default target kind is Deployment. */
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
