import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import type { PodUsage } from '../fleet/device-usage.ts';
import { at, text } from '../fleet/json.ts';
import { podUsage } from '../fleet/usage.ts';
import type { DevicePods } from '../fleet/usage-labels.ts';
import {
  availableMetrics,
  availableQuery,
  readVector,
  type Series,
  type UsageAnswer,
  usageQueries,
} from '../fleet/usage-metrics.ts';
import type { ApiServer } from './api-server.ts';
import { connectionWords, oneLine } from './connection-words.ts';
import { ownFile } from './own-file.ts';
import { parsedJson } from './parsed-json.ts';

/** Where Prometheus is. Never from a workspace. */
export type PrometheusSource =
  /** Its address, `https://prometheus.example:9090`, from the settings of the machine; credentials may be in it. */
  | { readonly kind: 'url'; readonly url: string; readonly token: PrometheusToken }
  /** A Service of the cluster, through the API server. The user needs `get` on `services/proxy`. */
  | {
      readonly kind: 'service';
      readonly api: ApiServer;
      readonly namespace: string;
      readonly name: string;
      readonly port: string;
      /** Whether the port expects TLS. The API server does not check the certificate. */
      readonly tls?: boolean;
    };

/** A bearer token for a Prometheus that has an address: itself, or the file that has it; null: none. */
export type PrometheusToken = { readonly value: string } | { readonly file: string } | null;

export type UsageResult =
  | { readonly kind: 'measured'; readonly pods: readonly PodUsage[] }
  /** Prometheus answers, but has no metrics of accelerators. */
  | { readonly kind: 'no-metrics'; readonly message: string }
  /** A sentence without a period, without secrets. */
  | { readonly kind: 'problem'; readonly message: string };

/** More than 10,000 devices need for one statistic. */
const largestAnswer = 32 * 2 ** 20;
const answerMilliseconds = 20_000;

/**
 * What pods have done with their devices over the last so many hours. It never throws: a server that does not answer is a problem in words.
 * @param pods those with devices
 * @param signal ends the requests
 */
export async function measureUsage(
  source: PrometheusSource,
  hours: number,
  pods: DevicePods,
  signal: AbortSignal,
): Promise<UsageResult> {
  const say = (clause: string) => `Prometheus at ${placeOf(source)}${clause}; usage is not shown`;
  try {
    const { from, series } = await reach(source, signal);
    const metrics = availableMetrics(series);
    if (metrics.length === 0) return { kind: 'no-metrics', message: say(' has no GPU metrics') };
    const answers: UsageAnswer[] = [];
    // One after the other: a monitoring server has better things to do.
    for (const { query, ...asked } of usageQueries(metrics, hours))
      answers.push({ ...asked, series: await ask(from, query, signal) });
    return { kind: 'measured', pods: podUsage(answers, pods, hours) };
  } catch (error) {
    if (error instanceof AnswerError) return { kind: 'problem', message: say(` ${error.message}`) };
    const [clause = ''] = connectionWords(error).replaceAll('the API server', 'the server').split(';');
    return { kind: 'problem', message: say(`: ${clause.replace('in the kubeconfig', 'that Node.js trusts')}`) };
  }
}

/** `https://prometheus.example:9090`, `monitoring/prometheus-operated`: where it is, without credentials. */
export function placeOf(source: PrometheusSource): string {
  if (source.kind === 'service') return `${source.namespace}/${source.name}`;
  const url = URL.canParse(source.url) ? new URL(source.url) : undefined;
  return url === undefined || url.host === '' ? 'this address' : `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

/** What the server did instead of answering, as a predicate. */
class AnswerError extends Error {}

/** The port of a Service expects TLS. */
class TlsError extends AnswerError {}

/** What Go's server says to a request without TLS, also through the API server. */
const tlsWords = 'HTTP request to an HTTPS server';

/** Which metrics there are, and how to ask for more: a Service does not say whether its port expects TLS. */
async function reach(
  source: PrometheusSource,
  signal: AbortSignal,
): Promise<{ readonly from: PrometheusSource; readonly series: readonly Series[] }> {
  try {
    return { from: source, series: await ask(source, availableQuery, signal) };
  } catch (error) {
    if (!(error instanceof TlsError) || source.kind === 'url' || source.tls === true) throw error;
    const from = { ...source, tls: true };
    return { from, series: await ask(from, availableQuery, signal) };
  }
}

async function ask(source: PrometheusSource, query: string, signal: AbortSignal): Promise<readonly Series[]> {
  const path = `/api/v1/query?query=${encodeURIComponent(query)}&timeout=15s`;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(answerMilliseconds)]);
  const get =
    source.kind === 'url'
      ? getUrl(addressOf(source.url, path), source.token, limited)
      : getService(source, path, limited);
  const { status, body } = await get.catch((error: unknown) => {
    throw limited.aborted ? new AnswerError('does not answer') : error;
  });
  if (status === 400 && body.includes(tlsWords)) throw new TlsError('answered 400: it expects https');
  const answer = parsedJson(body);
  const vector = readVector(answer);
  if (!('problem' in vector)) return vector;
  // A proxy on the way answers with a page or a Status of its own.
  const isOwn = status < 300 || text(at(answer, 'error')) !== undefined;
  const redirect = status >= 300 && status < 400 ? ' (redirects are not followed)' : '';
  throw new AnswerError(`answered ${status}${isOwn ? `: ${oneLine(vector.problem)}` : redirect}`);
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The address may have a path, as behind a reverse proxy. */
function addressOf(url: string, path: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol))
    throw new AnswerError('cannot be queried: the address must start with http:// or https://');
  return new URL(base.href.replace(/[?#].*$/, '').replace(/\/$/, '') + path);
}

async function getUrl(url: URL, token: PrometheusToken, signal: AbortSignal): Promise<Answer> {
  const authorization = token === null ? {} : { authorization: `Bearer ${tokenFor(url, token)}` };
  const headers = { accept: 'application/json', ...authorization };
  return new Promise((resolve, reject) => {
    const protocol = url.protocol === 'http:' ? http : https;
    const sent = protocol.get(url, { signal, headers }, async (response) => {
      try {
        resolve({ status: response.statusCode ?? 0, body: await bounded(response.setEncoding('utf8')) });
      } catch (error) {
        sent.destroy();
        reject(error);
      }
    });
    sent.on('error', reject);
  });
}

/** Read each time, because tokens in files are replaced. Its text is in no message. */
function tokenFor({ protocol, hostname }: URL, token: NonNullable<PrometheusToken>): string {
  if (protocol !== 'https:' && !loopbackHost.test(hostname))
    throw new AnswerError('was not queried: tokens are sent only over https');
  const text = 'value' in token ? token.value : ownFile(token.file, os.homedir());
  if (text === undefined) throw new AnswerError('was not queried: its token file cannot be read');
  const trimmed = text.trim();
  // Anything else would be another header, or none.
  if (!/^[\x21-\x7e]{1,65536}$/.test(trimmed))
    throw new AnswerError('was not queried: its token must be one word of ASCII characters');
  return trimmed;
}

const loopbackHost = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

async function getService(
  { api, namespace, name, port, tls }: Extract<PrometheusSource, { readonly kind: 'service' }>,
  path: string,
  signal: AbortSignal,
): Promise<Answer> {
  const service = `${tls === true ? 'https:' : ''}${encodeURIComponent(name)}:${encodeURIComponent(port)}`;
  const response = await api.get(
    `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${service}/proxy${path}`,
    signal,
  );
  return { status: response.status, body: await bounded(response.parts()) };
}

async function bounded(parts: AsyncIterable<unknown>): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for await (const part of parts) {
    const piece = String(part);
    length += piece.length;
    if (length > largestAnswer) throw new AnswerError('sent a response that is too long');
    texts.push(piece);
  }
  return texts.join('');
}
