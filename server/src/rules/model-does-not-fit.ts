import { usableCardGiB } from '../catalog/index.ts';
import { formatGiB, formatNumber, plural } from '../cost/money.ts';
import { mayBeRendered } from '../evidence/chart-pods.ts';
import { type PartlyOnCpu, partlyOnCpu } from '../evidence/layers-on-cpu.ts';
import { leastBits, type Misfit, misfitOf } from '../evidence/model-fit.ts';
import { requestSpan } from '../evidence/requested-accelerators.ts';
import { type ShareMisfit, shareMisfitOf } from '../evidence/share-fit.ts';
import { type TrainingMisfit, trainingMisfitOf } from '../evidence/training-fit.ts';
import { estimateOn, fitOnCard } from '../memory/fit.ts';
import type { TrainingLever } from '../memory/training-levers.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A model is too large for the GPUs of its server, or for those on which it is trained.
 *
 * ## Why
 *
 * A server loads all weights before it answers. If they exceed the memory of its GPUs, or of the part that it may use, it fails with "out
 * of memory" and restarts, and holds its GPUs all the while.
 *
 * It is an error if the weights exceed the memory of all GPUs of the container together by more than the error of the estimate, and a warning if weights and buffers exceed what the
 * settings leave on a GPU: tensor parallelism, a smaller format or a larger GPU helps.
 *
 * Pods that share a GPU request a part of its memory: `nvidia.com/gpumem` of HAMi, `gpu-memory` and `gpu-fraction` of KAI and Run:ai. It is
 * a warning if the weights exceed that part. HAMi lets the server run out of memory; KAI only does the accounting, so the server uses
 * memory that belongs to other pods. KubeAI's built-in resource profiles give whole GPUs.
 *
 * Training also keeps gradients and optimizer states: with AdamW, weights of 16 bits take four times their size. It is a warning if these alone
 * exceed the GPU's memory by more than a quarter: sharded states (FSDP, ZeRO), 8-bit states, LoRA or QLoRA need less. The hover lists what each
 * saves, as well as gradient checkpointing.
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
 * For unknown models; for unknown GPUs, unless only a few cards with more than 96 GiB have room (information); if the need is close to the
 * memory, within the error of the estimate; with weights in the node's memory; for servers that move layers there by themselves (llama.cpp
 * unless a flag puts all layers on the GPU; information for Ollama); for groups of pods; in templates; and if a variable, a file or a runtime
 * may add settings. In the values of a chart other than app-template, only weights that are too large whatever the template adds count. Weights
 * from a path may be quantized: they count at 4 bits per parameter, with `--quantization fp8` at 8. For training with offload, and for training
 * by any program other than the known trainers (Axolotl, LLaMA-Factory, TRL, Megatron-LM and the like) with all settings in the manifest: other
 * scripts may freeze or shard weights in their code. For Neuron devices, only weights and the longest request are compared, and only with whole
 * devices of a known model.
 *
 * ## Sources
 *
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 * - [Transformers: memory of training](https://huggingface.co/docs/transformers/model_memory_anatomy)
 * - [vllm-project/vllm#10517](https://github.com/vllm-project/vllm/issues/10517)
 */
export default defineRule({
  topic: 'memory-fit',
  severity: 'warning',
  container(container, { workload, podSet, report }) {
    if (mayBeRendered(workload)) return;
    const training = trainingMisfitOf(container, workload, podSet);
    if (training !== undefined)
      report({ message: ofTraining(training), span: requestSpan(container.accelerators, container) });
    const ofShare = shareMisfitOf(container, workload, podSet);
    if (ofShare !== undefined) report({ message: inShare(ofShare), span: ofShare.share.span });
    const partly = partlyOnCpu(container, workload, podSet);
    if (partly !== undefined)
      report({
        severity: 'info',
        message: onCpu(partly),
        span: requestSpan([partly.request], container),
      });
    const misfit = misfitOf(container, workload, podSet);
    if (misfit === undefined || misfit.kind === 'cache') return;
    if (misfit.cards !== undefined) {
      report({
        severity: 'info',
        message: onFewCards(misfit, misfit.cards),
        span: requestSpan([misfit.request], container),
      });
      return;
    }
    const problem = misfit.kind === 'weights' ? ofWeights(misfit) : ofDevice(misfit);
    const advice = enough(misfit);
    report({
      severity: misfit.certain ? 'error' : 'warning',
      message: problem.length + advice.length > maxLength ? problem : `${problem}${advice}`,
      span: requestSpan([misfit.request], container),
    });
  },
});

/** Of a message, with the advice after its problem. */
const maxLength = 160;

/** `; QLoRA needs 7 GiB, full sharding 15 GiB`: at most two changes after which it fits. */
function ofTraining({ run, estimate: { fixedGiB }, gpu, haveGiB, levers }: TrainingMisfit): string {
  const less = levers.flatMap(({ kind, totalGiB }, index) => {
    const name = methods.get(kind);
    return name === undefined ? [] : [`${name}${index === 0 ? ' needs' : ''} ${formatNumber(Math.ceil(totalGiB))} GiB`];
  });
  const first = less.slice(0, 2).join(', ');
  const model = shorten(run.name.slice(run.name.lastIndexOf('/') + 1), 30);
  return `Training ${model} needs ${formatNumber(Math.floor(fixedGiB))} GiB per GPU before activations, but the ${gpu.name} has ${formatGiB(haveGiB)} GiB: it runs out of memory${first === '' ? '' : `; ${first}`}`;
}

const methods: ReadonlyMap<TrainingLever['kind'], string> = new Map([
  ['shard', 'full sharding'],
  ['lora', 'LoRA'],
  ['qlora', 'QLoRA'],
  ['quantize', '4-bit weights'],
  ['small-states', '8-bit states'],
]);

/** A share that only a scheduler counts is no limit for the server. */
function inShare({ estimate: { name }, weightsGiB, format, share }: ShareMisfit): string {
  const as = format === null ? ' even at 4 bits per parameter' : ` in ${format}`;
  const each = share.count > 1 ? ' on each GPU' : '';
  const then = share.limited ? 'the server does not start' : 'the server uses memory that belongs to other pods';
  return `${share.name} gives ${formatGiB(share.eachGiB)} GiB, but the weights of ${shorten(name.slice(name.lastIndexOf('/') + 1), 32)} need ${formatGiB(weightsGiB)} GiB${as}${each}: ${then}`;
}

function ofWeights({ estimate, leastGiB, devices: { count, eachGiB }, gpu, request, served }: Misfit): string {
  const total = formatGiB(leastGiB ?? estimate.weightsGiB * estimate.devices);
  const as = leastGiB === null ? ` in ${estimate.format}` : ` even at ${leastBits(served)} bits per parameter`;
  const card = gpu?.name ?? (request.form === 'mig' ? request.resource : 'largest known GPU');
  const holder = count === 1 ? `one ${card} has` : `${count} × ${card} have`;
  return `${shorten(estimate.name, 40)} needs ${total} GiB for weights${as}, but ${holder} ${formatGiB(eachGiB * count)} GiB: the server does not start`;
}

function onCpu({ name, weightsGiB, devices: { count, eachGiB }, gpu }: PartlyOnCpu): string {
  const holder = count === 1 ? `one ${gpu.name} has` : `${count} × ${gpu.name} have`;
  return `${shorten(name, 40)} needs ${formatGiB(weightsGiB)} GiB for weights, but ${holder} ${formatGiB(eachGiB * count)} GiB: Ollama runs the other layers on the CPU, much slower`;
}

function onFewCards({ estimate, devices: { count } }: Misfit, cards: readonly string[]): string {
  const each = estimate.weightsGiB * estimate.devices;
  const rest = cards.length > 2 ? ` and ${cards.length - 2} more cards` : '';
  return `${shorten(estimate.name, 40)} needs ${formatGiB(each)} GiB for weights in ${estimate.format}: with ${plural(count, 'GPU')}, it starts only on ${cards.slice(0, 2).join(', ')}${rest}`;
}

function ofDevice({ estimate, devices: { eachGiB }, gpu, request, fit }: Misfit): string {
  const { name, weightsGiB, cacheGiB, overheadGiB, graphsGiB, fraction, devices, context } = estimate;
  if (gpu?.vendor === 'aws')
    return `${shorten(name, 30)} needs ${formatGiB(weightsGiB + cacheGiB)} GiB per device for weights and a request of ${formatNumber(context)} tokens, but each ${gpu.name} has ${formatGiB(eachGiB)} GiB: the server does not start`;
  const need = weightsGiB + overheadGiB - (fraction === null ? 0 : graphsGiB);
  const card = gpu?.name ?? request.resource;
  return `${shorten(name, 40)} needs ${formatGiB(need)} GiB${devices > 1 ? ' per GPU' : ''} without its KV cache, but the server may use ${formatGiB(fit.limitGiB)} of ${formatGiB(eachGiB)} GiB (${card}): it does not start`;
}

/** `; 8 GPUs with tensor parallelism are enough`: the fewest of the same GPU, up to those of one machine. */
function enough({ estimate: { shape }, served, gpu, leastGiB, devices }: Misfit): string {
  const eachGiB = gpu === undefined ? null : usableCardGiB(gpu);
  // The machines have other numbers of Neuron devices, whose cores share the model.
  if (gpu === undefined || gpu.vendor === 'aws' || eachGiB === null || leastGiB !== null) return '';
  const split = served.engine === 'llama-cpp' ? '' : ' with tensor parallelism';
  const counts = [2, 4, 8].filter((count) => count > devices.count && shape.heads % count === 0);
  const found = counts.find((tensor) => {
    const estimate = estimateOn({ ...served, tensor, pipeline: 1, data: 1 }, { eachGiB, count: tensor, card: gpu.id });
    if (estimate === null) return false;
    const { cacheGiB, neededGiB } = estimate;
    return fitOnCard({ ...estimate, cacheGiB: 0, neededGiB: neededGiB - cacheGiB }, eachGiB).fits === true;
  });
  return found === undefined ? '' : `; ${found} GPUs${split} are enough`;
}
