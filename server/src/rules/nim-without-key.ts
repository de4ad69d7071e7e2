import { gpuProgram } from '../evidence/gpu-programs.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { groupOf } from '../model/manifest.ts';
import { isListedContainer } from '../model/pod.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asText, getIn, isIncomplete, isTemplated, isUnseen, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A NIM container has no key to download its model, or its pod has no login to pull the image.
 *
 * ## Why
 *
 * NVIDIA's NIM images contain the server, not the model. At startup, the server downloads a model profile from NGC and authenticates with
 * NGC_API_KEY. Without the key and without a stored model it exits, and its pod keeps restarting while it holds its GPUs.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   imagePullSecrets: [{name: ngc}]
 *   containers:
 *     - name: nim
 *       image: nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   imagePullSecrets: [{name: ngc}]
 *   containers:
 *     - name: nim
 *       image: nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4
 *       env:
 *         - name: NGC_API_KEY
 *           valueFrom:
 *             secretKeyRef:
 *               name: ngc-api
 *               key: NGC_API_KEY
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * The API server rejects a NIMService without `authSecret`, which is an error. A pod without `imagePullSecrets` and without a ServiceAccount of its
 * own is information: NGC also asks for a login to pull the image.
 *
 * ## When it is silent
 *
 * With any variable that names a key, a token or another source of the model, with `envFrom`, with a command, with init containers, and with a
 * volume that outlives the pod and may hold the model. For patches, definitions, values of charts and operators that add the key.
 *
 * ## Sources
 *
 * - [NVIDIA NIM for LLMs: configuration](https://docs.nvidia.com/nim/large-language-models/latest/configuration.html)
 * - [NVIDIA: managing NIM services](https://docs.nvidia.com/nim-operator/2.0.1/service.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  manifest({ root, kind, apiVersion, isPatch }, { report }) {
    if (kind !== 'NIMService' || groupOf(apiVersion) !== 'apps.nvidia.com' || isPatch === true) return;
    const spec = getIn(root, 'spec');
    // Without an image it is a patch, and a source has its own secret.
    if (spec === undefined || isIncomplete(spec) || getIn(spec, 'image') === undefined) return;
    if (getIn(spec, 'authSecret') !== undefined || getIn(spec, 'source') !== undefined) return;
    report({
      message:
        'spec has no authSecret, which the NIMService requires for NGC_API_KEY: the API server rejects the object',
      span: keySpanOf(spec),
      // The schema of the NIM operator.
      severity: 'error',
    });
  },
  container(container, { podSet, workload, crossReferences, report }) {
    const { image, at } = container;
    if (workload.partial || image === undefined || container.type !== 'app' || !isListedContainer(at)) return;
    if (!image.value.startsWith('nvcr.io/nim/')) return;
    if (
      isTemplated(image.at) ||
      isIncomplete(at) ||
      !(usesAccelerators(container, podSet) || gpuProgram(container) !== undefined)
    )
      return;
    const isStored = asText(getIn(at, 'imagePullPolicy')) === 'Never';
    if (!isStored && isWholePod(podSet, workload) && !mayHaveLogin(podSet) && !crossReferences.mayBePatch())
      report({
        severity: 'info',
        message:
          'nvcr.io requires a login to pull a NIM image, but the pod has no imagePullSecrets: without one on the node, the pull fails',
        span: spanOf(image.at),
      });
    if (mayHaveModel(container, podSet)) return;
    report({
      message:
        'NIM needs NGC_API_KEY to download its model, but the container does not set it: the server does not start',
      span: spanOf(image.at),
    });
  },
});

/** Whether the pod has a login for a registry: its own, or one of its ServiceAccount. */
function mayHaveLogin({ pod }: PodSet): boolean {
  const fields = ['imagePullSecrets', 'serviceAccountName', 'serviceAccount'];
  return isIncomplete(pod) || isUnseen(pod) || fields.some((field) => getIn(pod, field) !== undefined);
}

/** Whether the container gets a key, or its model from elsewhere. */
function mayHaveModel({ at, env, command, volumeMounts }: Container, { containers, volumes, pod }: PodSet): boolean {
  if (command.length > 0 || getIn(at, 'envFrom') !== undefined || isIncomplete(getIn(at, 'env'))) return true;
  if (containers.some(({ type }) => type === 'init') || isIncomplete(pod)) return true;
  if (
    env.some(({ name }) =>
      /[{$]|^$|^NGC_|KEY$|TOKEN|^NIM_(?:MODEL|OFFLINE|REPOSITORY|DISABLE|FT_MODEL)|^AWS_/.test(name),
    )
  )
    return true;
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return volumes.some(({ name, source }) => mounted.has(name) && !passing.has(source)) || claimed(mounted, volumes);
}

/** Volumes that hold nothing large when the pod starts. */
const passing: ReadonlySet<string> = new Set(['emptyDir', 'configMap', 'secret', 'downwardAPI', 'projected']);

/** A mount without a volume in the pod is a claim of a StatefulSet. */
function claimed(mounted: ReadonlySet<string>, volumes: PodSet['volumes']): boolean {
  return [...mounted].some((name) => !volumes.some((volume) => volume.name === name));
}
