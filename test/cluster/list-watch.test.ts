import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiServerOf } from '../../server/src/cluster/api-server.ts';
import { type Change, type CollectionState, follow } from '../../server/src/cluster/list-watch.ts';
import { at } from '../../server/src/fleet/json.ts';
import { authority, failure, startApiServer, type TestApiServer } from '../support/api-server/server.ts';
import { createConditions } from '../support/conditions.ts';

const nodes = '/api/v1/nodes';

let server: TestApiServer;
const { check, until } = createConditions(() => server);
let stop: AbortController;
let done: Promise<void>;
let copy: Copy;
/** What the code under test waited for. */
let waits: number[];
let token = 'first';

/** A copy as the view would hold it. */
interface Copy {
  readonly names: Set<string>;
  readonly states: CollectionState['kind'][];
  lists: number;
}

beforeEach(async () => {
  server = await startApiServer(nodes);
  stop = new AbortController();
  copy = { names: new Set(), states: [], lists: 0 };
  waits = [];
  token = 'first';
});

afterEach(async () => {
  stop.abort();
  await done;
  await server.close();
});

describe('following a collection', () => {
  test('lists in pages, and follows what is added and deleted', async () => {
    for (let number = 0; number < 1201; number++) server.put(nodes, node(`n${number}`));
    start();
    await until(() => copy.names.size === 1201 && server.watches(nodes) === 1);
    expect(server.requests.filter((path) => path.includes('limit=500'))).toHaveLength(3);
    server.put(nodes, node('late'));
    server.remove(nodes, 'n7');
    await until(() => copy.names.has('late') && !copy.names.has('n7'));
    expect(copy.lists).toBe(1);
  });

  test('continues after a dropped connection without a new list', async () => {
    server.put(nodes, node('a'));
    start();
    await until(() => server.watches(nodes) === 1);
    server.drop();
    server.put(nodes, node('b'));
    await until(() => copy.names.has('b'));
    expect(copy.lists).toBe(1);
  });

  test('continues from a bookmark, and lists anew only when its version is too old', async () => {
    server.put(nodes, node('a'));
    start();
    await until(() => server.watches(nodes) === 1);
    server.put('/api/v1/pods', node('elsewhere'));
    server.bookmark();
    server.compact();
    server.endWatches();
    await until(() => server.watches(nodes) === 1 && lastWatch().includes('resourceVersion=3'));
    expect(copy.lists).toBe(1);
    server.put('/api/v1/pods', node('elsewhere'));
    server.compact();
    server.drop();
    await until(() => copy.lists === 2 && server.watches(nodes) === 1);
    expect([...copy.names]).toEqual(['a']);
  });

  test('starts again when a page is too old', async () => {
    for (let number = 0; number < 600; number++) server.put(nodes, node(`n${number}`));
    server.fault = (request) => {
      if (request.url?.includes('continue=') === true && copy.lists === 1) server.compact();
      return false;
    };
    start();
    await until(() => copy.names.size === 600 && server.watches(nodes) === 1);
    expect(copy.lists).toBe(2);
  });

  test('forgets what a new list does not have', async () => {
    server.put(nodes, node('a'));
    server.put(nodes, node('b'));
    start();
    await until(() => server.watches(nodes) === 1);
    server.fault = (request, response) => request.url?.includes('watch=1') === true && response.destroy() !== undefined;
    server.drop();
    await until(() => copy.states.includes('unreachable'));
    server.remove(nodes, 'a');
    server.compact();
    server.fault = undefined;
    await until(() => copy.names.size === 1);
    expect([...copy.names]).toEqual(['b']);
  });

  test('waits longer after each failure, with jitter, and then recovers', async () => {
    server.fault = (_, response) => response.destroy() !== undefined;
    start();
    await until(() => waits.length === 9);
    expect(waits.slice(0, 9)).toEqual([375, 750, 1500, 3000, 6000, 12_000, 22_500, 22_500, 22_500]);
    server.put(nodes, node('a'));
    server.fault = undefined;
    await until(() => copy.states.at(-1) === 'current');
    expect(copy.names).toEqual(new Set(['a']));
  });

  test('an answer that is cut off is no empty list', async () => {
    server.put(nodes, node('a'));
    let cut = 0;
    server.fault = (request, response) => {
      if (request.url?.includes('limit=') !== true || cut++ > 0) return false;
      response.writeHead(200).end('{"items":[{"metadata":{"name":"a"}}');
      return true;
    };
    start();
    await until(() => copy.states.includes('current'));
    expect(copy.states.slice(0, 2)).toEqual(['unreachable', 'current']);
    expect(copy.names).toEqual(new Set(['a']));
  });

  test('a malformed event is skipped', async () => {
    server.fault = (request, response) => {
      if (request.url?.includes('watch=1') !== true) return false;
      server.fault = undefined;
      response.writeHead(200).write(`{"type":\n${JSON.stringify({ type: 'ADDED', object: node('b') })}\n`);
      return true;
    };
    start();
    await until(() => copy.names.has('b'));
  });

  test('says what the user may not read', async () => {
    server.fault = (_, response) => {
      const { status, body } = failure(403, 'Forbidden', 'nodes is forbidden');
      response.writeHead(status).end(JSON.stringify(body));
      return true;
    };
    start();
    await until(() => copy.states.length > 0);
    expect(copy.states[0]).toBe('forbidden');
    expect(waits[0]).toBe(225_000);
  });

  test('an expired token is an own state, and a new one ends it', async () => {
    server.tokens = new Set(['second']);
    start();
    await until(() => copy.states.includes('unauthorized'));
    token = 'second';
    await until(() => copy.states.at(-1) === 'current');
  });

  test('ends where the server does not have the collection', async () => {
    start('/apis/resource.k8s.io/v1/resourceslices');
    await done;
    expect(copy.states).toEqual(['absent']);
  });
});

function start(path = nodes): void {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'test', server: server.url, caData: authority.toString('base64'), skipTLSVerify: false },
    { name: 'test' },
  );
  const authenticated = Object.assign(config, {
    applyToHTTPSOptions: (options: { headers?: object; ca?: Buffer }) => {
      Object.assign(options, { ca: authority, headers: { ...options.headers, authorization: `Bearer ${token}` } });
      return Promise.resolve();
    },
  });
  const clock = {
    wait: (milliseconds: number) => {
      waits.push(milliseconds);
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
    random: () => 0.5,
    now: () => 0,
  };
  done = follow(
    apiServerOf(() => authenticated),
    path,
    clock,
    stop.signal,
    apply,
  );
}

const listed = new Set<string>();

function apply(change: Change): void {
  if (change.kind === 'state') copy.states.push(change.state.kind);
  if (change.kind === 'list-start') {
    copy.lists += 1;
    listed.clear();
  }
  if (change.kind === 'object') {
    copy.names.add(nameOf(change.object));
    listed.add(nameOf(change.object));
  }
  if (change.kind === 'deleted') copy.names.delete(nameOf(change.object));
  if (change.kind === 'list-end') for (const name of copy.names) if (!listed.has(name)) copy.names.delete(name);
  check();
}

function lastWatch(): string {
  return server.requests.filter((path) => path.includes('watch=1')).at(-1) ?? '';
}

function nameOf(object: unknown): string {
  return String(at(object, 'metadata', 'name'));
}

function node(name: string) {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } };
}
