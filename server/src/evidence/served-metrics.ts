import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { soleServer } from './sole-server.ts';

/**
 * The flags without which servers have no metrics for Prometheus. Others have them by default.
 * https://docs.sglang.io/references/production_metrics.html https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
 */
const metricsFlags: ReadonlyMap<string, string> = new Map([
  ['sglang', 'enable-metrics'],
  ['llama-server', 'metrics'],
]);

/** A variable that may give metrics to a server without them: https://github.com/ollama/ollama/pull/18508 */
const metricsVariables: ReadonlyMap<string, string> = new Map([['ollama', 'OLLAMA_METRICS']]);

/** What the only server of a container lacks for its metrics, in words; undefined if it has metrics or may have them. */
export function missingMetrics(container: Container): string | undefined {
  const server = soleServer(container);
  const flag = server && metricsFlags.get(server.program);
  const variable = server && metricsVariables.get(server.program);
  if (server === undefined || (flag ?? variable) === undefined || mayHaveVariables(container)) return undefined;
  const { command, args } = container;
  if ([...command, ...args].some(({ at }) => isTemplated(at))) return undefined;
  if (flag === undefined)
    return processInput(container).env.some(({ name }) => name === variable) ? undefined : 'of its own';
  const words = server.command?.words ?? [];
  const flags = readFlags(words);
  // A file or a variable may hold the flag.
  if (flags.some(({ name }) => name.includes('metrics') || name.includes('config') || name.endsWith('-file')))
    return undefined;
  const isHidden = words.some((word) => word.dynamic && !flags.some(({ valueWord }) => valueWord === word));
  const names = processInput(container).env.map(({ name }) => name);
  return isHidden || names.some((name) => /METRICS|ARGS|FLAGS|OPTS/.test(name)) ? undefined : `without --${flag}`;
}

/**
 * Servers with all their metrics at /metrics, and at no other path.
 * https://docs.vllm.ai/en/latest/usage/metrics/ https://docs.sglang.io/references/production_metrics.html
 * https://github.com/huggingface/text-generation-inference/blob/main/router/src/server.rs
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/metrics.html
 */
const atMetrics = wordSet('vllm sglang llama-server text-generation-launcher text-embeddings-router tritonserver');

/** Whether a server certainly has no metrics at a path. A first part of it may be the server's own prefix (`--root-path`). */
export function lacksMetricsAt(path: string, program: string): boolean {
  const own = path.replace(/^\/|\/$/g, '');
  const [prefix = ''] = own.split('/');
  if (!atMetrics.has(program) || own === 'metrics' || !/^[\w./-]*$/.test(own)) return false;
  return !own.endsWith('/metrics') || /^(?:api|v\d)$/.test(prefix);
}

/** A metric of one kind of server in a query or in the name of a metric, and the program that exports it. */
export interface ServedMetric {
  readonly name: string;
  readonly program: string;
}

/** The metrics of known servers in a text. */
export function servedMetrics(text: string): readonly ServedMetric[] {
  // No real query is that long.
  const names = text.length > 10_000 ? [] : (text.match(metricName) ?? []);
  return names.flatMap((name) => {
    const program = exporters.find(([prefix]) => name.startsWith(prefix))?.[1];
    return program === undefined ? [] : { name, program };
  });
}

const metricName = /\b[a-z]+[:_]\w+/g;

/** Routers in front of the servers export metrics with other names. */
const exporters: readonly (readonly [string, string])[] = [
  ['vllm:num_requests', 'vllm'],
  ['vllm:gpu_cache_usage', 'vllm'],
  ['vllm:kv_cache_usage', 'vllm'],
  ['vllm:time_', 'vllm'],
  ['vllm:e2e_', 'vllm'],
  ['sglang:num_', 'sglang'],
  ['sglang:token_usage', 'sglang'],
  ['sglang:time_', 'sglang'],
  ['llamacpp:', 'llama-server'],
  ['tgi_queue_size', 'text-generation-launcher'],
  ['tgi_batch_', 'text-generation-launcher'],
  ['tgi_request_', 'text-generation-launcher'],
  ['te_queue_size', 'text-embeddings-router'],
  ['te_request_', 'text-embeddings-router'],
  ['nv_inference_', 'tritonserver'],
];
