// @ts-check
// Shows with strace that the built server opens nothing outside a hostile workspace, connects to nothing and starts nothing:
//
//   node esbuild.mjs && npm run test:strace            # the server
//   node esbuild.mjs && npm run test:strace -- cli     # a check of the folder, which may read up to the root of its repository
//   node esbuild.mjs && npm run test:strace -- cluster # nothing of a cluster is touched before the user connects, and without trust
//
// It is no part of `npm test`: strace is not everywhere, and containers often forbid it.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { obstacle, traceCluster } from './cluster.mjs';
import { makeHostileWorkspace } from './hostile-workspace.mjs';

const reason = obstacle();
if (reason !== undefined) {
  console.log(`Skipped: ${reason}.`);
  process.exit(0);
}
if (process.argv[2] === 'cluster') process.exit(await cluster());

const root = path.join(import.meta.dirname, '..', '..');
const dist = path.join(root, 'dist');
const { top, workspace } = makeHostileWorkspace();
const trace = path.join(top, 'trace');

process.on('exit', () => rmSync(top, { recursive: true, force: true }));
/** What may be opened. */
const reach = process.argv[2] === 'cli' ? path.join(top, 'repo') : workspace;
const traced = process.argv[2] === 'cli' ? await checks() : await session();
const problems = problemsIn(traced);
for (const problem of problems) console.error(problem);
console.log(
  problems.length === 0 ? 'Nothing outside the workspace was opened.' : `${problems.length} forbidden calls.`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

/** @param {readonly string[]} args of the command line, which runs under strace in the workspace */
function start(args) {
  const calls = 'trace=open,openat,openat2,creat,connect,socket,execve,execveat,clone,clone3,fork,vfork,chdir';
  const command = [process.execPath, path.join(dist, 'cli.js'), ...args];
  // Without the environment of the user, which could make Node load other files.
  // There is no price sheet, which would be the one file outside the workspace that may be read.
  const env = { PATH: process.env.PATH, HOME: os.homedir(), XDG_CACHE_HOME: path.join(top, 'cache') };
  const child = spawn('strace', ['-f', '-qq', '-y', '-s', '4096', '-e', calls, '-o', trace, ...command], {
    cwd: workspace,
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
    detached: true,
  });
  // strace leaves what it traced behind, which may wait for a pipe.
  const group = child.pid;
  process.on('exit', () => {
    if (child.exitCode === null && group !== undefined) process.kill(-group, 'SIGKILL');
  });
  // What opens a pipe never comes back.
  const limit = setTimeout(() => {
    console.error('The server does not respond.');
    process.exit(1);
  }, 180_000);
  const ended = new Promise((resolve) => {
    child.on('exit', (status) => {
      clearTimeout(limit);
      resolve(status);
    });
  });
  return { child, ended };
}

/** @returns {Promise<number>} the exit status */
async function cluster() {
  const { apart, connected } = await traceCluster(path.join(import.meta.dirname, '..', '..', 'dist'));
  const counts = (/** @type {import('./cluster.mjs').Touched} */ { what, kubeconfig, processes, connections }) =>
    `${what}: ${kubeconfig.length} × kubeconfig, ${processes.length} × process, ${connections.length} × connection`;
  const bad = apart.flatMap(({ kubeconfig, processes, connections }) => [kubeconfig, processes, connections].flat());
  const blind = connected.filter((one) =>
    [one.kubeconfig, one.processes, one.connections].some(({ length }) => length === 0),
  );
  for (const line of [...[...apart, ...connected].map(counts), ...bad]) console.log(line);
  for (const { what } of blind) console.log(`${what}: the trace does not show what it must`);
  return bad.length + blind.length === 0 ? 0 : 1;
}

/** What was traced. A config that cannot be read ends a check, so the files are read by one that reads no config. */
async function checks() {
  let calls = '';
  for (const { options, statuses } of [
    { options: [], statuses: [2] },
    { options: ['--no-config'], statuses: [0, 1] },
  ]) {
    const { child, ended } = start(['check', '.', '--format', 'json', ...options]);
    child.stdout.resume();
    const status = Number(await ended);
    if (!statuses.includes(status)) throw new Error(`the check exited with status ${status}`);
    calls += readFileSync(trace, 'utf8');
  }
  return calls;
}

/** Asks everything about every file that a person could open. */
async function session() {
  const { child: server, ended } = start(['lsp', '--stdio']);
  /** @type {Map<number, (message: any) => void>} */
  const answers = new Map();
  let last = 0;
  const send = (/** @type {object} */ message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const request = (/** @type {string} */ method, /** @type {unknown} */ params) =>
    new Promise((resolve) => {
      last += 1;
      answers.set(last, resolve);
      send({ id: last, method, params });
    });
  let rest = Buffer.alloc(0);
  server.stdout.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const end = rest.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/.exec(rest.toString('latin1', 0, Math.max(0, end)))?.[1]);
      if (end < 0 || rest.length < end + 4 + length) return;
      const message = JSON.parse(rest.toString('utf8', end + 4, end + 4 + length));
      rest = rest.subarray(end + 4 + length);
      if (message.method === undefined) answers.get(message.id)?.(message);
      else if (message.id !== undefined) send({ id: message.id, result: null });
    }
  });

  const folder = pathToFileURL(workspace).href;
  await request('initialize', {
    processId: process.pid,
    rootUri: null,
    workspaceFolders: [{ uri: folder, name: 'space' }],
    capabilities: {
      textDocument: { diagnostic: {}, hover: { contentFormat: ['markdown'] } },
      workspace: { codeLens: { refreshSupport: true }, workspaceEdit: { documentChanges: true } },
    },
  });
  send({ method: 'initialized', params: {} });

  // Everything below the folder by name, and below links a little; each file as an editor would have opened it.
  const found = namesBelow(workspace);
  const files = [
    ...found,
    ...[
      'links/up/bait/pod.yaml',
      'links/twice/pod.yaml',
      'links/top/etc/passwd',
      'links/proc/self/environ',
      'chart-folder/templates/pod.yaml',
    ],
    ...['config-folder/pod.yaml', '../pod.yaml', '../../bait/pod.yaml', '../../bait/base/pod.yaml', '/etc/hosts'],
  ];
  const uris = [
    ...files.map((name) => pathToFileURL(path.resolve(workspace, name)).href),
    ...['%2e%2e/%2e%2e/bait/pod.yaml', '../../bait/base/pod.yaml', 'a%2f..%2f..%2f..%2fbait%2fpod.yaml'].map(
      (name) => `${folder}/${name}`,
    ),
    'file://server/share/pod.yaml',
    'untitled:Untitled-1',
    `untitled:${workspace}/../../bait/new.yaml`,
  ];
  const changes = uris.map((uri) => ({ uri, type: 1 }));
  for (const type of [1, 2]) {
    send({
      method: 'workspace/didChangeWatchedFiles',
      params: { changes: changes.map((change) => ({ ...change, type })) },
    });
  }
  const text = readFileSync(path.join(workspace, 'service.yaml'), 'utf8');
  const pod = readFileSync(path.join(workspace, 'pod.yaml'), 'utf8');
  for (const uri of uris) {
    const isText = /\/(?:kustomization\.ya?ml|Kustomization|templates\/\w+\.yaml)$/.test(uri) && uri.startsWith(folder);
    let content = uri.includes('service') ? text : pod;
    if (isText) {
      try {
        content = readFileSync(new URL(uri), 'utf8');
      } catch {
        // It is only there by name.
      }
    }
    const textDocument = { uri };
    const range = { start: { line: 0, character: 0 }, end: { line: 4, character: 0 } };
    const position = { line: 4, character: 20 };
    send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text: content } },
    });
    await Promise.all([
      request('textDocument/diagnostic', { textDocument }),
      request('textDocument/codeLens', { textDocument }),
      request('textDocument/hover', { textDocument, position }),
      request('textDocument/completion', { textDocument, position }),
      request('textDocument/definition', { textDocument, position }),
      request('textDocument/references', { textDocument, position, context: { includeDeclaration: true } }),
      request('textDocument/documentLink', { textDocument }),
      request('textDocument/inlayHint', { textDocument, range }),
      request('textDocument/codeAction', { textDocument, range, context: { diagnostics: [] } }),
      request('gpulint/setGpu', { uri, gpu: 'l4', provider: null }),
    ]);
    send({ method: 'textDocument/didClose', params: { textDocument } });
  }
  await request('gpulint/workspaceFixes', { uris });
  await request('gpulint/fixWorkspace', { uris, rule: null });
  await request('shutdown', null);
  send({ method: 'exit' });
  const status = await ended;
  if (status !== 0) throw new Error(`the server exited with status ${status}`);
  console.log(`Opened ${uris.length} files in the editor.`);
  return readFileSync(trace, 'utf8');
}

/** Links are named and not followed. @param {string} folder @returns {readonly string[]} */
function namesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    return entry.isDirectory() ? [name, ...namesBelow(name)] : [name];
  });
}

/** @param {string} text what strace wrote @returns {readonly string[]} */
function problemsIn(text) {
  let opens = 0;
  let inside = 0;
  const lines = text.split('\n').map((line) => line.replace(/^\d+ +/, ''));
  const bad = lines.filter((line) => {
    const [, call = '', args = ''] = /^(\w+)\((.*)$/.exec(line) ?? [];
    // The first is node itself; threads are no processes.
    if (call === 'execve') return !args.startsWith(JSON.stringify(process.execPath));
    if (/^(?:clone|clone3)$/.test(call)) return !args.includes('CLONE_THREAD');
    if (/^(?:connect|socket|fork|vfork|execveat|creat|chdir)$/.test(call)) return true;
    if (!/^open/.test(call)) return false;
    opens += 1;
    const name = /"((?:[^"\\]|\\.)*)"/.exec(args)?.[1] ?? '';
    // With -y the descriptor that was got says which file it is, links followed.
    const real = / = \d+<([^>]*)>/.exec(line)?.[1] ?? name;
    if ([name, real].every((one) => isBelow(path.resolve(workspace, one), reach))) {
      inside += 1;
      // Of what is inside, only files and folders. The command line opens a large file to see how large it is, and reads none of it.
      return (
        /pipe\.yaml|pipes\/\.gpulint/.test(name) || (reach === workspace && /huge\.yaml|huge\/\.gpulint/.test(name))
      );
    }
    return !isOfNode(name);
  });
  console.log(`The process opened ${opens} files and folders, ${inside} of them in the workspace.`);
  // A session that opened nothing shows nothing.
  return inside < 20 ? [...bad, 'The server opened almost nothing: the session is broken.'] : bad;
}

/** What node opens by itself before and while it runs a program, and the compiled code that gpulint keeps in its user's cache. */
function isOfNode(/** @type {string} */ name) {
  const cache = path.join(top, 'cache', 'gpulint', 'code');
  if (
    [dist, cache, path.join(root, 'package.json'), path.dirname(path.dirname(process.execPath))].some((one) =>
      isBelow(name, one),
    )
  )
    return true;
  return (
    /^\/(?:usr\/)?(?:local\/)?lib(?:32|64)?\/.*\.so(?:\.\d+)*$/.test(name) ||
    /^\/etc\/(?:ld\.so\.(?:cache|preload)|ssl\/openssl\.cnf|localtime)$/.test(name) ||
    /^\/usr\/(?:lib|share)\/(?:ssl|zoneinfo|locale)\//.test(name) ||
    /^\/proc\/(?:self|meminfo|cpuinfo|version_signature|stat|\d+)(?:\/(?:maps|cgroup|stat|status|auxv|exe))?$/.test(
      name,
    ) ||
    name === '/proc/sys/vm/overcommit_memory' ||
    /^\/sys\/(?:fs\/cgroup|devices\/system\/cpu|kernel\/mm\/transparent_hugepage)(?:\/|$)/.test(name) ||
    /^\/dev\/(?:null|u?random)$/.test(name)
  );
}

function isBelow(/** @type {string} */ name, /** @type {string} */ folder) {
  return name === folder || name.startsWith(`${folder}/`);
}
