import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { isExported, withoutLabels } from './pod-metrics.ts';

/**
 * What a Prometheus query returns, as far as its outermost operation shows it: `each` is one value for each pod or GPU; the others are one
 * value that does not grow with the number of pods. A ratio is at most 1: a part of a capacity.
 */
export type QueryResult = 'each' | 'average' | 'maximum' | 'minimum' | 'quantile' | 'ratio';

/**
 * The result of a query about pods of a model server or their GPUs; undefined if it may be something else. Quantiles may be about any pods.
 * https://prometheus.io/docs/prometheus/latest/querying/operators/ https://prometheus.io/docs/prometheus/latest/querying/functions/
 */
export function queryResult(query: string): QueryResult | undefined {
  // Bounds the search for brackets. No real query is that long.
  if (query.length > 10_000 || query.includes('#')) return undefined;
  const text = query.trim().replace(fallback, '').trim();
  const isOfPod = (isExported(text) || requestCounter.test(text)) && !onePod.test(text);
  const groups = groupsOf(text);
  // Groups by pods or GPUs have one value each; of other groups, the number is unknown.
  if (groups.length > 0) return isOfPod && groups.some((label) => ofEach.has(label)) ? 'each' : undefined;
  const known = resultOf(withoutLabels(text).trim(), 0);
  return known === 'each' && !isOfPod ? undefined : known;
}

/** Counters and buckets of requests in a server, with any prefix. Each of its pods has its own; gateways have those of several servers. */
const requestCounter = new RegExp(
  String.raw`(?<![\w:])(?!(?:${oneOf('kong traefik haproxy nginx envoy istio apisix caddy')})_)\w*(?:${oneOf(
    'http_requests_total http_request_total http_requests_count http_request_count http_request_size_bytes_count',
    'http_request_duration_seconds_bucket http_request_duration_seconds_count http_request_duration_milliseconds_bucket',
    'http_server_requests_seconds_bucket http_server_requests_seconds_count http_server_request_duration_seconds_bucket',
  )})(?![\w:])`,
);

/** The labels by which the results differ. */
function groupsOf(text: string): readonly string[] {
  const isQuantile = text.startsWith('histogram_quantile');
  const [, before, after] = (isQuantile ? /\bby\s*\(([^()]*)\)/ : grouping).exec(text) ?? [];
  const labels = (before ?? after ?? '').split(/[\s,]+/);
  return labels.filter((label) => label !== '' && !(isQuantile && label === 'le'));
}

/** What stands in for a query without results. */
const fallback = /\s+or\s+(?:on\s*\(\s*\)\s*)?vector\s*\([\d.\s]*\)\s*$/;

/** The labels by which the outermost operation groups, before or after its parentheses. */
const grouping = /^[a-z_]+\s+by\s*\(([^()]*)\)|\)\s*by\s*\(([^()]*)\)\s*$/;

/** Labels that differ between the pods of a server or between their GPUs. */
const ofEach = wordSet(
  'pod pod_name podname exported_pod kubernetes_pod_name instance exported_instance node hostname Hostname',
  'gpu UUID device gpu_uuid',
);

/** A matcher for one pod or GPU: not a pattern, and not for none. */
const onePod = new RegExp(
  String.raw`\b(?:${oneOf('pod pod_name exported_pod kubernetes_pod_name instance UUID gpu_uuid')})\s*=\s*["'][^"']`,
);

const aggregates: ReadonlyMap<string, QueryResult> = new Map([
  ['avg', 'average'],
  ['max', 'maximum'],
  ['min', 'minimum'],
  ['quantile', 'quantile'],
  ['histogram_quantile', 'quantile'],
]);

/** Functions whose results have the labels of their argument. */
const keeping = new RegExp(
  String.raw`^(?:${oneOf('rate irate increase delta idelta deriv round ceil floor abs clamp_min clamp_max clamp')}|\w+_over_time)$`,
);

function resultOf(text: string, depth: number): QueryResult | undefined {
  if (depth > 8) return undefined;
  const bare = unwrapped(text);
  if (/^[a-z_:][\w:]*$/i.test(bare)) return 'each';
  const call = /^([a-z_]+)\s*\(/i.exec(bare);
  const [, name = ''] = call ?? [];
  const end = call === null ? -1 : closing(bare, bare.indexOf('('));
  if (call === null || end < 0) return undefined;
  const argument = bare.slice(bare.indexOf('(') + 1, end);
  const rest = bare.slice(end + 1).trim();
  if (rest !== '') return ofRest(name, argument, rest, depth);
  const aggregate = aggregates.get(name);
  // The buckets of each pod have a quantile of their own.
  if (name === 'histogram_quantile') return /\bsum\b/.test(argument) ? aggregate : 'each';
  // A sum of pods inside is one value of them all, which grows with their number.
  if (aggregate !== undefined) return isOfPods(argument) ? aggregate : undefined;
  return keeping.test(name) ? resultOf(firstOf(argument), depth + 1) : undefined;
}

/** An operation with a number keeps the result; a sum divided by a count is an average. */
function ofRest(name: string, argument: string, rest: string, depth: number): QueryResult | undefined {
  if (/^[*/]\s*[\d.]+$/.test(rest)) return resultOf(`${name}(${argument})`, depth + 1);
  const divisor = /^\/\s*(?:(?:scalar|clamp_min)\s*\(\s*)?([a-z_]+)\s*\(/i.exec(rest)?.[1];
  if (name !== 'sum' || closing(rest, rest.indexOf('(')) !== rest.length - 1) return undefined;
  if (divisor === 'count') return isOfPods(argument) ? 'average' : undefined;
  if (divisor !== 'sum') return undefined;
  // The time of all requests by their number.
  if (/_sum\b/.test(argument) && /_count\b/.test(rest)) return 'average';
  return /_(?:capacity|limit|max|slots)\b/.test(rest) ? 'ratio' : undefined;
}

function isOfPods(argument: string): boolean {
  return isExported(argument) && !/\b(?:sum|count|group|topk|bottomk)\b/.test(argument);
}

/** Without parentheses around the whole text. */
function unwrapped(text: string): string {
  let inner = text.trim();
  for (let turn = 0; turn < 8 && inner.startsWith('(') && closing(inner, 0) === inner.length - 1; turn += 1)
    inner = inner.slice(1, -1).trim();
  return inner;
}

/** The place of the parenthesis that closes the one at a place, or -1. */
function closing(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at >= 0 && at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** The text before the first comma outside of parentheses. */
function firstOf(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (text[at] === ',' && depth === 0) return text.slice(0, at);
  }
  return text;
}
