import { countedResource, isMemoryOfGpus, meantResource, replacedResource } from '../catalog/resource-spelling.ts';
import { lacksLimitOf } from '../evidence/missing-limit.ts';
import { placesAt } from '../evidence/written.ts';
import { keyProblem } from '../model/api-syntax.ts';
import { isListedContainer } from '../model/pod.ts';
import { isValues } from '../model/values.ts';
import { fix } from '../rewrite/fix.ts';
import { meantName, renameResource, writtenResources } from '../rewrite/rename-resource.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isTemplated,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container requests an accelerator by a name that no device plugin offers.
 *
 * ## Why
 *
 * The API server accepts any well-formed resource name. No node offers `nvidia.com/gpus` or `nvidia/gpu`, so the pod stays Pending. The
 * number is the value: `nvidia.com/gpu-all` does not exist, and `nvidia.com/gpu.count` is a label, as is `nvidia.com/gpu.memory`. The API server rejects a name without a domain, such as `gpu`, a domain with uppercase letters, and a misspelled name that is in `requests` but
 * not in `limits`. Only old device plugins offer a former name, such as
 * `aws.amazon.com/neurondevice`; such a name is **information**.
 *
 * Kinds with fields of their own for resources take no such names: a service of a DynamoGraphDeployment (v1alpha1) has `gpu: "1"`, and kubectl rejects
 * `nvidia.com/gpu` there as an unknown field.
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
 *       resources:
 *         limits:
 *           nvidia.com/gpus: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
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
 * Safe for a misspelled name: the pod could not run before. Unsafe for plain `gpu`, which names no vendor, for a former name, which the
 * cluster's plugin may still offer, and for a name that differs in a letter from the known one, such as `nvidia.com/gpucore`, which another plugin may
 * offer.
 *
 * ## When it is silent
 *
 * For names that do not resemble a known one (your own device plugin may offer them), and in custom resources that define a plain `gpu`.
 *
 * ## Sources
 *
 * - [ai-dynamo/dynamo#1812](https://github.com/ai-dynamo/dynamo/pull/1812)
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [kubernetes/kubernetes#44438](https://github.com/kubernetes/kubernetes/issues/44438)
 * - [AWS Neuron: 'neurondevice' is no longer supported](https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/announcements/neuron2.x/announce-no-support-device-version.html)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  manifest({ kind, apiVersion, root }, { report, document }) {
    if (apiVersion !== 'nvidia.com/v1alpha1' || !dynamoKinds.has(kind)) return;
    for (const resources of ['spec.resources', 'spec.services.*.resources'].flatMap((path) => placesAt(root, path))) {
      const written = ['limits', 'requests'].flatMap((part) => entries(getIn(resources, part)));
      const [first, ...others] = written.filter((entry) => keyOf(entry).includes('/') && !isUnseen(entry));
      if (first === undefined) continue;
      const name = keyOf(first);
      const isGpu = name === 'nvidia.com/gpu';
      const all = [first, ...others].filter((entry) => keyOf(entry) === name);
      report({
        severity: 'error',
        message: `Resources of a Dynamo service have no field ${shorten(name, 40)}: kubectl rejects it; with other clients, the pod starts without it; use ${isGpu ? 'gpu' : 'gpu and gpuType, or custom'}`,
        span: keySpanOf(first),
        fixes: () =>
          isGpu && !written.some((entry) => keyOf(entry) === 'gpu')
            ? [fix('Rename it to gpu', 'unsafe', ...all.map((entry) => renameKey(document, entry, 'gpu')))]
            : [],
      });
    }
  },
  container(container, context) {
    if (isValues(context.workload)) checkChartKeys(container.at, context);
    const checked = new Set<string>();
    for (const entry of writtenResources(container)) {
      const name = keyOf(entry);
      if (checked.has(name)) continue;
      checked.add(name);
      if (/^gpus?$/i.test(name) && isListedContainer(container.at)) {
        const mayBeOwn = context.workload.byShape;
        context.report({
          severity: mayBeOwn ? 'warning' : 'error',
          message: `Resource ${name} has no domain: the API server rejects the pod${mayBeOwn ? ', unless the operator translates it' : ''}; NVIDIA GPUs are nvidia.com/gpu`,
          span: keySpanOf(entry),
          fixes: () => [renameResource(container, name, 'nvidia.com/gpu', 'unsafe', context.document)],
        });
        continue;
      }
      if (isMemoryOfGpus(name, asText(entry) ?? '')) {
        context.report({
          message: `No device plugin offers ${name}: GPU memory is a node label, not a resource, and the pod stays Pending`,
          span: keySpanOf(entry),
        });
        continue;
      }
      const replaced = replacedResource(name);
      if (replaced !== undefined) {
        context.report({
          ...(!replaced.isGone && { severity: 'info' }),
          message: `Since ${replaced.since}, device plugins offer ${replaced.now} instead of ${name}: the pod ${replaced.isGone ? 'stays' : 'may stay'} Pending`,
          span: keySpanOf(entry),
          fixes: () => [
            renameResource(container, name, replaced.now, replaced.isGone ? 'safe' : 'unsafe', context.document),
          ],
        });
        continue;
      }
      const intended = meantResource(name) ?? countedResource(name);
      if (intended === undefined) continue;
      const isInvalid = !name.includes('/') || keyProblem(name) !== undefined;
      const lacksLimit = !isOfSpawner(entry) && lacksLimitOf(name, container, context);
      const consequence = isInvalid
        ? 'The API server rejects the pod'
        : lacksLimit
          ? 'Without a limit, the API server rejects the pod'
          : 'The pod stays Pending';
      context.report({
        severity: (isInvalid && isListedContainer(container.at)) || lacksLimit ? 'error' : 'warning',
        message: `No device plugin offers ${name}; did you mean ${intended}? ${consequence}`,
        span: keySpanOf(entry),
        // Intel's newer driver has another name.
        fixes: () => [
          renameResource(container, name, intended, intended.endsWith('/i915') ? 'unsafe' : 'safe', context.document),
        ],
      });
    }
  },
});

/** Whether an entry is under a name of KubeSpawner or its chart, which have one for the limits of other resources. */
function isOfSpawner({ parent }: Cursor): boolean {
  return [parent, parent?.parent].some((above) => /^extra_?resource/i.test(String(above?.step)));
}

/** The names that vLLM's production stack and Ollama's chart have under keys of their own. */
function checkChartKeys(block: Cursor, { document, report }: PodSetContext): void {
  for (const at of [getIn(block, 'requestGPUType'), getIn(block, 'ollama', 'gpu', 'nvidiaResource')]) {
    const name = at === undefined || isTemplated(at) ? undefined : asText(at);
    const intended = name === undefined ? undefined : meantName(name);
    if (at === undefined || name === undefined || intended === undefined) continue;
    report({
      message: `No device plugin offers ${shorten(name, 40)}; did you mean ${intended}? The pod stays Pending`,
      span: spanOf(at),
      fixes: () => [fix(`Rename to ${intended}`, 'unsafe', replaceScalar(document, at, intended))],
    });
  }
}

/** Their resources have the fields cpu, memory, gpu, gpuType and custom: https://github.com/ai-dynamo/dynamo/blob/main/deploy/operator/api (v1alpha1) */
const dynamoKinds: ReadonlySet<string> = new Set(['DynamoGraphDeployment', 'DynamoComponentDeployment']);
