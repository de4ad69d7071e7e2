import { at, list, number, text } from '../fleet/json.ts';
import type { ApiServer } from './api-server.ts';
import type { Clock } from './clock.ts';
import { CredentialError } from './connection-words.ts';
import { parsedJson } from './parsed-json.ts';

// Keeps a copy of a collection: a list in pages, then a watch from its version. Measured on API servers 1.32 and 1.36: a version that is too old
// arrives as an ERROR event with code 410, a `continue` that is too old as status 410, and the first bookmark within about a minute.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes

/** What happened to a collection. Objects are as the server sent them. */
export type Change =
  /** A new list begins: what is not in it is gone when it ends. */
  | { readonly kind: 'list-start' }
  | { readonly kind: 'object'; readonly object: unknown }
  | { readonly kind: 'list-end' }
  | { readonly kind: 'deleted'; readonly object: unknown }
  | { readonly kind: 'state'; readonly state: CollectionState };

/** Whether a copy is current, and if not, why. */
export type CollectionState =
  | { readonly kind: 'current' }
  /** The API server has no such collection. */
  | { readonly kind: 'absent' }
  /** The user may not read it. */
  | { readonly kind: 'forbidden'; readonly message: string }
  | { readonly kind: 'unauthorized'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string };

const pageSize = 500;
/** The server ends a watch after this time, so that a connection that died silently does not stay. */
const watchSeconds = 290;
const firstDelay = 500;
const longestDelay = 30_000;
/** Rights change rarely. */
const forbiddenDelay = 300_000;

/**
 * Follows a collection until `signal` is aborted. It never fails: a server that is away is tried again, at growing intervals with jitter.
 * @param path of the collection, `/api/v1/pods`; it may have a query
 */
export async function follow(
  api: ApiServer,
  path: string,
  clock: Clock,
  signal: AbortSignal,
  report: (change: Change) => void,
): Promise<void> {
  let version: string | undefined;
  let delay = firstDelay;
  while (!signal.aborted) {
    const before = version;
    let failure: Failure | undefined;
    try {
      if (version === undefined) {
        version = await listAll(api, path, signal, report);
        report({ kind: 'state', state: { kind: 'current' } });
      }
      version = await watch(api, path, version, signal, report);
    } catch (error) {
      if (signal.aborted) return;
      failure = failureOf(error);
      if (failure.expired) version = undefined;
      if (failure.state !== undefined) report({ kind: 'state', state: failure.state });
      if (failure.state?.kind === 'absent') return;
    }
    if (failure === undefined || failure.expired || version !== before) delay = firstDelay;
    // A watch that ends at once, without news, must not be repeated at once.
    if (failure === undefined && version !== before) continue;
    const longest = failure?.state?.kind === 'forbidden' ? forbiddenDelay : delay;
    await clock.wait(longest * (0.5 + clock.random() / 2), signal);
    delay = Math.min(delay * 2, longestDelay);
  }
}

interface Failure {
  /** The version is too old: only a new list helps. */
  readonly expired: boolean;
  readonly state: CollectionState | undefined;
}

class StatusError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CredentialError) return { expired: false, state: { kind: 'unauthorized', message } };
  if (!(error instanceof StatusError)) return { expired: false, state: { kind: 'unreachable', message } };
  switch (error.status) {
    case 401:
      return { expired: false, state: { kind: 'unauthorized', message } };
    case 403:
      return { expired: false, state: { kind: 'forbidden', message } };
    case 404:
      return { expired: false, state: { kind: 'absent' } };
    case 410:
      return { expired: true, state: undefined };
    default:
      return { expired: false, state: { kind: 'unreachable', message } };
  }
}

/** Lists the collection in pages and gives its version. */
async function listAll(
  api: ApiServer,
  path: string,
  signal: AbortSignal,
  report: (change: Change) => void,
): Promise<string> {
  report({ kind: 'list-start' });
  let next = '';
  for (;;) {
    const page = await json(
      api,
      withQuery(path, [['limit', String(pageSize)], ...(next === '' ? [] : [['continue', next] as const])]),
      signal,
    );
    for (const object of list(at(page, 'items'))) report({ kind: 'object', object });
    next = text(at(page, 'metadata', 'continue')) ?? '';
    if (next !== '') continue;
    report({ kind: 'list-end' });
    return text(at(page, 'metadata', 'resourceVersion')) ?? '';
  }
}

/** Watches from a version until the connection ends, and gives the last version seen. */
async function watch(
  api: ApiServer,
  path: string,
  from: string,
  signal: AbortSignal,
  report: (change: Change) => void,
): Promise<string> {
  const query = [
    ['watch', '1'],
    ['allowWatchBookmarks', 'true'],
    ['resourceVersion', from],
    ['timeoutSeconds', String(watchSeconds)],
  ] as const;
  const response = await api.get(withQuery(path, query), signal);
  if (response.status !== 200)
    throw new StatusError(response.status, messageOf(await response.text(), response.status));
  report({ kind: 'state', state: { kind: 'current' } });
  let version = from;
  try {
    for await (const line of response.lines()) {
      const event = parsedJson(line);
      const object = at(event, 'object');
      const type = text(at(event, 'type'));
      if (type === 'ERROR')
        throw new StatusError(number(at(object, 'code')) ?? 500, text(at(object, 'message')) ?? 'the watch failed');
      if (type === 'ADDED' || type === 'MODIFIED') report({ kind: 'object', object });
      else if (type === 'DELETED') report({ kind: 'deleted', object });
      else if (type === 'BOOKMARK') report({ kind: 'state', state: { kind: 'current' } });
      else continue;
      version = text(at(object, 'metadata', 'resourceVersion')) ?? version;
    }
  } catch (error) {
    // A connection that drops is not a failure as long as the next one comes.
    if (error instanceof StatusError || signal.aborted) throw error;
  }
  return version;
}

async function json(api: ApiServer, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await api.get(path, signal);
  const body = await response.text();
  if (response.status !== 200) throw new StatusError(response.status, messageOf(body, response.status));
  const value = parsedJson(body);
  if (value === undefined) throw new Error('the API server sent a truncated response or one that is not JSON');
  return value;
}

function messageOf(body: string, status: number): string {
  return text(at(parsedJson(body), 'message')) ?? `the API server responded with status ${status}`;
}

function withQuery(path: string, query: readonly (readonly [string, string])[]): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}
