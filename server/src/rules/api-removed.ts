import { apiFields, apiKind, type NotServed, notServed } from '../catalog/index.ts';
import { concernsAccelerators } from '../evidence/api-problems.ts';
import { minorOf } from '../model/options.ts';
import type { Manifest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { type Cursor, entries, getIn, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * The API server does not serve this kind in this API version.
 *
 * ## Why
 *
 * The API server rejects an object whose kind it does not serve: a version that a release of Kubernetes or of an operator removed, a version that
 * never had the kind, a kind of another group, or a misspelled kind.
 *
 * ```yaml invalid
 * apiVersion: autoscaling/v2beta2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
 *   maxReplicas: 4
 * ```
 *
 * ```yaml fixed
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
 *   maxReplicas: 4
 * ```
 *
 * ## Fix safety
 *
 * Safe if the object has the same fields in the other version.
 *
 * ## When it is silent
 *
 * For objects unrelated to accelerators, for custom resources whose history is unknown, for resource.k8s.io (dra-shape), and
 * if `kubernetesVersion` in the config is older than the removal. A version that an operator removed in the last two years, or that many manifests still have, is a
 * warning: the cluster may run an older operator.
 *
 * ## Sources
 *
 * - [Kubernetes: deprecated API migration guide](https://kubernetes.io/docs/reference/using-api/deprecation-guide/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, context) {
    const { root, apiVersion, kind, document } = manifest;
    const written = getIn(root, 'apiVersion');
    const problem = notServed(apiVersion, kind);
    if (
      problem === undefined ||
      document.problems.some(({ readable }) => readable !== true) ||
      ['apiVersion', 'kind'].some((key) => entries(root).filter((one) => keyOf(one) === key).length > 1) ||
      isTemplated(written) ||
      isTemplated(getIn(root, 'kind'))
    )
      return;
    const intended = problem.why === 'kind' ? problem.use : kind;
    if (!concernsAccelerators(root.node, intended)) return;
    if (problem.why === 'removed' && (minorOf(context.options.kubernetesVersion) ?? problem.release) < problem.release)
      return;
    const at = problem.why === 'kind' ? getIn(root, 'kind') : written;
    if (at === undefined) return;
    context.report({
      message: messageOf(problem, manifest),
      // The cluster may run an older operator.
      severity: problem.why === 'operator' && problem.recent ? 'warning' : 'error',
      span: spanOf(at),
      fixes: () => [correct(problem, manifest, context)],
    });
  },
});

function messageOf(problem: NotServed, { apiVersion, kind }: Manifest): string {
  const [version, name] = [shorten(apiVersion), shorten(kind)];
  switch (problem.why) {
    case 'removed':
      return `Kubernetes 1.${problem.release} removed ${version} ${name}: the API server rejects the object; use ${problem.use}`;
    case 'operator':
      return `${version} ${name} is no longer served by ${problem.by}: the API server rejects the object; use ${problem.use}`;
    case 'kind':
      return `No kind ${name} in ${version}; did you mean ${problem.use}? The API server rejects the object`;
    case 'ended':
      return `${name} has no version ${version}: the API server rejects the object; use ${problem.use}`;
    default:
      return `${name} is in ${problem.use}, not in ${version}: the API server rejects the object`;
  }
}

function correct(problem: NotServed, { root, kind }: Manifest, { document }: RuleContext): Fix | undefined {
  if (problem.why === 'kind') {
    return fix(`Change ${kind} to ${problem.use}`, 'safe', replaceScalar(document, getIn(root, 'kind'), problem.use));
  }
  if (problem.why === 'ended') return undefined;
  const isSame = (problem.why !== 'removed' && problem.why !== 'operator') || problem.same;
  if (problem.why === 'operator' && !isSame) return undefined;
  // Old versions took the selector from the template.
  if (!isSame && getIn(root, 'spec', 'template') !== undefined && getIn(root, 'spec', 'selector') === undefined)
    return undefined;
  if (problem.why !== 'removed' && !hasFieldsOf(problem.use, kind, root)) return undefined;
  const edits = replaceScalar(document, getIn(root, 'apiVersion'), problem.use);
  return fix(`Change apiVersion to ${problem.use}`, isSame ? 'safe' : 'unsafe', edits);
}

/** Whether the version knows all fields of the object's spec, or its fields are not known. */
function hasFieldsOf(apiVersion: string, kind: string, root: Cursor): boolean {
  const spec = apiFields(apiKind(apiVersion, kind) ?? '').get('spec')?.type;
  if (spec?.form !== 'object') return true;
  const fields = apiFields(spec.name);
  return entries(getIn(root, 'spec')).every((entry) => fields.has(keyOf(entry)));
}
