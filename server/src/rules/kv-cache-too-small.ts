import { formatGiB, formatNumber } from '../cost/money.ts';
import { mayBeRendered } from '../evidence/chart-pods.ts';
import { type Misfit, misfitOf } from '../evidence/model-fit.ts';
import { requestSpan } from '../evidence/requested-accelerators.ts';
import { estimateOn, fitOnCard, longestContext } from '../memory/fit.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { setServerFlag } from '../rewrite/server-flag.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The GPU has no room for the KV cache of the longest request.
 *
 * ## Why
 *
 * vLLM keeps keys and values of all tokens of a request in GPU memory. At startup, it compares what weights and buffers leave free with the
 * KV cache of one request of `--max-model-len` tokens, by default the maximum of the model, and stops if that does not fit. The pod keeps
 * restarting while it holds its GPU.
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
 *       args: [--model=meta-llama/Llama-3.1-8B-Instruct, "--max-model-len=131072"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
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
 *       args: [--model=meta-llama/Llama-3.1-8B-Instruct, "--max-model-len=21504"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the server rejects longer requests.
 *
 * ## When it is silent
 *
 * For unknown models and GPUs; if the need is close to the memory, within the error of the estimate; if vLLM chooses the length
 * (`--max-model-len=-1`); for copies of a model whose own length would have to be less than a quarter of the model's; for other servers, which reject long requests instead, and llama.cpp, unless flags set both its context and its layers; in templates; and if a variable, a file or a runtime may add settings.
 *
 * ## Sources
 *
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 * - [vllm-project/vllm#2418](https://github.com/vllm-project/vllm/issues/2418)
 */
export default defineRule({
  topic: 'memory-fit',
  severity: 'warning',
  container(container, { workload, podSet, document, report }) {
    const misfit = mayBeRendered(workload) ? undefined : misfitOf(container, workload, podSet);
    if (misfit?.kind !== 'cache') return;
    const { estimate, fit } = misfit;
    const { context, cacheGiB, name, devices } = estimate;
    if (misfit.served.engine === 'llama-cpp') {
      const leftGiB = (misfit.devices.eachGiB * misfit.devices.count) / devices - estimate.weightsGiB;
      report({
        message: `A context of ${formatNumber(context)} tokens needs ${formatGiB(cacheGiB)} GiB of KV cache${devices > 1 ? ' per GPU' : ''}, but ${shorten(name.slice(name.lastIndexOf('/') + 1), 40)} leaves ${formatGiB(Math.max(0, leftGiB))} GiB: llama.cpp does not start`,
        span: requestSpan([misfit.request], container),
      });
      return;
    }
    const most = longest(misfit);
    const upTo = most === undefined ? '' : `; about ${formatNumber(most)} tokens fit`;
    report({
      message: `A request of ${formatNumber(context)} tokens needs ${formatGiB(cacheGiB)} GiB of KV cache${devices > 1 ? ' per GPU' : ''}, but ${shorten(name, 40)} leaves ${formatGiB(Math.max(0, fit.leftGiB))} GiB: vLLM does not start${upTo}`,
      span: requestSpan([misfit.request], container),
      fixes: () => [most === undefined ? undefined : shorter(document, container, most)],
    });
  },
});

/** The longest request that fits by more than the errors of the estimate, in whole 1,024 tokens. */
function longest({ estimate, devices, served }: Misfit): number | undefined {
  const isHeld = (kilo: number) => {
    const shorter = estimateOn({ ...served, context: kilo * 1024 }, devices);
    return shorter !== null && fitOnCard(shorter, devices.eachGiB).fits === true;
  };
  let held = 0;
  let tooLong = Math.floor((longestContext(estimate, devices.eachGiB) ?? 0) / 1024) + 1;
  while (tooLong - held > 1) {
    const middle = Math.floor((held + tooLong) / 2);
    if (isHeld(middle)) held = middle;
    else tooLong = middle;
  }
  return held === 0 ? undefined : held * 1024;
}

function shorter(document: YamlDocument, container: Container, tokens: number): Fix | undefined {
  const flag = { means: 'context-length', flag: '--max-model-len', value: String(tokens) } as const;
  return fix(`Set --max-model-len to ${tokens}`, 'unsafe', setServerFlag(document, container, flag));
}
