import { wordSet } from '../catalog/word-patterns.ts';
import { asText, type Cursor, getIn, isTemplated } from '../yaml/cursor.ts';

/**
 * Metrics of model servers and of their GPUs, which show a load only while pods run. Routers and gateways see requests earlier:
 * `vllm:num_incoming_requests` comes from vLLM's router for this purpose.
 * https://docs.vllm.ai/en/latest/usage/metrics.html https://docs.sglang.io/references/production_metrics.html
 * https://huggingface.co/docs/text-generation-inference/reference/metrics https://github.com/NVIDIA/dcgm-exporter
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/metrics.html
 * https://github.com/vllm-project/production-stack/pull/679
 */
const podMetricName =
  /\b(?:vllm[:_](?!num_incoming|router)|sglang[:_](?!router)|tgi_|nv_(?:inference|gpu)_|DCGM_FI_)\w+/;

/** The first metric in a Prometheus query that needs running pods. */
export function podMetric(query: Cursor | undefined): string | undefined {
  return podMetricIn(asText(query) ?? '');
}

/** The same in the text of a query. */
function podMetricIn(query: string): string | undefined {
  return podMetricName.exec(query)?.[0];
}

/** Whether each pod exports the first of these metrics: others with an underscore, or with a further colon, may be rules that record totals. */
export function isExported(query: string): boolean {
  const [name = ''] = /[\w:]+/.exec(query.slice(podMetricName.exec(query)?.index ?? query.length)) ?? [];
  return /^(?:(?:vllm|sglang):\w+|(?:tgi|nv|DCGM)_\w+)$/.test(name) || metricNames.some((one) => name.startsWith(one));
}

/** Whether a KEDA trigger may see no load while no pod runs. */
export function mayNeedPod(trigger: Cursor): boolean {
  const type = asText(getIn(trigger, 'type')) ?? 'cpu';
  if (type === 'cpu' || type === 'memory') return true;
  return type === 'prometheus' && podMetric(getIn(trigger, 'metadata', 'query')) !== undefined;
}

/** Whether a KEDA trigger certainly sees no load while no pod runs: its query has no other metric and no fallback value. */
export function needsPod(trigger: Cursor): boolean {
  const query = getIn(trigger, 'metadata', 'query');
  if (getIn(trigger, 'type') === undefined || !mayNeedPod(trigger) || isTemplated(query)) return false;
  const text = asText(query) ?? '';
  // Bounds the search for closing brackets, which is quadratic. No real query is that long.
  if (text.length > 10_000) return false;
  const bare = withoutLabels(text);
  if (/\b(?:or|absent|vector)\b/i.test(bare)) return false;
  // A name before a parenthesis is a function.
  const names = bare.match(/\b[a-z]\w*[:_][\w:]*\b(?!\s*\()/gi) ?? [];
  return names.every((name) => podMetricName.test(name));
}

/** A query of at most 10,000 characters without its labels and times. */
export function withoutLabels(query: string): string {
  return query.replace(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring)\s*\([^)]*\)/gi, ' ');
}

/** Metrics by which servers are scaled, which vLLM and SGLang export with a colon for the first underscore. */
const metricNames = [
  ...['vllm_num_requests_running', 'vllm_num_requests_waiting', 'vllm_num_requests_swapped'],
  ...['vllm_gpu_cache_usage_perc', 'vllm_kv_cache_usage_perc', 'vllm_cpu_cache_usage_perc'],
  ...['vllm_time_to_first_token_seconds', 'vllm_time_per_output_token_seconds', 'vllm_inter_token_latency_seconds'],
  ...['vllm_e2e_request_latency_seconds', 'vllm_request_queue_time_seconds'],
  ...['sglang_num_running_reqs', 'sglang_num_queue_reqs', 'sglang_token_usage', 'sglang_gen_throughput'],
  ...['sglang_cache_hit_rate', 'sglang_time_to_first_token_seconds', 'sglang_e2e_request_latency_seconds'],
];
const colonMetric = new RegExp(
  String.raw`(?<![\w:])(?:${metricNames.join('|')})(?:_bucket|_sum|_count)?(?![\w:])`,
  'g',
);

/** A metric in a Prometheus query with an underscore for the colon of its prefix, and the name that the server exports. */
export function withoutColon(query: string): RenamedMetric | undefined {
  const [written] = query.match(colonMetric) ?? [];
  // Collectors that rename metrics exist, and queries for both names.
  if (written === undefined || /\b(?:vllm|sglang):/.test(query)) return undefined;
  const corrected = query.replace(colonMetric, (name) => name.replace('_', ':'));
  return { written, exported: written.replace('_', ':'), corrected };
}

/** A metric in a Prometheus query whose name starts like those of a server, but that the server does not export. */
export function misnamed(query: string): Pick<RenamedMetric, 'written' | 'exported'> | undefined {
  if (query.length > 10_000) return undefined;
  // A further colon belongs to a rule that records a query.
  const names = withoutLabels(query).match(/(?<![\w:])(?:vllm|sglang)[:_]\w+(?![\w:])/g) ?? [];
  for (const written of names) {
    const exported = exportedInstead(written);
    if (exported !== undefined) return { written, exported };
  }
  return undefined;
}

/**
 * A metric of llama.cpp's server that only builds before May 2025 have; undefined if the query has another one to take.
 * https://github.com/ggml-org/llama.cpp/pull/13660
 */
export function removedMetric(query: string): string | undefined {
  if (query.length > 10_000 || /\bor\b/i.test(query)) return undefined;
  return /(?<![\w:])llamacpp[:_]kv_cache_(?:usage_ratio|tokens)(?![\w:])/.exec(withoutLabels(query))?.[0];
}

/** A name in a query, the name that the server exports, and the query with all such names. */
export interface RenamedMetric {
  readonly written: string;
  readonly exported: string;
  readonly corrected: string;
}

/**
 * The metric that is meant by a name that starts like those of a server, but that the server does not export: one with all words of the name that
 * are not about amounts. Servers also export metrics that are not listed here, and adapters may rename metrics and add endings.
 */
export function exportedInstead(name: string): string | undefined {
  const written = name.replaceAll(':', '_').toLowerCase();
  const [server = ''] = written.split('_', 1);
  const own = metricNames.filter((one) => one.startsWith(`${server}_`));
  const isKnown =
    own.some((one) => written.startsWith(one)) ||
    /^\w+_(?:prompt|generation|iteration)_|_request_(?!queue_(?!time))/.test(written);
  if (own.length === 0 || isKnown || /router|incoming/.test(written)) return undefined;
  const words = written.split('_').slice(1).map(stem);
  const subject = words.filter((word) => !amounts.has(word));
  // A time in a queue is not its length.
  const plain = words.some((word) => times.has(word)) ? undefined : inOtherWords(server, subject);
  if (plain !== undefined || subject.length < 2) return plain;
  const meant = own.find((one) => {
    const parts = new Set(one.split('_').map(stem));
    return subject.every((word) => parts.has(word));
  });
  return meant?.replace('_', ':');
}

/** The metric that a name with other words certainly means: `vllm_queue_depth`, `vllm_pending_requests`, `sglang_active_requests`. */
function inOtherWords(server: string, subject: readonly string[]): string | undefined {
  const [waiting, running] = server === 'vllm' ? vllmCounts : sglangCounts;
  if (subject.length === 0) return undefined;
  if (subject.every((word) => waitingWords.has(word))) return waiting;
  return subject.every((word) => runningWords.has(word)) ? running : undefined;
}

const vllmCounts = ['vllm:num_requests_waiting', 'vllm:num_requests_running'] as const;
const sglangCounts = ['sglang:num_queue_reqs', 'sglang:num_running_reqs'] as const;
const waitingWords = wordSet('queue queued pending waiting backlog');
const runningWords = wordSet('running active inflight concurrent');
const times = wordSet('second time latency duration ms millisecond');
const amounts = wordSet('num number count total sum bucket avg depth length len size req second');

/** `requests` and `reqs` as `req`. */
function stem(word: string): string {
  return word.startsWith('req') ? 'req' : word.replace(/s$/, '');
}
