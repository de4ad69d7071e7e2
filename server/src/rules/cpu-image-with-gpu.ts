import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container with a GPU runs an image built for CPUs.
 *
 * ## Why
 *
 * An image with `cpu` in its name or tag contains libraries without CUDA or ROCm. It runs on CPU cores, while the container's GPU costs money
 * and stays idle.
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
 * For names that also mention a GPU, templates, infrastructure, and accelerators that are not GPUs: their frameworks are often CPU builds
 * with a plugin.
 *
 * ## Sources
 *
 * - [PyTorch: CPU and GPU builds](https://pytorch.org/get-started/locally/)
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
    if (requests.length === 0 || !isForCpus.test(last) || mentionsGpus.test(name)) return;
    context.report({
      message: `${shorten(last, 50)} is built for CPUs: it leaves the container's ${requestWords(requests)} idle`,
      span: spanOf(image.at),
    });
  },
});

const isForCpus = /(?:^|[-_.:])cpu(?:$|[-_.:])/i;

/** Anywhere in the name, because some images are built for both. */
const mentionsGpus = /gpu|cuda|rocm|cu\d\d|hpu|tpu|xpu|neuron|gaudi|habana/i;
