import type { ModelShape } from '../catalog/index.ts';
import { findSharding } from '../command/parallelism.ts';
import { plural } from '../cost/money.ts';
import { mayBeCompleted, mayBeRendered } from '../evidence/chart-pods.ts';
import { processInput, wholeGpus } from '../evidence/launch.ts';
import { isExempt, requestSpan } from '../evidence/requested-accelerators.ts';
import { hasRun } from '../evidence/run-status.ts';
import { isGroupKind } from '../model/kinds/index.ts';
import { knownModel, type ServedModel, servedModel } from '../model/served-model.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asTensorParallel } from '../rewrite/fractions.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model's attention heads cannot be split evenly over the tensor parallel size.
 *
 * ## Why
 *
 * Tensor parallelism gives each GPU the same number of attention heads. vLLM, SGLang and Text Generation Inference compare the number at startup and
 * stop with an error, so the pod keeps restarting while it holds its GPUs. Key-value heads must also be divisible, or there must be so
 * few that each GPU gets a copy.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g6.48xlarge
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=8, --max-model-len=8192]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g6.48xlarge
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: [--model=Qwen/Qwen2.5-7B-Instruct, "--tensor-parallel-size=4", --max-model-len=8192]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the model must fit on the smaller number of GPUs.
 *
 * ## When it is silent
 *
 * For models without a known shape, other servers, data-parallel attention, unknown parallel sizes, and sizes above the number of GPUs.
 *
 * ## Sources
 *
 * - [vllm-project/vllm#414](https://github.com/vllm-project/vllm/issues/414)
 * - [vllm-project/vllm#11797](https://github.com/vllm-project/vllm/issues/11797)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'error',
  container(container, context) {
    const { workload, podSet } = context;
    if (mayBeRendered(workload) || mayBeCompleted(workload) || isExempt(workload) || hasRun(workload.manifest)) return;
    const served = servedModel(container, workload).model;
    if (served === null || !engines.has(served.engine)) return;
    const named = knownModel(served);
    const tensor = served.tensor ?? (served.engine === 'tgi' ? wholeGpus(container, podSet) : null);
    if (named?.shape.kind !== 'language' || tensor === null || tensor < 2) return;
    // Attention is divided by fewer GPUs.
    if (served.engine === 'sglang' && served.data > 1) return;
    // The size itself is wrong, which tensor-parallel-mismatch reports.
    const held = wholeGpus(container, podSet);
    if (held !== null && tensor > held && !isGroupKind(workload)) return;
    const problem = indivisible(named.shape, served, tensor);
    if (problem === undefined) return;
    const { span, flag } = placeOf(container, context);
    context.report({
      message: `${shorten(served.name.slice(served.name.lastIndexOf('/') + 1), 40)} has ${problem}, which ${flag ?? `${tensor} GPUs`} cannot split evenly: the server does not start`,
      span,
      // A folder may contain another model than its name says.
      severity: named.basis === 'name' && isRepository.test(served.name) ? 'error' : 'warning',
      fixes: () => [divisible(named.shape, served, tensor, container, context)],
    });
  },
});

const engines: ReadonlySet<string> = new Set(['vllm', 'sglang', 'tgi']);
const isRepository = /^(?:hf:\/\/)?(?!(?:models?|mnt|data)\/)[\w-][\w.-]*\/[\w.-]+$/;

/** `28 attention heads`; undefined if each GPU can get the same number. */
function indivisible({ heads, kvHeads, latent }: ModelShape, { engine }: ServedModel, tensor: number) {
  if (heads > 0 && heads % tensor !== 0) return `${heads} attention heads`;
  // Text Generation Inference has other rules for them, and compressed attention has none.
  if (engine === 'tgi' || latent !== null || kvHeads === 0 || kvHeads % tensor === 0 || tensor % kvHeads === 0)
    return undefined;
  return `${kvHeads} key-value heads`;
}

function placeOf(container: Container, { document }: PodSetContext) {
  const words = findSharding(processInput(container))?.words;
  const span = words && spanOfWords(document, container, words);
  if (words === undefined || span === undefined)
    return { span: requestSpan(container.accelerators, container), flag: undefined };
  const [first, last] = words;
  return { span, flag: shorten(first === last ? first.text : `${first.text} ${last.text}`, 40) };
}

/** The largest smaller size that divides the heads. */
function divisible(
  shape: ModelShape,
  served: ServedModel,
  tensor: number,
  container: Container,
  { document, podSet }: PodSetContext,
): Fix | undefined {
  const [request, ...others] = container.accelerators;
  if (request === undefined || others.length > 0 || request.count !== tensor) return undefined;
  const size = [8, 4, 2].find((one) => one < tensor && indivisible(shape, served, one) === undefined);
  if (size === undefined) return undefined;
  const edits = asTensorParallel({ document, request, container, podSet, engine: served.engine }, size);
  return fix(`Use ${plural(size, 'GPU')} with tensor parallelism ${size}`, 'unsafe', edits);
}
