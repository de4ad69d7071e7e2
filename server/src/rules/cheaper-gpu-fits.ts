import { gpus } from '../catalog/index.ts';
import { listPrices } from '../cost/custom-prices.ts';
import { cheaperCard, pricedPod } from '../cost/levers.ts';
import { formatGiB, formatHourly } from '../cost/money.ts';
import { mayBeCompleted, mayBeRendered } from '../evidence/chart-pods.ts';
import { isLatencyCritical } from '../evidence/latency.ts';
import { isExempt, knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { estimateOn, isEnough, wholeCards } from '../memory/fit.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { isWhole, servedModel } from '../model/served-model.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { moveToCard } from '../rewrite/select-machine.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model fits on a smaller GPU of the same provider that costs much less.
 *
 * ## Why
 *
 * GPUs with more memory cost several times as much per hour. If weights, buffers and the KV cache of one request of maximum length fit on a
 * smaller one with `headroom` left, then it serves the same model, with less speed and fewer concurrent requests.
 *
 * ```yaml invalid
 * # .gpulint.yaml: {provider: aws, region: us-east-1}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p5.4xlarge
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=mistralai/Mistral-Nemo-Instruct-2407, --max-model-len=81920]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * # .gpulint.yaml: {provider: aws, region: us-east-1}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g6e.xlarge
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=mistralai/Mistral-Nemo-Instruct-2407, --max-model-len=81920]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the smaller GPU is slower, and the cluster needs such nodes.
 *
 * ## When it is silent
 *
 * For unknown models, GPUs and prices; on spot; if the config or a node pool sets the GPU; for several GPUs or pods; for servers that are
 * sized for many requests; for `latency-critical` ones; in templates; if the smaller GPU saves less than 40%; and if half of the GPU is
 * enough, which [whole-gpu-underused](whole-gpu-underused.md) reports.
 *
 * ## Sources
 *
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 */
export default defineRule({
  topic: 'cost',
  severity: 'info',
  container(container, context) {
    const { workload, podSet, options, document, report } = context;
    const found = findLargeCard(container, context);
    const priced = found && pricedPod(podSet);
    if (found === undefined || priced === undefined) return;
    const amount = context.costOf(workload).podSets.find(({ name }) => name === podSet.name)?.hourly;
    // Other prices apply than those of the list.
    if (amount === undefined || Math.abs(amount.min - priced.now.hourly) > 0.005 * priced.now.hourly) return;
    const { served, request, gpu } = found;
    const best = cheaperCard(priced, listPrices, (devices) => isEnough(served, devices, options.headroom));
    const card = gpus.get(best?.offer.gpu ?? '');
    const devices = card === undefined ? null : wholeCards(card);
    if (best === undefined || card === undefined || devices === null || best.hourly > 0.6 * priced.now.hourly) return;
    const { provider, instanceType } = best.offer;
    const estimate = estimateOn(served, devices);
    if (estimate === null || provider === null) return;
    report({
      message: `${shorten(estimate.name, 40)} needs about ${formatGiB(estimate.neededGiB)} GiB and fits one ${card.name} (${formatGiB(devices.eachGiB)} GiB, ${instanceType}): ${formatHourly(best.hourly)} instead of ${formatHourly(priced.now.hourly)} (${gpu.name})`,
      span: requestSpan([request], container),
      fixes: () => [
        fix(
          `Select the ${card.name} (${instanceType})`,
          'unsafe',
          moveToCard(document, podSet, card, { provider, instanceType }),
        ),
      ],
      saving: priced.now.hourly - best.hourly,
    });
  },
});

/** A server alone on one GPU that the pods' own selectors name, of which it needs more than half. */
function findLargeCard(container: Container, { workload, podSet, options }: PodSetContext) {
  if (mayBeRendered(workload) || mayBeCompleted(workload)) return undefined;
  if (isExempt(workload) || isLatencyCritical(workload)) return undefined;
  if (workload.podSets.length > 1 || podSet.pods.max !== 1 || options.nodePools.length > 0) return undefined;
  const [request, ...others] = knownRequests(container);
  if (request?.resource !== 'nvidia.com/gpu' || request.count !== 1 || others.length > 0) return undefined;
  if (podSet.containers.some((one) => one !== container && knownRequests(one).length > 0)) return undefined;
  const inPod = acceleratorByName(podSet.accelerators, request.resource);
  const isOwn = ['nodeSelector', 'affinity', 'instance-type'].includes(inPod?.modelFrom ?? '');
  const gpu = isOwn && inPod?.modelHint === undefined ? gpus.get(inPod?.model ?? '') : undefined;
  const devices = gpu === undefined ? null : wholeCards(gpu);
  const { model } = servedModel(container, workload);
  if (gpu === undefined || devices === null || model === null || model.tuned || !isWhole(model)) return undefined;
  if ((model.tensor ?? 1) * model.pipeline * model.data > 1 || inPod?.devices !== 1) return undefined;
  const estimate = estimateOn(model, devices);
  if (estimate?.basis !== 'name' || isEnough(model, { eachGiB: devices.eachGiB / 2, count: 1 }, options.headroom))
    return undefined;
  return { served: model, request, gpu };
}
