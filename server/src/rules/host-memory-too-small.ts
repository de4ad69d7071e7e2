import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import { weightsSize } from '../memory/weights.ts';
import { parametersStated } from '../model/model-params.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { servedModel } from '../model/served-model.ts';
import { asText, getIn, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The memory limit of a container is too small to start its model server.
 *
 * ## Why
 *
 * `memory` is the memory of the node, not of the GPU. A server with PyTorch and CUDA takes several GiB of it before it has loaded any
 * weights, and the weights pass through it. The kernel kills a process that exceeds the limit, so the server never becomes ready while it
 * holds its GPU.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen2.5-14B-Instruct"]
 *       resources:
 *         limits:
 *           memory: 4Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen2.5-14B-Instruct"]
 *       resources:
 *         limits:
 *           memory: 32Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * With a limit of more than 4 GiB, and for models that are unknown or have fewer than about 7 billion parameters.
 *
 * ## Sources
 *
 * - [Kubernetes: memory limits](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run)
 * - [vLLM: a container killed at its memory limit while it loads a model](https://github.com/vllm-project/vllm/issues/28923)
 */
export default defineRule({
  topic: 'memory-fit',
  severity: 'warning',
  container(container, { workload, podSet, options, report }) {
    if (container.type === 'init' || isExempt(workload)) return;
    const limit = getIn(container.resources, 'limits', 'memory');
    const bytes = limit && lowerQuantity(limit).value;
    if (limit === undefined || bytes === undefined || bytes === null || bytes <= 0 || bytes > largestTooSmall) return;
    const requests = knownRequests(container).filter(({ resource }) => /^(?:nvidia|amd)\.com\//.test(resource));
    const served = requests.length === 0 ? null : servedModel(container, workload).model;
    const name = served?.open.length === 0 ? served.name : undefined;
    const weights =
      name === undefined
        ? undefined
        : weightsSize(name, 2, parametersStated(workload.manifest, podSet, options, name))?.gib;
    if (name === undefined || weights === undefined || weights < largeGiB) return;
    report({
      message: `A memory limit of ${shorten(asText(limit) ?? '', 20)} is too small for ${shorten(name.slice(name.lastIndexOf('/') + 1), 40)}: the kernel kills the server while it loads the model`,
      span: spanOf(limit),
    });
  },
});

/** Assumption: the processes of a server with PyTorch and CUDA take 4 GiB or more before the first weights are loaded. */
const largestTooSmall = 4 * 2 ** 30;

/** Models of about 7 billion parameters and more. */
const largeGiB = 12;
