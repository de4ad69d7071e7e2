import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { unsplitWordsOf } from '../command/name-words.ts';
import { withoutLabels } from './pod-metrics.ts';

/**
 * Metrics between 0 and 1, whatever their names say. A pod with several GPUs may have their sum.
 * https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/feature-overview.html#profiling-metrics https://docs.vllm.ai/en/stable/usage/metrics/
 * https://docs.sglang.io/references/production_metrics.html
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/metrics.html
 */
const ratios = wordSet(
  'DCGM_FI_PROF_GR_ENGINE_ACTIVE DCGM_FI_PROF_SM_ACTIVE DCGM_FI_PROF_SM_OCCUPANCY DCGM_FI_PROF_DRAM_ACTIVE',
  'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE DCGM_FI_PROF_PIPE_FP64_ACTIVE DCGM_FI_PROF_PIPE_FP32_ACTIVE DCGM_FI_PROF_PIPE_FP16_ACTIVE',
  'vllm_gpu_cache_usage_perc vllm_kv_cache_usage_perc vllm_cpu_cache_usage_perc sglang_token_usage nv_gpu_utilization DCGM_FI_DEV_FB_USED_PERCENT',
);

/** Metrics between 0 and 100. https://docs.nvidia.com/datacenter/dcgm/latest/reference/dcgm-exporter-metrics.html */
const percents = wordSet('DCGM_FI_DEV_GPU_UTIL DCGM_FI_DEV_MEM_COPY_UTIL DCGM_FI_DEV_ENC_UTIL DCGM_FI_DEV_DEC_UTIL');

/** The most that a metric reaches on one GPU: 1 or 100; undefined for other names. */
export function mostOf(metric: string): 1 | 100 | undefined {
  const name = metric.replace(':', '_');
  return ratios.has(name) ? 1 : percents.has(name) ? 100 : undefined;
}

/** The first metric about the used or free memory of GPUs in a text. */
export function gpuMemoryMetric(text: string): string | undefined {
  return gpuMemory.exec(text.slice(0, 10_000))?.[0];
}

/** Of DCGM, of Triton, and as other exporters name it. */
const gpuMemory = new RegExp(
  `\\b(?:${oneOf(
    'DCGM_FI_DEV_FB_(?:USED|FREE)(?:_PERCENT)? nv_gpu_memory_used_bytes',
    '(?:nvidia_)?gpu_mem(?:ory)?_(?:used|usage|util)[a-z_]*',
  )})\\b`,
);

/** Whether a metric is a latency in milliseconds by its name: `request_latency_ms`, `ttft_milliseconds_p95`. */
export function isMilliseconds(metric: string): boolean {
  const words = unsplitWordsOf(metric);
  const unit = words.filter((word) => !aggregates.has(word)).at(-1) ?? '';
  return milliseconds.has(unit) && words.some((word) => latencies.has(word));
}

const milliseconds = wordSet('ms msec msecs millis millisecond milliseconds');
const aggregates = wordSet('p50 p90 p95 p99 avg average mean median max');
const latencies = wordSet('latency latencies duration time ttft tpot itl delay wait');

/** What keeps a value between those of its series. */
const keeping = wordSet(
  'avg max min quantile avg_over_time max_over_time min_over_time last_over_time quantile_over_time or vector bool',
  'sum',
);

/** A metric with a known range. */
export interface RangedMetric {
  readonly name: string;
  /** The most that it reaches on one GPU. */
  readonly most: 1 | 100;
}

/** The only metric of a query that returns its values, or sums of percentages; undefined if it computes something else. */
export function rangedMetric(query: string): RangedMetric | undefined {
  const only = onlyMetric(query);
  const most = only && mostOf(only.name);
  // Sums of ratios have no bound.
  if (only === undefined || most === undefined || (most === 1 && only.isSum)) return undefined;
  return { name: only.name, most };
}

/** The counter of a model server whose values or sums a query returns as they are; undefined if it computes rates or something else. */
export function rawCounter(query: string): string | undefined {
  const name = onlyMetric(query)?.name;
  return name !== undefined && (isCounter(name) || (totals.test(name) && !gauges.test(name))) ? name : undefined;
}

/** Whether the servers of models count up this metric as long as they run. Adapters convert and rename those that end in `_total`. */
export function isCounter(metric: string): boolean {
  return counters.has(metric);
}

/**
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/metrics.html
 * https://huggingface.co/docs/text-generation-inference/reference/metrics
 */
const counters = wordSet(
  'nv_inference_request_success nv_inference_request_failure nv_inference_count nv_inference_exec_count',
  'nv_inference_request_duration_us nv_inference_queue_duration_us nv_inference_compute_input_duration_us',
  'nv_inference_compute_infer_duration_us nv_inference_compute_output_duration_us',
  'tgi_request_count tgi_request_success te_request_count te_request_success',
);

/** Counters and histograms by the endings that Prometheus gives them. */
const totals = /^(?:vllm|sglang):\w+_(?:total|count|sum|bucket)$/;

/** Numbers of pods and of waiting requests, which routers and recording rules name with the same endings. */
const gauges = new RegExp(
  `:(?:${oneOf('(?:healthy|unhealthy|ready)_', 'num_(?:requests|running|queue|waiting)', '[a-z_]*queue_(?!time)')})`,
);

/** The only metric of a query without arithmetic and rates, and whether the query adds up its values. */
function onlyMetric(query: string): { readonly name: string; readonly isSum: boolean } | undefined {
  if (query.length > 10_000) return undefined;
  const bare = withoutLabels(query);
  if (/[^\w:.,()\s]/.test(bare)) return undefined;
  const [name, ...others] = new Set((bare.match(/\b[a-z_][\w:]*/gi) ?? []).filter((word) => !keeping.has(word)));
  return name === undefined || others.length > 0 ? undefined : { name, isSum: /\bsum\b/.test(bare) };
}
