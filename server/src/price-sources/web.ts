import http from 'node:http';
import https from 'node:https';

/** How to reach the sources. */
export interface WebOptions {
  /** An address that serves the files of all sources, each below the name of its host; undefined: the sources themselves. */
  readonly mirror: string | undefined;
  /** Milliseconds without a byte after which a request fails. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** An answer whose body has not been read yet. */
export interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly body: http.IncomingMessage;
}

/** An error that another attempt cannot avoid. @param reason a clause */
export function final(reason: string): Error {
  const error = new Error(reason);
  error.name = finalName;
  return error;
}
const finalName = 'FinalAnswer';

/** Whether another attempt would fail as well: also without a network, where waiting only delays the message. */
export function isFinal(error: unknown): boolean {
  return error instanceof Error && (error.name === finalName || unreachable.has(codeOf(error)));
}

const unreachable = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ECONNREFUSED']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** An error for a connection on which nothing arrives. */
export function silent(idleMs: number): Error {
  return new Error(`it sent no data for ${Math.round(idleMs / 1000)} s`);
}

const maxRedirects = 3;

/**
 * Requests a file. Follows a few redirects, and only within the host: another host was never asked for.
 * @throws Error with the reason, as a clause
 */
export async function request(url: string, headers: http.OutgoingHttpHeaders, options: WebOptions): Promise<Answer> {
  let target = addressOf(url, options.mirror);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await requestOnce(target, headers, options);
    if (![301, 302, 303, 307, 308].includes(answer.status)) return answer;
    answer.body.destroy();
    const location = answer.header('location');
    if (location === undefined) throw final(`it answered ${answer.status} without an address`);
    const next = allowed(new URL(location, target));
    if (next.host !== target.host || next.protocol !== target.protocol)
      throw final(`it redirects to another host (${next.host}), which is not followed`);
    if (redirects >= maxRedirects) throw final('it redirects too often');
    target = next;
  }
}

function addressOf(url: string, mirror: string | undefined): URL {
  const wanted = allowed(new URL(url));
  if (mirror === undefined) return wanted;
  return allowed(new URL(`${mirror.replace(/(?<!\/)\/+$/, '')}/${wanted.host}${wanted.pathname}${wanted.search}`));
}

/** Only encrypted connections, except to this machine. */
function allowed(url: URL): URL {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) return url;
  throw final(`${url.protocol}//${url.host} is not an https address`);
}

function requestOnce(url: URL, headers: http.OutgoingHttpHeaders, { idleMs, signal }: WebOptions): Promise<Answer> {
  const { get } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers: { ...headers, 'user-agent': 'gpulint', 'accept-encoding': 'gzip' }, signal });
    sent.setTimeout(idleMs, () => sent.destroy(silent(idleMs)));
    sent.on('error', reject);
    sent.on('response', (body) => {
      // From here on, the reader of the body watches the time.
      sent.setTimeout(0);
      // A reader that has given up no longer listens.
      body.on('error', () => undefined);
      resolve({
        status: body.statusCode ?? 0,
        header: (name) => {
          const value = body.headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body,
      });
    });
  });
}

/** Whether an error says that a host could not be reached. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && 'code' in error.cause;
}

/** Why a connection failed, as a clause. */
export function connectionReason(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'nothing accepts connections there';
  if (unreachable.has(code)) return 'it cannot be reached: this machine may be offline, or behind a proxy';
  if (code === 'ECONNRESET') return 'the connection was lost';
  if (code.startsWith('ERR_TLS') || code.includes('CERT')) return `its certificate is not valid (${code})`;
  return error instanceof Error ? error.message : String(error);
}
