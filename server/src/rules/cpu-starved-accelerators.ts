import { wordSet } from '../catalog/word-patterns.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { doesNothing } from '../command/waiting.ts';
import { plural } from '../cost/money.ts';
import { cpuStepOf } from '../evidence/cpu-steps.ts';
import { dataLoader } from '../evidence/data-loaders.ts';
import { mayRunMore } from '../evidence/launch.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { threadCount } from '../evidence/thread-counts.ts';
import { isTrial } from '../evidence/volume-lifetime.ts';
import { kindOf } from '../model/kinds/index.ts';
import { processInput, useOf } from '../model/process-input.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { Container } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container has far fewer CPU cores than accelerators, or than processes that load data.
 *
 * ## Why
 *
 * Each accelerator needs a CPU core to feed it: for the process that launches kernels, for reading input, and for communication with other
 * devices. A CPU limit far below one core per device slows down all of them, and the most expensive part of the node waits. Most nodes with
 * accelerators have many cores per device. Each process of a trainer also starts workers that load data: six or more per core mostly wait. So do four
 * or more threads per core of OpenMP (`OMP_NUM_THREADS`) and GROMACS (`-ntomp`).
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
 * Without a CPU limit, with half a core or more per device (a quarter for a single device), for shares of a GPU, for commands that only print,
 * list devices or wait, and for steps that need only the CPU (see cpu-step-holds-gpu). The finding is information for one core or less for each
 * of several devices, for training with less than a core, and for a model server with half a core or less.
 *
 * ## Sources
 *
 * - [Kubernetes: CPU limits are hard](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    if (container.type === 'init' || isExempt(context.workload)) return;
    const limit = getIn(container.resources, 'limits', 'cpu');
    const cores = limit && lowerQuantity(limit).value;
    if (limit === undefined || cores === undefined || cores === null || cores <= 0) return;
    const requests = knownRequests(container);
    const [only, ...others] = requests;
    const devices = only?.form === 'whole' && others.length === 0 ? (only.count ?? 0) : 0;
    if (devices < 1) return;
    const isSlow =
      devices === 1 &&
      ((cores < 1 && hasRole(context.workload, 'training') && !isTrial(context.workload)) ||
        (cores <= 0.5 && modelServers.has(useOf(container).program ?? '')));
    if (cores * (devices === 1 ? 4 : 2) >= devices && !isSlow) {
      if (reportLoaders(container, cores, devices, context) || reportThreads(container, cores, context)) return;
      if (devices > 1 && cores <= devices) reportTight(container, { cores, devices, limit }, context);
      return;
    }
    if (doesNothing(processInput(container)) || cpuStepOf(container) !== undefined) return;
    context.report({
      // With less than a core, the process that trains waits in each period, but not all the time.
      severity: isSlow && cores * 4 >= devices ? 'info' : 'warning',
      message: `A limit of ${plural(cores, 'CPU core')} starves ${requestWords(requests)}: ${devices === 1 ? 'the device waits' : 'the devices wait'} for the CPU`,
      span: spanOf(limit),
    });
  },
});

/** Servers that prepare requests and results on the CPU. */
const modelServers = wordSet(
  'vllm sglang lmdeploy text-generation-launcher trtllm-serve tritonserver torchserve huggingfaceserver nim',
  'ollama llama-server comfyui stable-diffusion-webui text-embeddings-router',
);

/** Threads beyond the limit share its time: the kernel stops all of them for most of each period. */
function reportThreads(container: Container, cores: number, { document, report }: PodSetContext): boolean {
  const threads = mayRunMore(container) ? undefined : threadCount(container);
  if (threads === undefined || threads.count < 8 || threads.count < 4 * cores) return false;
  const { place, text, count } = threads;
  const span = 'value' in place ? spanOf(place.value) : spanOfWords(document, container, place.words);
  if (span === undefined) return false;
  report({
    message: `${text} starts ${count} threads, but the CPU limit is ${plural(cores, 'core')}: the GPU waits while they share the cores`,
    span,
  });
  return true;
}

/** Each process of a trainer starts its own workers; PyTorch warns of more than the cores that it sees. */
function reportLoaders(container: Container, cores: number, devices: number, context: PodSetContext): boolean {
  const { workload, document, report } = context;
  // Ray counts other workers, and one process may use several devices.
  if (!hasRole(workload, 'training') || kindOf(workload).rayCluster !== undefined || mayRunMore(container))
    return false;
  const loader = dataLoader(container);
  if (/\bray\b/.test([container.image, ...container.command, ...container.args].map((one) => one?.value).join(' ')))
    return false;
  if (loader === undefined || loader.workers < 4) return false;
  const launched = findLocalProcesses(processInput(container)).some(({ kind }) => kind === 'launch');
  const all = loader.workers * (launched ? devices : 1);
  if (all < 6 * cores) return false;
  const { word, valueWord, written } = loader.flag;
  const span = spanOfWords(document, container, [word, valueWord ?? word]);
  if (span === undefined) return false;
  report({
    message: `${shorten(written, 30)} ${loader.workers} starts ${all} processes that load data, but the CPU limit is ${plural(cores, 'core')}: the GPU waits for data`,
    span,
  });
  return true;
}

interface Cores {
  readonly cores: number;
  readonly devices: number;
  readonly limit: Cursor;
}

/** The process of each GPU needs a core for itself, and others for its loaders of data. */
function reportTight(
  container: Container,
  { cores, devices, limit }: Cores,
  { workload, report }: PodSetContext,
): void {
  if (!hasRole(workload, 'training') || isTrial(workload) || kindOf(workload).rayCluster !== undefined) return;
  if (doesNothing(processInput(container)) || cpuStepOf(container) !== undefined) return;
  report({
    severity: 'info',
    message: `A limit of ${plural(cores, 'CPU core')} for ${requestWords(knownRequests(container))} is ${cores === devices ? 'one core' : 'less than a core'} per GPU: loading data can hold up all of them`,
    span: spanOf(limit),
  });
}
