// @ts-check
// Shows with strace that nothing of a cluster is touched before the user connects and without trust: no kubeconfig, no credential plugin, no
// connection. The same programs, connected, touch all three: so the traces would show it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { startServer } from '../../bench/server.mjs';

/** Why nothing can be traced here; undefined if it can. */
export function obstacle() {
  const permitted = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;
  return permitted ? undefined : 'strace is missing or not permitted';
}

/**
 * What a program touched that belongs to a cluster.
 * @typedef {{ what: string, kubeconfig: readonly string[], processes: readonly string[], connections: readonly string[] }} Touched
 */

/**
 * Traces the language server and the command line.
 * @param {string} programs the folder of cli.js
 * @returns {Promise<{ apart: readonly Touched[], connected: readonly Touched[] }>} not connected, and connected
 */
export async function traceCluster(programs) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'gpulint-apart-')));
  const server = createServer((socket) => socket.destroy());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const workspace = makeMachine(folder, `https://127.0.0.1:${port}`);
  const uri = pathToFileURL(path.join(workspace, 'pod.yaml')).href;
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: path.join(folder, 'home'),
    KUBECONFIG: path.join(folder, 'kube', 'named.yaml'),
    // As in a pod of a cluster.
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
    GPULINT_PRICES: 'none',
    NODE_OPTIONS: '',
    SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? '',
  };
  let traces = 0;

  /** @param {readonly string[]} args of the command line */
  function traced(args) {
    traces += 1;
    const file = path.join(folder, `trace-${traces}`);
    const options = ['-f', '-qq', '-s', '4096', '-e', 'trace=%file,%process,connect,sendto', '-o', file];
    return { file, command: ['strace', ...options, process.execPath, path.join(programs, 'cli.js'), ...args] };
  }

  /** @param {string} what @param {string} file @returns {Touched} */
  const touched = (what, file) => ({ what, ...touchedIn(readFileSync(file, 'utf8'), path.join(folder, 'kube'), env) });

  /** @param {string} what @param {readonly string[]} args @param {readonly number[]} statuses */
  async function command(what, args, statuses) {
    const { file, command: whole } = traced(args);
    const [program = '', ...rest] = whole;
    const child = spawn(program, rest, { cwd: workspace, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (data) => {
      said += data;
    });
    const status = await new Promise((resolve) => child.on('close', resolve));
    if (!statuses.includes(status)) throw new Error(`${what} ended with ${status}: ${said}`);
    return touched(what, file);
  }

  /**
   * @param {string} what
   * @param {boolean} trusted
   * @param {(server: import('../../bench/server.mjs').Server) => Promise<void>} act after the manifest was shown
   */
  async function session(what, trusted, act) {
    const { file, command: whole } = traced(['lsp', '--stdio']);
    const lsp = await startServer({ command: whole, env }, pathToFileURL(workspace).href, { trusted });
    const textDocument = { uri };
    const position = { line: 4, character: 80 };
    const text = readFileSync(path.join(workspace, 'pod.yaml'), 'utf8');
    lsp.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
    const show = async () => {
      const shown = await lsp.request('textDocument/diagnostic', { textDocument });
      await lsp.request('textDocument/codeLens', { textDocument });
      await lsp.request('textDocument/hover', { textDocument, position });
      await lsp.request('textDocument/completion', { textDocument, position });
      if (shown.items.length === 0) throw new Error('the manifest has no finding: the session is broken');
    };
    await show();
    await act(lsp);
    await show();
    await lsp.stop();
    return touched(what, file);
  }

  /** @param {import('../../bench/server.mjs').Server} lsp @param {string} method @param {unknown} params */
  const rejected = async (lsp, method, params) => {
    const { problem } = await lsp.request(method, params);
    if (!/not trusted/.test(problem)) throw new Error(`${method} without trust answers ${problem}`);
  };

  try {
    const apart = [
      await session('language server, trusted, not connected', true, async () => undefined),
      await session('language server without trust, connecting', false, async (lsp) => {
        await rejected(lsp, 'gpulint/clusterContexts', { kubeconfig: null });
        await rejected(lsp, 'gpulint/clusterConnect', { context: null, kubeconfig: null });
        await rejected(lsp, 'gpulint/clusterConnect', { context: 'bait', kubeconfig: env.KUBECONFIG });
        await lsp.request('gpulint/clusterNodes', { pool: 'bait' });
      }),
      await command('gpulint check', ['check', '.'], [1]),
      await command('gpulint cost', ['cost', '.'], [0]),
    ];
    const connected = [
      await session('language server, trusted, connected', true, async (lsp) => {
        const failed = new Promise((resolve) =>
          lsp.on('gpulint/clusterChanged', ({ state }) => {
            if (state === 'unreachable') resolve(undefined);
          }),
        );
        const { problem } = await lsp.request('gpulint/clusterConnect', { context: null, kubeconfig: null });
        if (problem !== null) throw new Error(problem);
        await failed;
      }),
      await command('gpulint cluster', ['cluster'], [2]),
      await command('gpulint check --cluster', ['check', '.', '--cluster'], [2]),
    ];
    return { apart, connected };
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A home with a kubeconfig, another one that KUBECONFIG names, and a workspace that would like to choose one.
 * @param {string} folder
 * @param {string} server
 * @returns {string} the workspace
 */
function makeMachine(folder, server) {
  const write = (/** @type {string} */ name, /** @type {string} */ text, mode = 0o600) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
    return file;
  };
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'secret' },
  };
  const plugin = write('kube/plugin', `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, 0o755);
  const config = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bait',
    clusters: [{ name: 'bait', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bait', user: { exec: { apiVersion: credential.apiVersion, command: plugin } } }],
    contexts: [{ name: 'bait', context: { cluster: 'bait', user: 'bait' } }],
  });
  const named = write('kube/named.yaml', config);
  write('home/.kube/config', config);
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: own}
spec:
  containers: [{name: a, image: "busybox:1.36", resources: {requests: {nvidia.com/gpu: 1}}}]
`;
  write('home/space/pod.yaml', pod);
  const settings = { 'gpulint.cluster.kubeconfig': named, 'gpulint.cluster.context': 'bait' };
  write('home/space/.vscode/settings.json', JSON.stringify(settings));
  return path.join(folder, 'home', 'space');
}

/**
 * @param {string} trace what strace wrote
 * @param {string} bait the folder of a kubeconfig and its plugin
 * @param {Readonly<Record<string, string>>} env
 * @returns {Omit<Touched, 'what'>}
 */
function touchedIn(trace, bait, env) {
  /** @type {{ kubeconfig: string[], processes: string[], connections: string[] }} */
  const found = { kubeconfig: [], processes: [], connections: [] };
  const places = [bait, path.join(env.HOME ?? '', '.kube'), '/var/run/secrets/kubernetes.io'];
  for (const line of trace.split('\n').map((each) => each.replace(/^\d+ +/, ''))) {
    const [, call = '', args = ''] = /^(\w+)\((.*)$/.exec(line) ?? [];
    if (call === 'execve' || call === 'execveat') {
      // Only node itself, which strace starts.
      if (!args.startsWith(JSON.stringify(process.execPath))) found.processes.push(line);
    } else if (/^(?:fork|vfork|clone|clone3)$/.test(call)) {
      // A thread is not a process.
      if (!args.includes('CLONE_THREAD')) found.processes.push(line);
    } else if (call === 'connect' || call === 'sendto') found.connections.push(line);
    else if (places.some((place) => args.includes(`"${place}`))) found.kubeconfig.push(line);
  }
  return found;
}
