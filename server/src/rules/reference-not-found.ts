import { targetOf } from '../evidence/scaler-target.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, getIn, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A reference names a missing object, and an existing object has a similar name.
 *
 * ## Why
 *
 * A service without its runtime never becomes ready, a job in a missing queue is never admitted, and a scaler without its target scales
 * nothing. The API server accepts all of them without a warning. A pod without its claim stays Pending; for a claim or a PriorityClass of the same
 * file, and for an object of the same file in another namespace, the severity is warning. It is error for a scaler whose target has another kind: KEDA looks for a Deployment unless `kind` says otherwise.
 *
 * ```yaml invalid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef:
 *     name: chat-sever
 *   minReplicaCount: 1
 *   triggers:
 *     - type: prometheus
 *       metadata: {serverAddress: "http://prometheus:9090", query: "sum(vllm:num_requests_waiting)", threshold: "5"}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat-server
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/chat:1.4
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef:
 *     name: chat-server
 *   minReplicaCount: 1
 *   triggers:
 *     - type: prometheus
 *       metadata: {serverAddress: "http://prometheus:9090", query: "sum(vllm:num_requests_waiting)", threshold: "5"}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat-server
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/chat:1.4
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the cluster may have an object with the written name.
 *
 * ## When it is silent
 *
 * If no object of the kind in the same folder or one above it has a similar name: the object may be in the cluster, in a chart or in another
 * repository. For the target of a scaler, a name is also similar if it begins with the same word and belongs to the only candidate of the
 * project. For names that differ in a number or in their last letter; for kinds that clusters ship (ClusterServingRuntime,
 * ClusterTrainingRuntime); for templated names; in projects with Helm releases or Argo CD applications, which add objects that gpulint does
 * not see.
 *
 * ## Sources
 *
 * - [KEDA: ScaledObject](https://keda.sh/docs/latest/reference/scaledobject-spec/#scaletargetref)
 * - [Kueue: Run a Kubernetes Job](https://kueue.sigs.k8s.io/docs/tasks/run/jobs/)
 */
export default defineRule({
  topic: 'cluster',
  severity: 'info',
  judgesWords: true,
  manifest(manifest, context) {
    checkScaler(manifest, context);
    checkNamespaces(manifest, context);
    for (const { at, name, near } of context.crossReferences.dangling(manifest)) {
      const [first] = near;
      if (first === undefined) continue;
      const where = first.file === null ? '' : ` (${shorten(first.file, 40)})`;
      // The cluster may have an object of that name too, but hardly if this file defines the similar one.
      // `hf-cache` and `tf-cache` are two things.
      const isTypo = first.file === null && first.name[0] === name[0];
      const effect = isTypo ? effects.get(first.kind) : undefined;
      context.report({
        ...(effect !== undefined && { severity: 'warning' }),
        message: `No ${first.kind} "${shorten(name)}"; did you mean "${shorten(first.name)}"${where}?${effect ?? ''}`,
        span: spanOf(at),
        fixes: () => {
          const edits = near.length > 1 ? undefined : replaceScalar(context.document, at, first.name);
          return [fix(`Change ${name} to ${first.name}`, 'unsafe', edits)];
        },
      });
    }
  },
});

/** Reports a scaler whose target has another kind. KEDA's default is Deployment. */
function checkScaler(manifest: Manifest, context: RuleContext): void {
  const { kind, root, namespace } = manifest;
  if ((kind !== 'ScaledObject' && kind !== 'HorizontalPodAutoscaler') || targetOf(manifest, context.crossReferences))
    return;
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const [at, written] = [getIn(target, 'name'), getIn(target, 'kind')];
  const named = asText(written) ?? 'Deployment';
  const other = named === 'Deployment' ? 'StatefulSet' : 'Deployment';
  if (target === undefined || at === undefined || isTemplated(at) || !/^(?:Deployment|StatefulSet)$/.test(named))
    return;
  const name = asText(at) ?? '';
  if (context.crossReferences.workload(other, namespace, name)?.file !== null) return;
  context.report({
    severity: 'error',
    message: `No ${named} "${shorten(name, 40)}", only a ${other}: the ${kind} never scales it`,
    span: spanOf(written ?? at),
    fixes: () => [fix(`Set kind to ${other}`, 'unsafe', setKey(context.document, target, 'kind', other))],
  });
}

/** Reports references to objects of the same file in another namespace. */
function checkNamespaces(manifest: Manifest, { crossReferences, document, report }: RuleContext): void {
  const { kind, root, namespace } = manifest;
  const metadata = getIn(root, 'metadata');
  if (metadata === undefined || [root, metadata, getIn(metadata, 'namespace')].some(isUnseen)) return;
  for (const { at, name, kind: other, namespace: there } of crossReferences.misplaced(manifest)) {
    const effect = /Claim/.test(other) ? 'its pod stays Pending' : 'it has no effect';
    report({
      severity: 'warning',
      message:
        namespace === null
          ? `${other} "${shorten(name, 30)}" is in ${shorten(there, 30)}, but the ${kind} names no namespace: in any other, ${effect}`
          : `${other} "${shorten(name, 30)}" is in ${shorten(there, 30)}, not in ${shorten(namespace, 30)} like the ${kind}: ${effect}`,
      span: spanOf(at),
      fixes: () => [fix(`Set namespace to ${there}`, 'unsafe', setKey(document, metadata, 'namespace', there))],
    });
  }
}

const effects: ReadonlyMap<string, string> = new Map([
  ['PersistentVolumeClaim', ' The pod stays Pending'],
  ['PriorityClass', ' The API server rejects the pod'],
]);
