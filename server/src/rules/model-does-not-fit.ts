import { usableCardGiB } from '../catalog/index.ts';
import { formatGiB } from '../cost/money.ts';
import { type Misfit, misfitOf } from '../evidence/model-fit.ts';
import { requestSpan } from '../evidence/requested-accelerators.ts';
import { fitOnCard } from '../memory/fit.ts';
import { estimateServing } from '../memory/serving.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A model is too large for the GPUs of its server.
 *
 * ## Why
 *
 * A server loads all weights before it answers. If they exceed the memory of its GPUs, or of the part that it may use, it stops with
 * "out of memory" and starts again, and the GPUs are held and paid for all the time.
 *
 * It is an error if the weights exceed the memory of all GPUs of the container together, and a warning if weights and buffers exceed what the
 * settings leave on a GPU: tensor parallelism, a smaller format or a larger GPU helps.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-l4
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=meta-llama/Llama-3.1-70B-Instruct]
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
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-l4
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=8192]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For unknown models and GPUs; if the need is close to the memory, within the error of the estimate; with weights in the node's memory; for
 * servers that move layers there by themselves (Ollama, llama.cpp); for groups of pods; in templates; and if a variable, a file or a runtime may add
 * settings. Weights from a path may be quantized: they count with 4 bits per parameter.
 *
 * ## Sources
 *
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 * - [vllm-project/vllm#10517](https://github.com/vllm-project/vllm/issues/10517)
 */
export default defineRule({
  topic: 'memory-fit',
  severity: 'warning',
  container(container, { workload, podSet, document, report }) {
    const misfit = document.template ? undefined : misfitOf(container, workload, podSet);
    if (misfit === undefined || misfit.kind === 'cache') return;
    report({
      severity: misfit.certain ? 'error' : 'warning',
      message: `${misfit.kind === 'weights' ? ofWeights(misfit) : ofDevice(misfit)}${enough(misfit)}`,
      span: requestSpan([misfit.request], container),
    });
  },
});

function ofWeights({ estimate, leastGiB, devices: { count, eachGiB }, gpu, request }: Misfit): string {
  const total = formatGiB(leastGiB ?? estimate.weightsGiB * estimate.devices);
  const as = leastGiB === null ? ` in ${estimate.format}` : ' even with 4 bits per parameter';
  const card = gpu?.name ?? (request.form === 'mig' ? request.resource : 'largest known GPU');
  const holder = count === 1 ? `one ${card} has` : `${count} × ${card} have`;
  return `${shorten(estimate.name, 40)} needs ${total} GiB for its weights${as}, but ${holder} ${formatGiB(eachGiB * count)}: the server does not start`;
}

function ofDevice({ estimate, devices: { eachGiB }, gpu, request, fit }: Misfit): string {
  const { name, weightsGiB, overheadGiB, graphsGiB, fraction, devices } = estimate;
  const need = weightsGiB + overheadGiB - (fraction === null ? 0 : graphsGiB);
  const card = gpu?.name ?? request.resource;
  return `${shorten(name, 40)} needs ${formatGiB(need)} GiB without its cache${devices > 1 ? ' on each GPU' : ''}, but the server may use ${formatGiB(fit.limitGiB)} of ${formatGiB(eachGiB)} GiB (${card}): it does not start`;
}

/** `; 8 with tensor parallelism are enough`: the fewest of the same GPU, up to those of one machine. */
function enough({ estimate: { shape }, served, gpu, leastGiB, devices }: Misfit): string {
  const eachGiB = gpu === undefined ? null : usableCardGiB(gpu);
  if (gpu === undefined || eachGiB === null || leastGiB !== null) return '';
  const counts = [2, 4, 8].filter((count) => count > devices.count && shape.heads % count === 0);
  const found = counts.find((tensor) => {
    const { estimate } = estimateServing(
      { model: { ...served, tensor, pipeline: 1, data: 1 }, unknown: null },
      { cardGiB: eachGiB, gpus: tensor },
    );
    if (estimate === null) return false;
    const { cacheGiB, neededGiB } = estimate;
    return fitOnCard({ ...estimate, cacheGiB: 0, neededGiB: neededGiB - cacheGiB }, eachGiB).fits === true;
  });
  return found === undefined ? '' : `; ${found} with tensor parallelism are enough`;
}
