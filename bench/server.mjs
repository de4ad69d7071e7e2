// @ts-check
// A language server as a child process that communicates over standard input and output, and a clock.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** @typedef {{ id?: number | string, method?: string, params?: any, result?: any, error?: { message: string } }} Message */

/**
 * @typedef {object} Server
 * @property {any} capabilities
 * @property {number} startedAfter milliseconds from the start of the process to the answer to `initialize`
 * @property {number} cpuToStart milliseconds of processor time, of all threads, up to the same moment; NaN where the system does not tell
 * @property {(method: string, params: unknown) => void} notify
 * @property {(method: string, params: unknown) => Promise<any>} request
 * @property {(method: string, handle: (params: any) => void) => void} on handles a notification
 * @property {(uri: string, version: number) => Promise<readonly unknown[]>} diagnostics of that version or a later one, requested or
 *   waited for, as the server has it; call it behind the change, in the same turn
 * @property {() => { rss: number, peak: number, cpu: number }} usage megabytes, and milliseconds of processor time since the start
 * @property {() => number} worked milliseconds that the server's own thread has worked; where the system does not tell, the time
 * @property {{ begun: boolean, ended: boolean, end: Promise<void> }} progress of work that the server shows by itself; `end` is met at once
 *   where nothing has begun
 * @property {() => Promise<void>} stop
 */

/**
 * @param {import('./measure.mjs').Program} program
 * @param {string} [folder] the workspace, as a URI
 * @param {object} [options] the initialization options
 * @returns {Promise<Server>}
 */
export async function startServer({ command: [program = '', ...args], env }, folder, options = { trusted: true }) {
  const begin = performance.now();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let said = '';
  child.stderr.on('data', (data) => {
    said = (said + data).slice(-2000);
  });
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  /** @type {Set<(params: any) => void>} */
  const listeners = new Set();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  void ended.then((code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the server ended with ${code}: ${said}`));
  });
  child.stdin.on('error', () => undefined);
  let nextId = 1;
  /** @type {() => void} */
  let finish = () => undefined;
  /** @type {Promise<void>} */
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  /** @type {Map<string, (params: any) => void>} */
  const handlers = new Map();
  const progress = {
    begun: false,
    ended: false,
    get end() {
      return this.begun ? finished : Promise.resolve();
    },
  };

  /** @param {Message} message */
  function send(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  onMessages(child.stdout, (message) => {
    if (message.method !== undefined && message.id !== undefined) send({ id: message.id, result: answer(message) });
    else if (message.method === '$/progress') {
      progress.begun ||= message.params.value.kind === 'begin';
      progress.ended ||= message.params.value.kind === 'end';
      if (progress.ended) finish();
    } else if (message.method === 'textDocument/publishDiagnostics')
      for (const listen of listeners) listen(message.params);
    else if (message.method !== undefined) handlers.get(message.method)?.(message.params);
    else if (typeof message.id === 'number') {
      const request = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) request?.reject(new Error(message.error.message));
      else request?.resolve(message.result);
    }
  });

  /** @param {string} method @param {unknown} params */
  const notify = (method, params) => send({ method, params });
  /** @param {string} method @param {unknown} params @returns {Promise<any>} */
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });

  const { capabilities } = await request('initialize', initializeParams(folder, options));
  const startedAfter = performance.now() - begin;
  const cpuToStart = cpuOf(child.pid ?? 0);
  notify('initialized', {});
  return {
    capabilities,
    startedAfter,
    cpuToStart,
    notify,
    request,
    on: (method, handle) => void handlers.set(method, handle),
    async diagnostics(uri, version) {
      if (capabilities.diagnosticProvider)
        return (await request('textDocument/diagnostic', { textDocument: { uri } })).items;
      return new Promise((resolve) => {
        listeners.add(function listen(params) {
          if (params.uri !== uri || (params.version ?? version) < version) return;
          listeners.delete(listen);
          resolve(params.diagnostics);
        });
      });
    },
    progress,
    usage: () => usageOf(child.pid ?? 0),
    worked: () => workedBy(child.pid ?? 0),
    async stop() {
      await request('shutdown', null);
      notify('exit', undefined);
      await ended;
    },
  };
}

/** @param {string | undefined} folder @param {object} options */
const initializeParams = (folder, options) => ({
  processId: process.pid,
  rootUri: folder ?? null,
  workspaceFolders: folder === undefined ? null : [{ uri: folder, name: 'bench' }],
  initializationOptions: options,
  capabilities: {
    general: { positionEncodings: ['utf-16'] },
    textDocument: {
      synchronization: { dynamicRegistration: false },
      publishDiagnostics: { versionSupport: true },
      diagnostic: { dynamicRegistration: false },
      hover: { contentFormat: ['markdown'] },
      completion: { completionItem: { snippetSupport: true } },
      codeLens: {},
      codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix'] } } },
    },
    workspace: { configuration: true, didChangeConfiguration: {}, workspaceFolders: folder !== undefined },
    window: { workDoneProgress: folder !== undefined },
  },
});

/** What a server asks of a client without settings. @param {Message} message */
function answer({ method, params }) {
  return method === 'workspace/configuration' ? params.items.map(() => null) : null;
}

/** @param {import('node:stream').Readable} stream @param {(message: Message) => void} handle */
function onMessages(stream, handle) {
  let buffer = Buffer.alloc(0);
  stream.on('data', (data) => {
    buffer = buffer.length === 0 ? data : Buffer.concat([buffer, data]);
    for (;;) {
      const head = buffer.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: *(\d+)/i.exec(buffer.toString('latin1', 0, head))?.[1]);
      const end = head + 4 + length;
      if (buffer.length < end) return;
      const message = JSON.parse(buffer.toString('utf8', head + 4, end));
      buffer = buffer.subarray(end);
      handle(message);
    }
  });
}

/** @param {number} pid */
function workedBy(pid) {
  try {
    // In nanoseconds, of the first thread alone.
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** Milliseconds that all threads have run, finer than the hundredths of `usageOf`. @param {number} pid */
function cpuOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
      .reduce((sum, time) => sum + time, 0);
  } catch {
    return Number.NaN;
  }
}

/** Linux tells it; elsewhere it is not known. @param {number} pid */
function usageOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const megabytes = (/** @type {string} */ field) =>
      Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
    // Behind the name, which may hold spaces: user and system time in hundredths of a second.
    const times = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return { rss: megabytes('VmRSS'), peak: megabytes('VmHWM'), cpu: (Number(times[11]) + Number(times[12])) * 10 };
  } catch {
    return { rss: Number.NaN, peak: Number.NaN, cpu: Number.NaN };
  }
}
