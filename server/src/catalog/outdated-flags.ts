import type { Release } from './server-support.ts';

/** A flag that the newer releases of a server do not have. */
export interface RemovedFlag {
  /** Names of one setting: the first one that is written stands for all. */
  readonly names: string;
  /** A release without it, and so are all later ones. Older ones may lack it, too. */
  readonly since: Release;
  /** What sets the same now; without it, the flag had no effect or is the default. */
  readonly now?: string;
  readonly source: string;
}

/** Read 2026-11-29. */
export const removedFromVllm: readonly RemovedFlag[] = [
  { names: 'swap-space', since: [0, 18, 0], source: 'https://github.com/unslothai/unsloth-zoo/issues/1210' },
  {
    names: 'disable-log-requests',
    since: [0, 17, 0],
    source: 'https://github.com/llm-d/llm-d-benchmark/pull/781',
  },
  {
    names: 'task',
    since: [0, 13, 0],
    now: '--runner and --convert',
    source: 'https://github.com/gpustack/gpustack/issues/3991',
  },
  {
    names: 'guided-decoding-backend',
    since: [0, 12, 0],
    now: '--structured-outputs-config.backend',
    source: 'https://github.com/vllm-project/vllm/pull/22772',
  },
  {
    names: 'num-scheduler-steps multi-step-stream-outputs',
    since: [0, 10, 2],
    source: 'https://github.com/vllm-project/vllm/pull/22779',
  },
  { names: 'device', since: [0, 10, 0], source: 'https://github.com/vllm-project/vllm/pull/21349' },
  { names: 'enable-reasoning', since: [0, 10, 0], source: 'https://github.com/vllm-project/vllm/issues/18538' },
  {
    names: 'speculative-model num-speculative-tokens ngram-prompt-lookup-max ngram-prompt-lookup-min',
    since: [0, 9, 0],
    now: '--speculative-config',
    source: 'https://github.com/vllm-project/vllm/pull/15466',
  },
  {
    names: 'worker-use-ray',
    since: [0, 8, 1],
    now: '--distributed-executor-backend=ray',
    source: 'https://docs.vllm.ai/en/v0.8.1/serving/engine_args.html',
  },
  {
    names: 'quantization-param-path',
    since: [0, 8, 1],
    source: 'https://docs.vllm.ai/en/v0.8.1/serving/engine_args.html',
  },
];

/** The release of vLLM from which `--limit-mm-per-prompt` takes only JSON. https://github.com/vllm-project/vllm/issues/21615 */
export const jsonLimits: Release = [0, 10, 0];

/** The build of llama.cpp from which `--flash-attn` takes a value. https://github.com/mybigday/llama.node/pull/102, ggml-org/llama.cpp#15434 */
export const flashAttentionValue = 6327;
