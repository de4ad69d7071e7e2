import type { Seen, Surroundings, WorkloadFacts } from '../model/surroundings.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, at, isTemplated } from '../yaml/cursor.ts';

/** What a scaler scales, where it is in the same project. KEDA's target is a Deployment unless it says so. */
export function targetOf(
  { root, kind, namespace }: Manifest,
  surroundings: Surroundings,
): Seen<WorkloadFacts> | undefined {
  const target = at(root, 'spec', 'scaleTargetRef');
  const name = at(target, 'name') ?? (kind === 'HTTPScaledObject' ? at(target, 'deployment') : undefined);
  const written = at(target, 'kind');
  if (name === undefined || isTemplated(name) || isTemplated(written)) return undefined;
  const targetKind = asText(written) ?? (/ScaledObject$/.test(kind) ? 'Deployment' : '');
  return surroundings.workload(targetKind, namespace, asText(name) ?? '');
}
