import { acceleratorResource } from '../catalog/index.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isListedContainer } from '../model/pod.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { moveField } from '../rewrite/move-field.ts';
import { type Cursor, entries, getIn, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { someText } from '../yaml/texts.ts';
import { defineRule, type PodSetContext, type WorkloadContext } from './rule.ts';

/**
 * A field that places a pod, or asks for its accelerators, stands where Kubernetes does not look.
 *
 * ## Why
 *
 * `nodeSelector`, `tolerations`, `affinity`, `runtimeClassName` and the like are fields of the pod. In a container, beside the pod
 * template or beside a KServe predictor they are unknown fields: kubectl refuses them, other clients drop them without a word, and the
 * pod goes anywhere. Accelerators are asked for in a container's `resources.limits`; the pod's own `resources` take cpu, memory
 * and huge pages only.
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
 * Unsafe: what was dropped before takes effect. What has comments in it is left to people.
 *
 * ## When it is silent
 *
 * For pods that have nothing to do with accelerators, and for fields of custom resources that gpulint does not know.
 *
 * ## Sources
 *
 * - [canonical/microk8s#4408](https://github.com/canonical/microk8s/issues/4408)
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - [Kubernetes: pod-level resources](https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  workload({ kind, manifest, podSets }, context) {
    // KServe's pods are written in the predictor: beside it there is nothing that places them.
    if (kind !== 'InferenceService' || !podSets.some(requestsAccelerators)) return;
    for (const field of placementFields(getIn(manifest.root, 'spec'))) {
      context.report({
        message: `${keyOf(field)} is no field of the spec but of predictor: ${lost}`,
        span: keySpanOf(field),
        fixes: () => [moveTo(getIn(manifest.root, 'spec', 'predictor'), field, 'predictor', context)],
      });
    }
  },
  podSet(podSet, context) {
    // A chart puts each of its values where it wants.
    if (isValues(context.workload)) return;
    const concerns = (field: Cursor) => requestsAccelerators(podSet) || speaksOfGpus(field);
    for (const container of podSet.containers.filter(({ at }) => isListedContainer(at))) {
      for (const field of placementFields(container.at).filter(concerns)) {
        context.report({
          message: `${rightName(field)} is no field of a container but of the pod: ${lost}`,
          span: keySpanOf(field),
          fixes: () => [moveTo(podSet.pod, field, 'the pod', context)],
        });
      }
      for (const entry of strayResources(container.at, container.resources)) {
        context.report({
          message: `${shorten(keyOf(entry), 60)} does not stand in resources.limits: the pod gets no accelerator`,
          span: keySpanOf(entry),
          fixes: () => [toLimits(container, entry, context)],
        });
      }
    }
    for (const field of besideTemplate(podSet, context).filter(concerns)) {
      context.report({
        message: `${rightName(field)} is no field here but of the pod (template.spec): ${lost}`,
        span: keySpanOf(field),
        fixes: () => [moveTo(podSet.pod, field, 'the pod', context)],
      });
    }
    for (const entry of context.workload.byShape ? [] : besideContainers(podSet)) {
      context.report({
        message: `${shorten(keyOf(entry), 60)} beside the containers and not in one's resources.limits: no container gets it`,
        span: keySpanOf(entry),
        fixes: () => [toLimits(onlyContainer(podSet), entry, context)],
      });
    }
    for (const entry of podLevelResources(podSet)) {
      context.report({
        message: `${shorten(keyOf(entry), 60)} in the pod's own resources, which take cpu and memory only: no container gets it`,
        span: keySpanOf(entry),
        fixes: () => [toLimits(onlyContainer(podSet), entry, context)],
      });
    }
  },
});

function moveTo(owner: Cursor | undefined, field: Cursor, where: string, { document }: WorkloadContext) {
  const key = keyOf(field) === 'toleration' ? 'tolerations' : keyOf(field);
  return owner && moveField(document, field, owner, [key], `Move ${keyOf(field)} to ${where}`);
}

/** Of one that stands in limits and in requests, the limit counts: the request would then be told anew. */
function toLimits(container: Container | undefined, entry: Cursor, { document }: PodSetContext) {
  const name = keyOf(entry);
  const relatedFiles = entry.parent?.step === 'requests' && getIn(entry.parent.parent, 'limits', name) !== undefined;
  if (container === undefined || container.type !== 'app' || relatedFiles) return undefined;
  const title = `Move ${name} to the limits of ${container.name === '' ? 'the container' : container.name}`;
  return moveField(document, entry, container.at, ['resources', 'limits', name], title);
}

function onlyContainer({ containers }: PodSet): Container | undefined {
  const [only, ...others] = containers.filter(({ type }) => type === 'app');
  return others.length === 0 ? only : undefined;
}

const lost = 'kubectl refuses it, other clients drop it';

const podFields: ReadonlySet<string> = new Set([
  'nodeSelector',
  'nodeName',
  'affinity',
  'tolerations',
  'toleration',
  'runtimeClassName',
  'schedulerName',
  'topologySpreadConstraints',
]);

function placementFields(map: Cursor | undefined): readonly Cursor[] {
  return entries(map).filter((field) => podFields.has(keyOf(field)));
}

/** A misspelt name is told as it is written and as it is right. */
function rightName(field: Cursor): string {
  return keyOf(field) === 'toleration' ? 'toleration (tolerations)' : keyOf(field);
}

function speaksOfGpus({ node }: Cursor): boolean {
  return someText(node, (text) => /gpu|nvidia|accelerator|google\.com\/tpu|neuron|gaudi/i.test(text));
}

/** Accelerators right under `resources`, or under `limits` and `requests` right under the container. */
function strayResources(container: Cursor, resources: Cursor | undefined): readonly Cursor[] {
  const holders = [resources, getIn(container, 'limits'), getIn(container, 'requests')];
  return holders.flatMap((holder) => entries(holder).filter(isAccelerator));
}

/** Fields of the pod beside its `spec`, and, for the built-in kinds, beside the template. */
function besideTemplate({ pod }: PodSet, { workload }: PodSetContext): readonly Cursor[] {
  const template = pod.parent;
  if (pod.step !== 'spec' || template?.step !== 'template') return [];
  const owner = template.parent;
  const builtIn = /^(apps|batch)\//.test(workload.apiVersion);
  // Kinds that are only understood by their shape may have fields of their own there.
  if (workload.byShape) return [];
  return [...placementFields(template), ...(builtIn ? placementFields(owner) : [])];
}

/** Accelerators in `limits` or `requests` right in the pod, which has no such fields. */
function besideContainers({ pod }: PodSet): readonly Cursor[] {
  if (getIn(pod, 'containers') === undefined) return [];
  return [...entries(getIn(pod, 'limits')), ...entries(getIn(pod, 'requests'))].filter(isAccelerator);
}

/** Only of real pods, which have a list of containers that are not described by the same mapping. */
function podLevelResources({ pod, containers }: PodSet): readonly Cursor[] {
  const resources = getIn(pod, 'resources');
  if (resources === undefined || getIn(pod, 'containers') === undefined) return [];
  if (containers.some((container) => container.resources?.node === resources.node)) return [];
  return [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))].filter(isAccelerator);
}

function isAccelerator(entry: Cursor): boolean {
  return acceleratorResource(keyOf(entry)) !== undefined;
}
