import type { CrossReferences } from '../model/cross-references.ts';
import type { BuiltObject } from '../model/kustomize/built-object.ts';
import { same } from '../model/kustomize/operation-spans.ts';
import { scalerKinds, scalerOf } from '../model/scalers.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { Finding } from '../rules/rule.ts';
import { applySuppressions } from '../rules/suppressions.ts';
import { getIn, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { type Among, manifestsOf } from './among-patched.ts';
import { requestIn } from './finding-places.ts';

/** What findings about autoscalers are derived from. */
interface ScaledObjects {
  /** What the kustomization builds. */
  readonly objects: readonly BuiltObject[];
  readonly among: Among;
  readonly document: YamlDocument;
  readonly judged: (
    root: YamlNode,
    crossReferences: CrossReferences,
  ) => { readonly manifests: readonly Manifest[]; readonly findings: readonly Finding[] };
}

/**
 * The autoscalers on CPU that were right until a patch gave accelerators to what they scale. They are reported where it requests them.
 * @param workloads what the patch makes, if it had no accelerators before
 */
export function scalerFindings(
  workloads: readonly Workload[],
  { objects, among, document, judged }: ScaledObjects,
  isOwn: (span: Span) => boolean,
): readonly Finding[] {
  const place = requestIn(workloads, isOwn);
  if (place === undefined) return [];
  return objects.filter(isUnchanged).flatMap((scaler): readonly Finding[] => {
    if (!manifestsOf(scaler.root, document).some((one) => scales(scalerOf(one)?.target, workloads, objects))) return [];
    const isWrong = ({ rule }: Finding) => rule === 'cpu-metric-for-gpu';
    if (judged(scaler.root, among.before).findings.some(isWrong)) return [];
    const { manifests, findings } = judged(scaler.root, among.patched);
    const moved = findings.filter(isWrong).map((one) => ({ ...one, span: place, fixes: [] }));
    return applySuppressions(document, manifests, moved).kept.map((one) => ({
      ...one,
      message: `${one.message} (with ${scaler.file})`,
    }));
  });
}

function scales(
  target: { readonly kind: string; readonly name: string } | undefined,
  workloads: readonly Workload[],
  objects: readonly BuiltObject[],
): boolean {
  const scaled = objects.find((one) => one.kind === target?.kind && one.names.includes(target.name));
  return (
    scaled !== undefined &&
    workloads.some(({ kind, name }) => kind === scaled.kind && name !== null && scaled.names.includes(name))
  );
}

/** What a patch writes about the metrics of an autoscaler is reported there. */
function isUnchanged({ kind, root, before = root }: BuiltObject): boolean {
  if (!scalerKinds.includes(kind)) return false;
  return ['metrics', 'triggers', 'targetCPUUtilizationPercentage'].every((key) => {
    const [now, then] = [root, before].map((one) => getIn(rootCursor(one), 'spec', key)?.node);
    return now === undefined ? then === undefined : same(then, now);
  });
}
