import { isShuffled, isSlip } from '../catalog/spelling.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { writtenText } from '../evidence/written.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import type { Dangling } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, entries, getIn, isIncomplete, isTemplated, isUnseen, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A reference names a missing object, and an existing object has a similar name or is in another namespace.
 *
 * ## Why
 *
 * A service without its runtime never becomes ready, a job in a missing queue is never admitted, and a scaler without its target scales
 * nothing. The API server accepts all of them without a warning. A pod without its claim stays Pending; for a claim or a PriorityClass of the same
 * file, the severity is warning. A StatefulSet whose `serviceName` names a missing Service gives its pods no DNS names, so their ranks do not find each other;
 * it is reported if the file has a Service for these pods. The claim in a `pvc://` address of KServe, logins to registries and ServiceAccounts
 * of the same file are also compared, and ConfigMaps and Secrets with the namespace of the pod. It is error for a scaler whose target has another kind: KEDA looks for a
 * Deployment unless `kind` says otherwise. It is warning for an HPA whose target has no `apiVersion`, or another one: it looks for a Deployment of the core group.
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
 * For namespaces in projects with kustomizations, which set them. For ConfigMaps and Secrets in other files, and those that are optional, that a
 * kustomization may make, or that an operator copies to other namespaces. If no object of the kind in the same folder or one above it has a similar name: the object may be in the cluster, in a chart or in another
 * repository. For the target of a scaler, a name is also similar if it begins with the same word and belongs to the only candidate of the
 * file or the project. So is that of the only claim, account or ConfigMap of a file that nothing in the file uses. For names that differ in a number or in their last letter; for kinds that clusters ship (ClusterServingRuntime,
 * ClusterTrainingRuntime); for templated names; in projects with Helm releases or Argo CD applications, which add objects that gpulint does
 * not see.
 *
 * ## Sources
 *
 * - [KEDA: ScaledObject](https://keda.sh/docs/latest/reference/scaledobject-spec/#scaletargetref)
 * - [kubernetes#86032: an HPA without the apiVersion of its target](https://github.com/kubernetes/kubernetes/issues/86032)
 * - [Kueue: Run a Kubernetes Job](https://kueue.sigs.k8s.io/docs/tasks/run/jobs/)
 */
export default defineRule({
  topic: 'cluster',
  severity: 'info',
  judgesWords: true,
  podSet(podSet, context) {
    checkRuntimeClass(podSet, context);
    checkServiceName(podSet, context);
  },
  manifest(manifest, context) {
    checkTargetGroup(manifest, context);
    checkScaler(manifest, context);
    for (const found of context.crossReferences.dangling(manifest)) {
      const { at, name, near } = found;
      const [first] = near;
      checkNamespace(manifest, found, context);
      if (first === undefined) continue;
      const where = first.file === null ? '' : ` (${shorten(first.file, 40)})`;
      // The cluster may have an object of that name too, but hardly if this file defines the similar one.
      // `hf-cache` and `tf-cache` are two things.
      // `chat-router` may be what another project has, `chat-deployment` is hardly.
      const isClose =
        isSlip(name, first.name) || isShuffled(name, first.name) || /-(?:deploy|stateful|sts|rollout|lws)/.test(name);
      const isTypo =
        first.file === null &&
        first.name[0] === name[0] &&
        (isClose || !(scaled.has(first.kind) || owned.has(first.kind)));
      const pulls = at.parent?.parent?.step === 'imagePullSecrets';
      if (pulls && registryIn(name) !== registryIn(first.name)) continue;
      const effect = isTypo ? (pulls ? ' The kubelet pulls without it' : effects.get(first.kind)) : undefined;
      context.report({
        ...(effect !== undefined && { severity: 'warning' }),
        message: `No ${first.kind} "${shorten(name)}"; did you mean "${shorten(first.name)}"${where}?${effect ?? ''}`,
        span: spanOf(at),
        fixes: () => {
          // An address of KServe has the name of its claim.
          const text = (asText(at) ?? '').replace(name, first.name);
          const edits = near.length > 1 ? undefined : replaceScalar(context.document, at, text);
          return [fix(`Change ${name} to ${first.name}`, 'unsafe', edits)];
        },
      });
    }
  },
});

/** The registry in the name of a login: `ghcr-pull` and `gcr-pull` are two. */
function registryIn(name: string): string | undefined {
  return /\b(?:ghcr|[a-z]cr|ocir)\b/.exec(name)?.[0];
}

/** Reports a misspelled runtime class of NVIDIA's, which its operator and k3s make. */
function checkRuntimeClass({ pod }: PodSet, { crossReferences, document, report }: PodSetContext): void {
  const at = getIn(pod, 'runtimeClassName');
  const name = asText(at) ?? '';
  const meant = runtimeClasses.find((one) => isSlip(name, one) || isShuffled(name, one));
  if (at === undefined || meant === undefined || runtimeClasses.includes(name) || isTemplated(at)) return;
  if (crossReferences.runtimeClass(name) !== undefined) return;
  report({
    severity: 'warning',
    message: `No RuntimeClass "${shorten(name)}"; did you mean "${meant}"? The API server rejects the pod`,
    span: spanOf(at),
    fixes: () => [fix(`Change ${name} to ${meant}`, 'unsafe', replaceScalar(document, at, meant))],
  });
}

/** Reports a StatefulSet that names no Service, if the file has a headless one for its pods: they have no DNS names. */
function checkServiceName(podSet: PodSet, { workload, crossReferences, document, report }: PodSetContext): void {
  if (workload.kind !== 'StatefulSet' || workload.partial || !namesAccelerators(podSet)) return;
  const { namespace, name } = workload;
  const at = getIn(workload.manifest.root, 'spec', 'serviceName');
  const written = writtenText(at);
  const labels = getIn(podSet.pod.parent, 'metadata', 'labels');
  const pairs = entries(labels).map((one): [string, string] => [keyOf(one), asText(one) ?? '']);
  if (at === undefined || written === undefined || labels === undefined || isUnseen(labels)) return;
  if (crossReferences.service(namespace, written) !== undefined || crossReferences.mayBePatch()) return;
  const own = crossReferences.servicesOf(namespace, tableOf(pairs)).filter(({ file }) => file === null);
  const headless = own.filter(({ facts }) => !facts.hasAddress);
  const [meant, ...others] = headless.length > 0 ? headless : own;
  if (meant === undefined || others.length > 0) return;
  report({
    severity: headless.length > 0 ? 'warning' : 'info',
    message: `No Service "${shorten(written, 30)}" gives the pods DNS names such as ${shorten(`${name ?? 'pod'}-0.${written}`, 40)}; Service ${shorten(meant.name, 30)} selects them`,
    span: spanOf(at),
    fixes: () => [fix(`Change to ${meant.name}`, 'unsafe', replaceScalar(document, at, meant.name))],
  });
}

/** https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/cdi.html */
const runtimeClasses: readonly string[] = ['nvidia', 'nvidia-cdi', 'nvidia-legacy'];

/** Reports a reference to an object of the same file in another namespace. All these references are to their own. */
function checkNamespace(manifest: Manifest, { at, name, elsewhere }: Dangling, context: RuleContext): void {
  const { root, namespace, kind, isPatch, created } = manifest;
  const metadata = getIn(root, 'metadata');
  const own = getIn(metadata, 'namespace');
  if (elsewhere === null || isPatch || created !== undefined || metadata === undefined) return;
  if (isIncomplete(root) || isIncomplete(metadata) || isUnseen(own)) return;
  const [object, where] = [shorten(name, 30), shorten(elsewhere, 24)];
  context.report({
    severity: namespace === null ? 'info' : 'warning',
    message:
      namespace === null
        ? `${object} is in namespace ${where}; this ${kind} names none and finds it only if applied to ${where}`
        : `${object} is in namespace ${where}: this ${kind} looks for it in its own, ${shorten(namespace, 24)}`,
    span: spanOf(at),
    fixes: () => [
      fix(`Set namespace to ${where}`, 'unsafe', own && replaceScalar(context.document, own, elsewhere)),
      fix(
        `Set namespace to ${where}`,
        'unsafe',
        own === undefined ? setKey(context.document, metadata, 'namespace', elsewhere) : undefined,
      ),
    ],
  });
}

/** Reports a scaler whose target has another kind. KEDA's default is Deployment. */
function checkScaler(manifest: Manifest, context: RuleContext): void {
  const { kind, root, namespace } = manifest;
  if ((kind !== 'ScaledObject' && kind !== 'HorizontalPodAutoscaler') || targetOf(manifest, context.crossReferences))
    return;
  const target = getIn(root, 'spec', 'scaleTargetRef');
  const [at, written] = [getIn(target, 'name'), getIn(target, 'kind')];
  const named = asText(written) ?? 'Deployment';
  // Only KEDA has a default. api-field reports the missing kind.
  if (kind === 'HorizontalPodAutoscaler' && written === undefined) return;
  if (target === undefined || at === undefined || isTemplated(at) || !/^(?:Deployment|StatefulSet)$/.test(named))
    return;
  const name = asText(at) ?? '';
  const other = [...scaled].find((one) => context.crossReferences.workload(one, namespace, name)?.file === null);
  if (other === undefined) return;
  context.report({
    severity: 'error',
    message: `No ${named} "${shorten(name, 40)}", only a ${other}: the ${kind} never scales it`,
    span: spanOf(written ?? at),
    // The others are in another API group.
    fixes: () =>
      /^(?:Dep|Stat)/.test(other)
        ? [fix(`Set kind to ${other}`, 'unsafe', setKey(context.document, target, 'kind', other))]
        : [],
  });
}

/**
 * Reports an HPA that looks for its target in another API group. Without apiVersion, it looks in the core group.
 * https://github.com/kubernetes/kubernetes/issues/86032
 */
function checkTargetGroup({ kind, root, isPatch }: Manifest, { crossReferences, document, report }: RuleContext): void {
  const target = kind === 'HorizontalPodAutoscaler' ? getIn(root, 'spec', 'scaleTargetRef') : undefined;
  const [at, written] = [getIn(target, 'kind'), getIn(target, 'apiVersion')];
  if (target === undefined || at === undefined || isUnseen(at) || isUnseen(written) || isIncomplete(target)) return;
  const [named, version] = [asText(at) ?? '', asText(written)];
  const isMissing = version === undefined || version === '';
  const isApp = apps.has(named);
  // Groups with a dot may have their own kinds of the same name, such as those of OpenKruise.
  const isOther = isMissing || groupOf(version) === 'apps' || groupOf(version).includes('.');
  if (isMissing ? !/^[A-Z]/.test(named) || named === 'ReplicationController' : !isApp || isOther) return;
  if (isMissing && (isPatch || crossReferences.mayBePatch())) return;
  report({
    severity: 'warning',
    message: `${isMissing ? 'Without apiVersion' : `With apiVersion ${shorten(version, 24)}`}, the HPA finds no ${shorten(named, 30)}${isApp ? ', which is in apps/v1' : ''}: it never scales`,
    span: spanOf(written ?? at),
    fixes: () =>
      isApp ? [fix('Set apiVersion to apps/v1', 'unsafe', setKey(document, target, 'apiVersion', 'apps/v1'))] : [],
  });
}

/** What HPAs scale in the group of Deployments. */
const apps: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'ReplicaSet']);

/** Only scalers refer to these. */
const scaled: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'Rollout', 'LeaderWorkerSet']);

/** The unused object of one of these kinds in the file is also meant by another name. */
const owned: ReadonlySet<string> = new Set(['PersistentVolumeClaim', 'ServiceAccount', 'ConfigMap']);

const effects: ReadonlyMap<string, string> = new Map([
  ['PersistentVolumeClaim', ' The pod stays Pending'],
  ['PriorityClass', ' The API server rejects the pod'],
  ['ConfigMap', ' The pod never starts'],
  ['Secret', ' The pod never starts'],
  ['ServiceAccount', ' No pod is created'],
  ['NodePool', ' The pod stays Pending'],
  ['ComputeClass', ' The pod stays Pending'],
  ...[...scaled].map((kind) => [kind, ' Nothing is scaled'] as const),
]);
