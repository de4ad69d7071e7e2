import { knownAccelerator } from '../catalog/index.ts';
import { hasAllContainers } from '../evidence/chart-pods.ts';
import { placementFields, unreadFields } from '../evidence/pod-options.ts';
import { misplacedTaskFields } from '../evidence/task-fields.ts';
import { unreadAnnotations } from '../evidence/unread-annotations.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { ignoredRequests } from '../model/charts/notebooks.ts';
import { isListedContainer } from '../model/pod.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { moveField } from '../rewrite/move-field.ts';
import { asNumber, type Cursor, entries, getIn, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { someText } from '../yaml/texts.ts';
import { defineRule, type PodSetContext, type WorkloadContext } from './rule.ts';

/**
 * A field that places a pod or requests its accelerators is in the wrong place.
 *
 * ## Why
 *
 * `nodeSelector`, `tolerations`, `affinity`, `runtimeClassName` and similar fields belong to the pod. In a container, next to the pod template
 * or next to a KServe predictor they are unknown fields: kubectl rejects them, other clients silently ignore them, and the pod can run on any
 * node. Accelerators are requested in a container's `resources.limits`; the pod's own `resources` accept only cpu, memory and huge pages.
 * A profile of JupyterHub requests them in `extra_resource_limits` of its `kubespawner_override`, and a controller of the app-template chart in its
 * containers, whose pods have such fields in `pod` or `defaultPodOptions`. Ollama's chart reads them next to `ollama`. Tasks of SkyPilot and dstack
 * request them in `resources`, and reject files with unknown fields.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       runtimeClassName: nvidia
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   runtimeClassName: nvidia
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a field that was ignored before takes effect. No fix is offered for fields that contain comments.
 *
 * ## When it is silent
 *
 * For pods that do not use accelerators, and for fields of custom resources that gpulint does not know.
 *
 * ## Sources
 *
 * - [canonical/microk8s#4408](https://github.com/canonical/microk8s/issues/4408)
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - [KubeSpawner: profile_list](https://jupyterhub-kubespawner.readthedocs.io/en/latest/spawner.html#kubespawner.KubeSpawner.profile_list)
 * - [app-template: values](https://github.com/bjw-s-labs/helm-charts/blob/main/charts/library/common/values.schema.json)
 * - [Ollama: values](https://github.com/otwld/ollama-helm/blob/main/values.yaml)
 * - [Kubernetes: pod-level resources](https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  aboutPlace: true,
  workload(workload, context) {
    const { kind, manifest, podSets, byShape } = workload;
    for (const { field, tool, place, path } of misplacedTaskFields(workload)) {
      context.report({
        message: `${keyOf(field)} belongs ${place === 'resources' ? 'in resources' : `at ${place}`}, not here: ${tool} rejects the file`,
        span: keySpanOf(field),
        fixes: () => [moveField(context.document, field, manifest.root, path, `Move ${keyOf(field)} to ${place}`)],
      });
    }
    // KServe's pods are placed by fields of the predictor, not by fields next to it. Other operators have kinds of this name.
    if (kind !== 'InferenceService' || byShape || !podSets.some(requestsAccelerators)) return;
    for (const field of placementFields(getIn(manifest.root, 'spec'))) {
      context.report({
        message: `${keyOf(field)} belongs under predictor, not under spec: ${rejected}`,
        span: keySpanOf(field),
        fixes: () => [moveTo(getIn(manifest.root, 'spec', 'predictor'), field, 'predictor', context)],
      });
    }
  },
  podSet(podSet, context) {
    // A chart can use each of its values anywhere, except those of which its templates are known.
    if (isValues(context.workload)) return reportIgnored(podSet, context);
    const isRelevant = (field: Cursor) => requestsAccelerators(podSet) || mentionsGpus(field);
    for (const container of podSet.containers.filter(({ at }) => isListedContainer(at))) {
      for (const field of placementFields(container.at).filter(isRelevant)) {
        context.report({
          message: `${rightName(field)} belongs in the pod spec, not in a container: ${rejected}`,
          span: keySpanOf(field),
          fixes: () => [moveTo(podSet.pod, field, 'the pod', context)],
        });
      }
      reportStray(container, context);
    }
    for (const field of fieldsNextToTemplate(podSet, context).filter(isRelevant)) {
      context.report({
        message: `${rightName(field)} belongs in the pod spec (template.spec), not here: ${rejected}`,
        span: keySpanOf(field),
        fixes: () => [moveTo(podSet.pod, field, 'the pod', context)],
      });
    }
    for (const entry of context.workload.byShape ? [] : acceleratorsNextToContainers(podSet)) {
      context.report({
        message: `${shorten(keyOf(entry), 60)} is next to the containers, not in a container's resources.limits: no container gets it`,
        span: keySpanOf(entry),
        fixes: () => [toLimits(onlyContainer(podSet), entry, context)],
      });
    }
    for (const { at } of requestsAccelerators(podSet)
      ? unreadAnnotations(podSet).filter(({ about }) => about === 'nodes')
      : [])
      context.report({
        severity: 'warning',
        message: `${keyOf(at)} is a node label: as a pod annotation, it selects no nodes`,
        span: keySpanOf(at),
      });
    for (const entry of podLevelResources(podSet)) {
      context.report({
        message: `${shorten(keyOf(entry), 60)} is in the pod's own resources, which accept no accelerators: no container gets it`,
        span: keySpanOf(entry),
        fixes: () => [toLimits(onlyContainer(podSet), entry, context)],
      });
    }
  },
});

function reportStray(container: Container, context: PodSetContext): void {
  for (const entry of strayResources(container.at, container.resources)) {
    context.report({
      message: `${shorten(keyOf(entry), 60)} is outside resources.limits: no container gets it`,
      span: keySpanOf(entry),
      fixes: () => [toLimits(container, entry, context)],
    });
  }
}

/** Accelerators that well-known charts do not read. */
function reportIgnored(podSet: PodSet, context: PodSetContext): void {
  const { pod } = podSet;
  if (hasAllContainers(context.workload)) {
    for (const container of podSet.containers) reportStray(container, context);
    reportOutside(podSet, context);
  }
  reportUnread(podSet, context);
  const profile = getIn(pod, 'kubespawner_override');
  const path = pod.step === 'singleuser' ? ['extraResource', 'limits'] : ['extra_resource_limits'];
  const ignored = ignoredRequests(pod);
  if (ignored.length === 0) reportNextToAmounts(podSet, context);
  for (const entry of ignored) {
    const name = keyOf(entry);
    const title = `Move ${name} to ${path.join('.')}`;
    const isRepeated = entry.parent?.step === 'requests' && getIn(entry.parent.parent, 'limits', name) !== undefined;
    context.report({
      message: `${shorten(name, 60)} is outside ${path.join('.')}: JupyterHub ignores it, and the server gets no GPU`,
      span: keySpanOf(entry),
      fixes: () => [
        isRepeated
          ? undefined
          : moveField(context.document, entry, profile ?? pod, [...path, name], title, [onlyHolder(entry, pod)]),
      ],
    });
  }
}

/** Accelerators next to the `limits` of any values: charts hand such `resources` to a container as they are. */
function reportNextToAmounts({ containers }: PodSet, context: PodSetContext): void {
  if (hasAllContainers(context.workload)) return;
  for (const container of containers) {
    const amounts = [getIn(container.resources, 'limits'), getIn(container.resources, 'requests')];
    if (amounts.every((one) => one?.node.kind !== 'map')) continue;
    for (const entry of entries(container.resources).filter(isAccelerator)) {
      context.report({
        severity: 'warning',
        message: `${shorten(keyOf(entry), 60)} is outside resources.limits: no container gets it, unless the chart rewrites it`,
        span: keySpanOf(entry),
        fixes: () => [toLimits(container, entry, context)],
      });
    }
  }
}

/** Accelerators in the resources of a controller of the common library, or next to its containers or the controllers. Only its containers have them. */
function reportOutside(podSet: PodSet, context: PodSetContext): void {
  const { root } = context.workload.manifest;
  const controllers = root.parent?.step === 'controllers' ? root.parent : undefined;
  const [first, ...more] = entries(controllers);
  const values = first?.node === root.node ? controllers?.parent : undefined;
  const shared = [values, getIn(values, 'defaultPodOptions')];
  for (const holder of [root, getIn(root, 'pod'), getIn(root, 'containers'), ...shared]) {
    const resources = getIn(holder, 'resources');
    const target = shared.includes(holder) && more.length > 0 ? undefined : onlyContainer(podSet);
    const limits = getIn(resources, 'limits');
    const onlyRequested = entries(getIn(resources, 'requests')).filter(
      (one) => getIn(limits, keyOf(one)) === undefined,
    );
    for (const entry of [...entries(limits), ...onlyRequested].filter(isAccelerator)) {
      context.report({
        message: `${shorten(keyOf(entry), 60)} is ${place(holder)}, not in a container's resources.limits: no container gets it`,
        span: keySpanOf(entry),
        fixes: () => [toLimits(target, entry, context)],
      });
    }
  }

  function place(holder: Cursor | undefined): string {
    return shared.includes(holder) ? 'next to the controllers' : 'next to the containers';
  }
}

/** Fields of pods where a well-known chart does not read them. */
function reportUnread(podSet: PodSet, context: PodSetContext): void {
  for (const { field, owner, path, place } of unreadFields(podSet, context.workload)) {
    const isRequest = isAccelerator(field) || keyOf(field) === 'resourceClaims';
    if (!isRequest && !requestsAccelerators(podSet) && !mentionsGpus(field)) continue;
    // Ollama gets the GPUs that are switched on.
    const own = isRequest ? acceleratorByName(podSet.accelerators, keyOf(field))?.perPod : undefined;
    if (own !== undefined && asNumber(field) === own) continue;
    const effect = !isRequest ? 'the pods can run on any node' : own ? `the pod gets ${own}` : 'no container gets it';
    context.report({
      severity: isRequest && (keyOf(field) === 'resourceClaims' || !requestsAccelerators(podSet)) ? 'error' : 'warning',
      message: `${shorten(rightName(field), 60)} belongs ${place}, not here: the chart does not read it, and ${effect}`,
      span: keySpanOf(field),
      fixes: () => [
        moveField(
          context.document,
          field,
          owner,
          path,
          `Move ${keyOf(field)} to ${path.slice(0, -1).join('.') || 'the top'}`,
          [onlyHolder(field, podSet.pod)],
        ),
      ],
    });
  }
}

/** The entry, or the highest mapping in the pod that holds nothing else. */
function onlyHolder(entry: Cursor, pod: Cursor): Cursor {
  const { parent } = entry;
  const isAlone = parent?.node.kind === 'map' && parent.node.entries.length === 1;
  return isAlone && parent.node !== pod.node && parent.node !== pod.parent?.node ? onlyHolder(parent, pod) : entry;
}

function moveTo(owner: Cursor | undefined, field: Cursor, where: string, { document }: WorkloadContext) {
  const key = keyOf(field) === 'toleration' ? 'tolerations' : keyOf(field);
  return owner && moveField(document, field, owner, [key], `Move ${keyOf(field)} to ${where}`);
}

/** Undefined for a request whose limit is misplaced in the same way: moving the limit is enough. */
function toLimits(container: Container | undefined, entry: Cursor, { document }: PodSetContext) {
  const name = keyOf(entry);
  const holder = entry.parent;
  const hasLimit = holder?.step === 'requests' && getIn(holder.parent, 'limits', name) !== undefined;
  if (container === undefined || container.type !== 'app' || hasLimit) return undefined;
  const title = `Move ${name} to the limits of ${container.name === '' ? 'the container' : container.name}`;
  const emptied = emptiedBy(entry, container);
  // The request that goes with the limit is misplaced in the same way.
  const request = holder?.step === 'limits' ? getIn(holder.parent, 'requests', name) : undefined;
  const others = request === undefined || emptied.includes(request) ? [] : [request];
  return moveField(document, entry, container.at, ['resources', 'limits', name], title, [...emptied, ...others]);
}

/**
 * The mappings that have no more entries once an accelerator is moved: an empty `limits` next to the containers would also be rejected. The
 * entry itself if others remain.
 */
function emptiedBy(entry: Cursor, container: Container): readonly Cursor[] {
  const name = keyOf(entry);
  const holder = entry.parent;
  const owner = holder?.parent;
  if (holder === undefined || owner === undefined || holder.node === container.resources?.node) return [entry];
  const has = (map: Cursor, count: number) => map.node.kind === 'map' && map.node.entries.length === count;
  if (!/^(limits|requests)$/.test(String(holder.step)) || !has(holder, 1)) return [entry];
  const requests = holder.step === 'limits' ? getIn(owner, 'requests') : undefined;
  const isBare = requests !== undefined && has(requests, 1) && getIn(requests, name) !== undefined;
  const emptied = isBare ? [holder, requests] : [holder];
  return owner.step === 'resources' && has(owner, emptied.length) ? [owner] : emptied;
}

function onlyContainer({ containers }: PodSet): Container | undefined {
  const [only, ...others] = containers.filter(({ type }) => type === 'app');
  return others.length === 0 ? only : undefined;
}

const rejected = 'kubectl rejects it; other clients ignore it';

/** The name, followed by the correct name if it is misspelled. */
function rightName(field: Cursor): string {
  return keyOf(field) === 'toleration' ? 'toleration (tolerations)' : keyOf(field);
}

function mentionsGpus({ node }: Cursor): boolean {
  return someText(node, (text) => /gpu|nvidia|accelerator|google\.com\/tpu|neuron|gaudi/i.test(text));
}

/** Accelerators directly under `resources`, or under `limits` or `requests` directly under the container. */
function strayResources(container: Cursor, resources: Cursor | undefined): readonly Cursor[] {
  const holders = [resources, getIn(container, 'limits'), getIn(container, 'requests')];
  return holders.flatMap((holder) => entries(holder).filter(isAccelerator));
}

/** Pod fields next to the template's `spec` and, for built-in kinds, next to the template. */
function fieldsNextToTemplate({ pod }: PodSet, { workload }: PodSetContext): readonly Cursor[] {
  const template = pod.parent;
  if (pod.step !== 'spec' || template?.step !== 'template') return [];
  const owner = template.parent;
  const builtIn = /^(apps|batch)\//.test(workload.apiVersion);
  // Unknown kinds may have their own fields there.
  if (workload.byShape) return [];
  return [...placementFields(template), ...(builtIn ? placementFields(owner) : [])];
}

/** Accelerators in `limits` or `requests` directly in the pod, which has no such fields. */
function acceleratorsNextToContainers({ pod }: PodSet): readonly Cursor[] {
  if (getIn(pod, 'containers') === undefined) return [];
  return [...entries(getIn(pod, 'limits')), ...entries(getIn(pod, 'requests'))].filter(isAccelerator);
}

/** Accelerators in the `resources` of a pod, unless the same mapping describes a container. */
function podLevelResources({ pod, containers }: PodSet): readonly Cursor[] {
  const resources = getIn(pod, 'resources');
  // In a KServe predictor, the model's own resources are in `model`.
  const isPod = getIn(pod, 'containers') !== undefined || containers.some(({ at }) => at.parent?.node === pod.node);
  if (resources === undefined || !isPod) return [];
  if (containers.some((container) => container.resources?.node === resources.node)) return [];
  return [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))].filter(isAccelerator);
}

function isAccelerator(entry: Cursor): boolean {
  return knownAccelerator(keyOf(entry)) !== undefined;
}
