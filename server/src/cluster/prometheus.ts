import http from 'node:http';
import https from 'node:https';
import { type PodUsage, podUsage } from '../fleet/usage.ts';
import {
  availableMetrics,
  availableQuery,
  readVector,
  type Series,
  type UsageAnswer,
  usageQueries,
} from '../fleet/usage-metrics.ts';
import type { ApiServer } from './api-server.ts';
import { connectionWords } from './connection-words.ts';
import { parsedJson } from './parsed-json.ts';

/** Where Prometheus is. Both come from settings of the machine, never from a workspace. */
export type PrometheusSource =
  /** Its address, `https://prometheus.example:9090`; credentials may be in it. */
  | { readonly kind: 'url'; readonly url: string }
  /** A Service of the cluster, through the API server. The user needs `get` on `services/proxy`. */
  | {
      readonly kind: 'service';
      readonly api: ApiServer;
      readonly namespace: string;
      readonly name: string;
      readonly port: string;
    };

export type UsageResult =
  | { readonly kind: 'measured'; readonly pods: readonly PodUsage[]; readonly hours: number }
  /** Prometheus answers, but has no metrics of accelerators. */
  | { readonly kind: 'no-metrics' }
  /** In words, without secrets. */
  | { readonly kind: 'problem'; readonly message: string };

/** More than 10,000 devices need for one statistic. */
const largestAnswer = 32 * 2 ** 20;
const answerMilliseconds = 20_000;

/**
 * What pods have done with their devices over the last so many hours. It never throws: a server that does not answer is a problem in words.
 * @param signal ends the requests
 */
export async function measureUsage(source: PrometheusSource, hours: number, signal: AbortSignal): Promise<UsageResult> {
  try {
    const metrics = availableMetrics(await ask(source, availableQuery, signal));
    if (metrics.length === 0) return { kind: 'no-metrics' };
    const answers: UsageAnswer[] = [];
    // One after the other: a monitoring server has better things to do.
    for (const { query, ...asked } of usageQueries(metrics, hours))
      answers.push({ ...asked, series: await ask(source, query, signal) });
    return { kind: 'measured', pods: podUsage(answers), hours };
  } catch (error) {
    return {
      kind: 'problem',
      message: `Prometheus: ${connectionWords(error).replaceAll('the API server', 'the server')}`,
    };
  }
}

async function ask(source: PrometheusSource, query: string, signal: AbortSignal): Promise<readonly Series[]> {
  const path = `/api/v1/query?query=${encodeURIComponent(query)}&timeout=15s`;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(answerMilliseconds)]);
  const { status, body } =
    source.kind === 'url'
      ? await getUrl(addressOf(source.url, path), limited)
      : await getService(source, path, limited);
  const answer = parsedJson(body);
  if (answer === undefined)
    throw new Error(
      `the server answers with status ${status}${status >= 300 && status < 400 ? ' (redirects are not followed)' : ''}`,
    );
  const vector = readVector(answer);
  if ('problem' in vector) throw new Error(vector.problem);
  return vector;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The address may have a path, as behind a reverse proxy. */
function addressOf(url: string, path: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol))
    throw new Error('the address must start with http:// or https://');
  return new URL(base.href.replace(/[?#].*$/, '').replace(/\/$/, '') + path);
}

function getUrl(url: URL, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const protocol = url.protocol === 'http:' ? http : https;
    const sent = protocol.get(url, { signal, headers: { accept: 'application/json' } }, async (response) => {
      try {
        resolve({ status: response.statusCode ?? 0, body: await bounded(response.setEncoding('utf8')) });
      } catch (error) {
        sent.destroy();
        reject(error);
      }
    });
    sent.on('error', (error) => reject(signal.aborted ? new Error('the server does not answer') : error));
  });
}

async function getService(
  { api, namespace, name, port }: Extract<PrometheusSource, { readonly kind: 'service' }>,
  path: string,
  signal: AbortSignal,
): Promise<Answer> {
  const service = `${encodeURIComponent(name)}:${encodeURIComponent(port)}`;
  const response = await api.get(
    `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${service}/proxy${path}`,
    signal,
  );
  return { status: response.status, body: await response.text() };
}

async function bounded(parts: AsyncIterable<unknown>): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for await (const part of parts) {
    const text = String(part);
    length += text.length;
    if (length > largestAnswer) throw new Error('the answer is too long');
    texts.push(text);
  }
  return texts.join('');
}
