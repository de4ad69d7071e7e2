import { kvMismatch } from '../evidence/kv-transfer.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { defineRule } from './rule.ts';

/**
 * The servers for prefill do not pass their KV cache to those for decoding.
 *
 * ## Why
 *
 * With disaggregated serving, some servers only read prompts and pass their KV cache to those that write the answers. Both sides need the
 * transfer: `--kv-transfer-config` of vLLM, `--disaggregation-mode` of SGLang and Dynamo, with matching roles and the same connector. Otherwise the servers
 * for decoding read each prompt again, or fail, and the GPUs of the others work in vain.
 *
 * ```yaml invalid
 * apiVersion: orchestration.aibrix.ai/v1alpha1
 * kind: StormService
 * metadata:
 *   name: chat
 * spec:
 *   replicas: 1
 *   template:
 *     spec:
 *       roles:
 *         - name: prefill
 *           replicas: 1
 *           template:
 *             spec:
 *               containers:
 *                 - name: engine
 *                   image: lmsysorg/sglang:v0.5.3
 *                   command: [python3, -m, sglang.launch_server, --model-path=/models/chat, --host=0.0.0.0, --disaggregation-mode=prefill]
 *                   resources:
 *                     limits:
 *                       nvidia.com/gpu: 1
 *         - name: decode
 *           replicas: 1
 *           template:
 *             spec:
 *               containers:
 *                 - name: engine
 *                   image: lmsysorg/sglang:v0.5.3
 *                   command: [python3, -m, sglang.launch_server, --model-path=/models/chat, --host=0.0.0.0]
 *                   resources:
 *                     limits:
 *                       nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: orchestration.aibrix.ai/v1alpha1
 * kind: StormService
 * metadata:
 *   name: chat
 * spec:
 *   replicas: 1
 *   template:
 *     spec:
 *       roles:
 *         - name: prefill
 *           replicas: 1
 *           template:
 *             spec:
 *               containers:
 *                 - name: engine
 *                   image: lmsysorg/sglang:v0.5.3
 *                   command: [python3, -m, sglang.launch_server, --model-path=/models/chat, --host=0.0.0.0, --disaggregation-mode=prefill]
 *                   resources:
 *                     limits:
 *                       nvidia.com/gpu: 1
 *         - name: decode
 *           replicas: 1
 *           template:
 *             spec:
 *               containers:
 *                 - name: engine
 *                   image: lmsysorg/sglang:v0.5.3
 *                   command: [python3, -m, sglang.launch_server, --model-path=/models/chat, --host=0.0.0.0, --disaggregation-mode=decode]
 *                   resources:
 *                     limits:
 *                       nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If neither side has the transfer, for command lines with unknown words or a file of settings, for other servers, and for sides in separate
 * objects.
 *
 * ## Sources
 *
 * - [vLLM: disaggregated prefilling](https://docs.vllm.ai/en/latest/features/disagg_prefill.html)
 * - [ai-dynamo/dynamo#13037](https://github.com/ai-dynamo/dynamo/pull/13037)
 * - [SGLang: PD disaggregation](https://docs.sglang.ai/advanced_features/pd_disaggregation.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  wasteful: true,
  workload(workload, { document, report }) {
    if (!/prefill/i.test(document.text) || isExempt(workload) || !requestsAccelerators(workload)) return;
    const found = kvMismatch(workload);
    const span = found && spanOfWords(document, [...found.container.command, ...found.container.args], found.words);
    if (found !== undefined && span !== undefined) report({ message: found.message, span });
  },
});
