import { plural } from '../cost/money.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { weightsSize } from '../memory/weights.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container } from '../model/workload.ts';
import { asText, getIn, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container has far fewer CPU cores than accelerators, or too little memory to start its model server.
 *
 * ## Why
 *
 * Each accelerator needs a CPU core to feed it: for the process that launches kernels, for reading input, and for communication with other
 * devices. A CPU limit far below one core per device slows down all of them, and the most expensive part of the node waits. Most nodes with
 * accelerators have many cores per device.
 *
 * Memory is a hard limit: a server with PyTorch and CUDA takes several GiB before it has loaded any weights, and the kernel kills it at the limit.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           cpu: 1
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           cpu: 64
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * Without a CPU limit, from half a core per device on (a quarter for a single device), and for shares of a GPU. For memory: with a limit of
 * more than 4 GiB, and for models that are unknown or have fewer than about 7 billion parameters.
 *
 * ## Sources
 *
 * - [Kubernetes: CPU limits are hard](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    if (container.type === 'init' || isExempt(context.workload)) return;
    reportMemory(container, context);
    const limit = getIn(container.resources, 'limits', 'cpu');
    const cores = limit && lowerQuantity(limit).value;
    if (limit === undefined || cores === undefined || cores === null || cores <= 0) return;
    const requests = knownRequests(container);
    const [only, ...others] = requests;
    const devices = only?.form === 'whole' && others.length === 0 ? (only.count ?? 0) : 0;
    if (devices < 1 || cores * (devices === 1 ? 4 : 2) >= devices) return;
    context.report({
      message: `A limit of ${plural(cores, 'CPU core')} starves ${requestWords(requests)}: the devices wait for the cores that feed them`,
      span: spanOf(limit),
    });
  },
});

/** The memory of the server's processes is not enough for the libraries of the GPU and the loading of a large model. */
function reportMemory(container: Container, { workload, report }: PodSetContext): void {
  const limit = getIn(container.resources, 'limits', 'memory');
  const bytes = limit && lowerQuantity(limit).value;
  if (limit === undefined || bytes === undefined || bytes === null || bytes <= 0 || bytes > largestTooSmall) return;
  const requests = knownRequests(container).filter(({ resource }) => /^(?:nvidia|amd)\.com\//.test(resource));
  const name = requests.length === 0 ? undefined : servedModel(container, workload).model?.name;
  const weights = name === undefined ? undefined : weightsSize(name)?.gib;
  if (name === undefined || weights === undefined || weights < largeGiB) return;
  report({
    message: `A memory limit of ${shorten(asText(limit) ?? '', 20)} is too small to start a server of ${shorten(name.slice(name.lastIndexOf('/') + 1), 40)}: the kernel kills it while it loads the model`,
    span: spanOf(limit),
  });
}

/** Assumption: the processes of a server with PyTorch and CUDA take 4 GiB or more before the first weights are loaded. */
const largestTooSmall = 4 * 2 ** 30;

/** Models of about 7 billion parameters and more. */
const largeGiB = 12;
