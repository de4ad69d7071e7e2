import { isExempt, knownRequests, requestWords } from '../evidence/requests.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container holds a GPU and runs an image that is built for CPUs.
 *
 * ## Why
 *
 * An image whose name or tag says `-cpu` has libraries without CUDA or ROCm. It runs, on the cores, and the GPU beside it is paid for and
 * does nothing.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4-cpu
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4-cuda
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For names that speak of a GPU as well, templates, infrastructure, and accelerators that are no GPUs: their frameworks come as builds for
 * CPUs with a plugin.
 *
 * ## Sources
 *
 * - [PyTorch: builds for CPU and for GPUs](https://pytorch.org/get-started/locally/)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const { image } = container;
    if (image === undefined || isTemplated(image.at) || isExempt(context.workload)) return;
    const requests = knownRequests(container).filter(({ resource }) => /^(?:nvidia|amd)\.com\//.test(resource));
    const name = image.value.split('@')[0] ?? '';
    const last = name.slice(name.lastIndexOf('/') + 1);
    if (requests.length === 0 || !isForCpus.test(last) || speaksOfGpus.test(name)) return;
    context.report({
      message: `${shorten(last, 50)} is built for CPUs: it leaves the ${requestWords(requests)} of its container idle`,
      span: spanOf(image.at),
    });
  },
});

const isForCpus = /(?:^|[-_.:])cpu(?:$|[-_.:])/i;

/** Anywhere in the name: also what is built for both. */
const speaksOfGpus = /gpu|cuda|rocm|cu\d\d|hpu|tpu|xpu|neuron|gaudi|habana/i;
