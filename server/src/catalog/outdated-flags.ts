import type { Release } from './server-support.ts';

/** A flag that the newer releases of a server do not have. */
export interface RemovedFlag {
  /** Names of one setting: the first one that is written stands for all. */
  readonly names: string;
  /** A release without it; all later ones also lack it, and older ones may. */
  readonly since: Release;
  /** What sets the same now; without it, the flag had no effect or is the default. */
  readonly now?: string;
  readonly source: string;
}

const vllm = 'https://github.com/vllm-project/vllm';
const arguments081 = 'https://docs.vllm.ai/en/v0.8.1/serving/engine_args.html';

/** Read 2026-11-29. */
export const removedFromVllm: readonly RemovedFlag[] = [
  removed('swap-space', [0, 18, 0], 'https://github.com/unslothai/unsloth-zoo/issues/1210'),
  removed('disable-log-requests', [0, 17, 0], 'https://github.com/llm-d/llm-d-benchmark/pull/781'),
  removed('task', [0, 13, 0], 'https://github.com/gpustack/gpustack/issues/3991', '--runner and --convert'),
  removed('rope-scaling rope-theta', [0, 13, 0], 'https://github.com/gpustack/gpustack/issues/4236', '--hf-overrides'),
  removed('guided-decoding-backend', [0, 12, 0], `${vllm}/pull/22772`, '--structured-outputs-config.backend'),
  removed('max-seq-len-to-capture', [0, 11, 0], `${vllm}/pull/25543`),
  removed('num-scheduler-steps multi-step-stream-outputs', [0, 10, 2], `${vllm}/pull/22779`),
  removed('device', [0, 10, 0], `${vllm}/pull/21349`),
  removed('enable-reasoning', [0, 10, 0], `${vllm}/issues/18538`),
  removed(
    'speculative-model num-speculative-tokens ngram-prompt-lookup-max ngram-prompt-lookup-min',
    [0, 9, 0],
    `${vllm}/pull/15466`,
    '--speculative-config',
  ),
  removed('worker-use-ray', [0, 8, 1], arguments081, '--distributed-executor-backend=ray'),
  removed('quantization-param-path', [0, 8, 1], arguments081),
];

function removed(names: string, since: Release, source: string, now?: string): RemovedFlag {
  return { names, since, source, ...(now !== undefined && { now }) };
}

/** The release of vLLM from which `--limit-mm-per-prompt` takes only JSON. https://github.com/vllm-project/vllm/issues/21615 */
export const jsonLimits: Release = [0, 10, 0];

/** The release of vLLM from which `--compilation-config` takes only JSON. https://github.com/kubernetes-sigs/gateway-api-inference-extension/issues/2243 */
export const jsonCompilation: Release = [0, 11, 0];

/** The build of llama.cpp from which `--flash-attn` takes a value. https://github.com/mybigday/llama.node/pull/102, ggml-org/llama.cpp#15434 */
export const flashAttentionValue = 6327;
