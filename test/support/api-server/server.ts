import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { discovery, isPermitted, kindOf, matcherOf, type Rights, type Target, targetOf } from './requests.ts';

// A substitute for kube-apiserver: lists in pages from one moment, watches with bookmarks, expired versions, rights and tokens. kubectl can read
// from it. test/cluster/api-contract.ts compares it with kube-apiserver 1.20.2: pages, versions, watches, statuses and the fields of answers. Unlike
// the real one, it ignores timeoutSeconds and only reads. The key is public and only for tests.

const pem = (name: string) => readFileSync(path.join(import.meta.dirname, name));
/** The authority that signed the server's certificate. */
export const authority = pem('certificate.pem');

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

interface Event {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly object: KubeObject;
  /** The object before. */
  readonly before: KubeObject | undefined;
}

type Matches = (object: KubeObject) => boolean;

/** What to do with a request instead of answering it; undefined answers it. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface TestApiServer {
  readonly url: string;
  /** The requests so far, as path and query. */
  readonly requests: readonly string[];
  /** Creates or replaces an object of a collection, such as `/api/v1/nodes`. */
  readonly put: (collection: string, object: KubeObject) => void;
  readonly remove: (collection: string, name: string, namespace?: string) => void;
  /** Forgets old events and lists: watches and pages from before get 410. */
  readonly compact: () => void;
  /** Sends a bookmark to all watches. */
  readonly bookmark: () => void;
  /** Closes all connections, as a network that fails does. */
  readonly drop: () => void;
  /** Ends all watches in order, as the server does after `timeoutSeconds`. */
  readonly endWatches: () => void;
  /** The number of open watches of a collection. */
  readonly watches: (collection: string) => number;
  /** Tokens that are accepted; undefined accepts every request. */
  tokens: ReadonlySet<string> | undefined;
  /** What the user may read; undefined permits everything. */
  rights: Rights | undefined;
  /** Answers for a Service, named `namespace/name:port`; undefined if there is none. */
  proxied: ((service: string, url: URL) => string | undefined) | undefined;
  /** A request is answered when this resolves: a slow server. */
  hold: ((request: IncomingMessage) => Promise<void> | undefined) | undefined;
  /** Called first for each request; true means that it has dealt with it. */
  fault: Fault | undefined;
  /** Resolves when something has happened that makes the condition true. */
  readonly until: (condition: () => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts a server with empty collections. Collections that were never named do not exist. */
export async function startApiServer(...collections: readonly string[]): Promise<TestApiServer> {
  const objects = new Map(collections.map((name) => [name, new Map<string, KubeObject>()]));
  const lists = new Map<string, { readonly version: number; readonly items: readonly KubeObject[] }>();
  const watchers = new Set<{
    readonly collection: string;
    readonly matches: Matches;
    readonly response: ServerResponse;
  }>();
  const waiting = new Set<() => void>();
  const requests: string[] = [];
  let events: Event[] = [];
  let version = 1;
  let oldest = 0;
  const changed = () => {
    for (const check of waiting) check();
  };

  const listOf = (target: Target, url: URL): Answer => {
    const { collection } = target;
    const limit = Number(url.searchParams.get('limit') ?? 0);
    const token = url.searchParams.get('continue');
    const [id, from] = token === null ? [`${url.pathname}?${url.searchParams}@${version}`, 0] : splitToken(token);
    const all = [...(objects.get(collection)?.values() ?? [])];
    const matching = all.filter(matcherOf(target, url.searchParams.get('fieldSelector')));
    if (target.name !== null) {
      const [one] = matching;
      return one === undefined
        ? failure(404, 'NotFound', `${target.resource} "${target.name}" not found`)
        : { status: 200, body: one };
    }
    const list = lists.get(id) ?? (token === null ? { version, items: matching } : undefined);
    if (list === undefined) return failure(410, 'Expired', 'The provided continue parameter is too old');
    lists.set(id, list);
    const items = limit === 0 ? list.items : list.items.slice(from, from + limit);
    const rest = list.items.length - from - items.length;
    const metadata = {
      resourceVersion: String(list.version),
      continue: rest > 0 ? `${id}|${from + items.length}` : '',
      ...(rest > 0 && { remainingItemCount: rest }),
    };
    const { kind, apiVersion } = typeOf(collection);
    return { status: 200, body: { kind: `${kind}List`, apiVersion, metadata, items } };
  };

  const watch = (target: Target, url: URL, response: ServerResponse) => {
    const { collection } = target;
    const from = Number(url.searchParams.get('resourceVersion') ?? version);
    const matches = matcherOf(target, url.searchParams.get('fieldSelector'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (from < oldest) {
      response.end(
        `${JSON.stringify({ type: 'ERROR', object: failure(410, 'Expired', 'too old resource version').body })}\n`,
      );
      return;
    }
    for (const event of events)
      if (event.collection === collection && event.version > from) send(response, event, matches);
    const watcher = { collection, matches, response };
    watchers.add(watcher);
    response.on('close', () => {
      watchers.delete(watcher);
      changed();
    });
  };

  /** Why a request is not answered; undefined if it may be. */
  const rejection = (request: IncomingMessage, url: URL, target: Target | undefined): Answer | undefined => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (request.method !== 'GET') return failure(405, 'MethodNotAllowed', 'only GET');
    if (api.tokens !== undefined && !api.tokens.has(token)) return failure(401, 'Unauthorized', 'Unauthorized');
    if (target === undefined || api.rights === undefined) return undefined;
    const verb = url.searchParams.has('watch') ? 'watch' : target.name === null ? 'list' : 'get';
    const selected = /(?:^|,)metadata\.name=([^,]+)/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1] ?? null;
    if (isPermitted(api.rights, target, verb, selected)) return undefined;
    const scope = target.namespace === null ? 'at the cluster scope' : `in the namespace "${target.namespace}"`;
    const what = `cannot ${verb} resource "${target.resource}" in API group "${target.group}" ${scope}`;
    return failure(403, 'Forbidden', `${target.resource} is forbidden: User "test" ${what}`);
  };

  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'https://localhost');
    const answer = ({ status, body }: Answer) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const target = targetOf(url.pathname);
    const found = target === undefined ? discovery(url.pathname, [...objects.keys()]) : undefined;
    const rejected = rejection(request, url, target);
    const proxied =
      target?.resource === 'services/proxy' ? api.proxied?.(`${target.namespace}/${target.name}`, url) : undefined;
    if (rejected !== undefined) answer(rejected);
    else if (proxied !== undefined) response.end(proxied);
    else if (found !== undefined) answer({ status: 200, body: found });
    else if (target === undefined || !objects.has(target.collection))
      answer(failure(404, 'NotFound', 'the server could not find the requested resource'));
    else if (url.searchParams.has('watch')) watch(target, url, response);
    else answer(listOf(target, url));
  };

  const server = createServer({ key: pem('key.pem'), cert: authority }, (request, response) => {
    requests.push(request.url ?? '');
    const held = api.hold?.(request);
    if (api.fault?.(request, response) !== true) {
      if (held === undefined) respond(request, response);
      else void held.then(() => respond(request, response));
    }
    changed();
  });

  const record = (type: Event['type'], collection: string, object: KubeObject, before: KubeObject | undefined) => {
    version += 1;
    const uid = before?.metadata.uid ?? object.metadata.uid ?? `uid-${version}`;
    const creationTimestamp = before?.metadata.creationTimestamp ?? '2026-01-01T00:00:00Z';
    const stored = {
      ...typeOf(collection),
      ...object,
      metadata: { creationTimestamp, ...object.metadata, uid, resourceVersion: String(version) },
    };
    const event = { version, type, collection, object: stored, before };
    events.push(event);
    for (const watcher of watchers)
      if (watcher.collection === collection) send(watcher.response, event, watcher.matches);
    return stored;
  };

  const api: TestApiServer = {
    url: '',
    requests,
    tokens: undefined,
    rights: undefined,
    proxied: undefined,
    hold: undefined,
    fault: undefined,
    put(collection, object) {
      const all = objects.get(collection) ?? new Map<string, KubeObject>();
      objects.set(collection, all);
      const key = keyOf(object.metadata.name, object.metadata.namespace);
      const before = all.get(key);
      all.set(key, record(before === undefined ? 'ADDED' : 'MODIFIED', collection, object, before));
    },
    remove(collection, name, namespace) {
      const all = objects.get(collection);
      const object = all?.get(keyOf(name, namespace));
      if (object === undefined) throw new Error(`no ${name} in ${collection}`);
      all?.delete(keyOf(name, namespace));
      record('DELETED', collection, object, object);
    },
    compact() {
      events = [];
      lists.clear();
      oldest = version;
    },
    bookmark() {
      for (const { response } of watchers)
        response.write(
          `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })}\n`,
        );
    },
    drop: () => server.closeAllConnections(),
    endWatches() {
      for (const { response } of watchers) response.end();
    },
    watches: (collection) => [...watchers].filter((watcher) => watcher.collection === collection).length,
    until(condition) {
      return new Promise((resolve) => {
        const check = () => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(api, { url: `https://localhost:${(server.address() as AddressInfo).port}` });
}

/** An object that begins or ceases to match is added or deleted for the watch. */
function send(response: ServerResponse, { type, object, before }: Event, matches: Matches): void {
  const was = type !== 'ADDED' && before !== undefined && matches(before);
  const is = type !== 'DELETED' && matches(object);
  if (!was && !is) return;
  const seen = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
  response.write(`${JSON.stringify({ type: seen, object })}\n`);
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function keyOf(name: string, namespace = ''): string {
  return `${namespace}/${name}`;
}

function splitToken(token: string): readonly [string, number] {
  const at = token.lastIndexOf('|');
  return [token.slice(0, at), Number(token.slice(at + 1))];
}

/** The apiVersion and kind of a collection's objects. */
function typeOf(collection: string): { readonly apiVersion: string; readonly kind: string } {
  const parts = collection.split('/');
  return { apiVersion: parts.slice(2, -1).join('/'), kind: kindOf(parts.at(-1) ?? '') };
}

/** A Status, as the API server sends it. */
export function failure(code: number, reason: string, message: string): Answer {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details: {}, code },
  };
}
