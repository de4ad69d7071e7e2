import { expect, test } from 'vitest';
import type { StartThread, ThreadListener } from '../../server/src/cluster/client.ts';
import { off, type ToCluster } from '../../server/src/cluster/messages.ts';
import {
  type ClusterChangedParams,
  type ClusterConnectResult,
  type ClusterContextsResult,
  clusterMethods,
} from '../../server/src/lsp/cluster-protocol.ts';
import type { ClientOptions } from '../../server/src/lsp/protocol.ts';
import { type Editor, type EditorOptions, openEditor } from './editor.ts';

/** A thread that only records what it is sent. */
interface FakeThread {
  readonly start: StartThread;
  readonly sent: ToCluster[];
  listener: ThreadListener | undefined;
  starts: number;
}

function fakeThread(): FakeThread {
  const thread: FakeThread = {
    start(listener) {
      thread.listener = listener;
      thread.starts += 1;
      return { post: (message) => void thread.sent.push(message) };
    },
    sent: [],
    listener: undefined,
    starts: 0,
  };
  return thread;
}

interface Connected {
  readonly editor: Editor;
  readonly thread: FakeThread;
  readonly changes: readonly ClusterChangedParams[];
}

async function open(options: ClientOptions, setup: Omit<EditorOptions, 'options' | 'host'> = {}): Promise<Connected> {
  const thread = fakeThread();
  const host = { readFile: async () => undefined, startCluster: thread.start };
  const editor = await openEditor({ ...setup, options, host });
  const changes: ClusterChangedParams[] = [];
  editor.connection.onNotification(clusterMethods.changed, (params: ClusterChangedParams) => void changes.push(params));
  return { editor, thread, changes };
}

const connect = ({ editor }: Connected, params = {}) =>
  editor.connection.sendRequest<ClusterConnectResult>(clusterMethods.connect, params);

test('without trust, no thread is started', async () => {
  const opened = await open({});
  const problem = expect.stringContaining('The workspace is not trusted');
  expect(await connect(opened)).toEqual({ problem });
  const contexts = await opened.editor.connection.sendRequest<ClusterContextsResult>(clusterMethods.contexts, {});
  expect(contexts).toEqual({ contexts: [], problem });
  expect(opened.thread.starts).toBe(0);
});

test('trust that is given later is enough', async () => {
  const opened = await open({});
  await opened.editor.connection.sendNotification(clusterMethods.trusted);
  expect(await connect(opened)).toEqual({ problem: null });
  expect(opened.thread.starts).toBe(1);
});

test('with trust alone, no thread is started', async () => {
  const { editor, thread } = await open({ trusted: true });
  await editor.open('file:///work%20space/pod.yaml', 'kind: Pod\n');
  await editor.diagnostics('file:///work%20space/pod.yaml');
  expect(thread.starts).toBe(0);
});

test('the settings of the machine apply, and the request takes precedence', async () => {
  const cluster = {
    kubeconfig: '/home/me/config',
    context: '',
    namespace: 'team',
    prometheusUrl: 'http://localhost:9090',
    prometheusTokenFile: '/home/me/token',
  };
  const opened = await open({ trusted: true }, { settings: { cluster, prices: { gpus: { 'h100-80gb-sxm': 1.5 } } } });
  await connect(opened);
  await connect(opened, { context: 'prod', kubeconfig: '/other' });
  const prices = expect.stringContaining('"h100-80gb-sxm":1.5');
  const prometheus = { url: 'http://localhost:9090', token: { file: '/home/me/token' } };
  expect(opened.thread.sent).toEqual([
    {
      kind: 'connect',
      settings: { kubeconfig: '/home/me/config', context: null, namespace: 'team', prices, prometheus },
    },
    { kind: 'connect', settings: { kubeconfig: '/other', context: 'prod', namespace: 'team', prices, prometheus } },
  ]);
});

test('a server that cannot start threads says so', async () => {
  const editor = await openEditor({ options: { trusted: true } });
  const { problem } = await editor.connection.sendRequest<ClusterConnectResult>(clusterMethods.connect, {});
  expect(problem).toBe('gpulint connects to clusters only on the desktop and on remote machines');
});

test('a thread that crashes is a state, and the server lives on', async () => {
  const opened = await open({ trusted: true });
  const { editor, thread, changes } = opened;
  await connect(opened);
  thread.listener?.received({ kind: 'changed', status: { ...off, state: 'loading', context: 'prod' } });
  thread.listener?.ended('the cluster is too large');
  const nodes = await editor.connection.sendRequest(clusterMethods.nodes, { pool: 'a' });
  expect(nodes).toEqual([]);
  expect(changes.map(({ state, message }) => [state, message])).toEqual([
    ['connecting', null],
    ['loading', null],
    ['failed', 'Connection to the cluster lost: the cluster is too large; connect again'],
  ]);
  await connect(opened);
  expect(thread.starts).toBe(2);
});

test('requests that wait for a thread that crashes are answered', async () => {
  const { editor, thread } = await open({ trusted: true });
  const waiting = editor.connection.sendRequest<ClusterContextsResult>(clusterMethods.contexts, {});
  while (thread.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
  thread.listener?.ended('out of memory');
  expect(await waiting).toMatchObject({ contexts: [], problem: 'The kubeconfig could not be read' });
});

test('after disconnecting, nothing of the thread counts', async () => {
  const opened = await open({ trusted: true });
  const { editor, thread, changes } = opened;
  await connect(opened);
  const { listener } = thread;
  await editor.connection.sendRequest(clusterMethods.disconnect);
  listener?.received({ kind: 'changed', status: { ...off, state: 'live', context: 'prod' } });
  listener?.ended(null);
  await editor.connection.sendRequest(clusterMethods.nodes, { pool: 'a' });
  expect(changes.at(-1)?.state).toBe('off');
  expect(thread.sent.at(-1)).toEqual({ kind: 'disconnect' });
});

test.each([
  [clusterMethods.connect, { context: 7 }],
  [clusterMethods.contexts, { kubeconfig: {} }],
  [clusterMethods.nodes, {}],
])('%s with other parameters is rejected', async (method, params) => {
  const { editor, thread } = await open({ trusted: true });
  await expect(editor.connection.sendRequest(method, params)).rejects.toThrow('is invalid');
  expect(thread.starts).toBe(0);
});
