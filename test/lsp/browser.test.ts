import vm from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

/** What a web worker has, of what the server and its libraries use; no process, no Buffer, no require. */
function workerGlobals() {
  const { setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask, TextEncoder, TextDecoder, URL } =
    globalThis;
  return {
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    queueMicrotask,
    TextEncoder,
    TextDecoder,
    URL,
    console,
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
}

test('the server runs where there is nothing but what a web worker has, and reads the config through the client', async () => {
  const bundle = await build({
    entryPoints: ['server/src/lsp/browser.ts'],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  });
  const answers = new Map<number, (result: unknown) => void>();
  const asked: string[] = [];
  const port = {
    onmessage: (_event: { data: unknown }): void => undefined,
    addEventListener: () => undefined,
    postMessage: (message: Message) => {
      if (message.method === undefined) answers.get(message.id ?? -1)?.(message.result);
      else if (message.id !== undefined) {
        asked.push(message.method);
        const result = message.method === 'gpulint/readFile' ? 'gpu: l4\n' : null;
        send({ id: message.id, result });
      }
    },
  };
  const context = vm.createContext({ ...workerGlobals(), self: port });
  vm.runInContext(bundle.outputFiles[0]!.text, context);

  function send(message: object): void {
    // A worker gets a copy.
    port.onmessage({ data: JSON.parse(JSON.stringify({ jsonrpc: '2.0', ...message })) });
  }
  let last = 0;
  function request(method: string, params: object): Promise<unknown> {
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      answers.set(id, resolve);
      send({ id, method, params });
    });
  }

  const uri = 'vscode-vfs://github/owner/repository/pod.yaml';
  await request('initialize', {
    processId: null,
    rootUri: 'vscode-vfs://github/owner/repository',
    capabilities: { textDocument: { diagnostic: {} } },
    initializationOptions: { readFile: true },
  });
  send({ method: 'initialized', params: {} });
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
    - name: a
      image: busybox:1.36
      resources: { requests: { nvidia.com/gpu: 1 } }
`;
  send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } });
  expect(await request('textDocument/diagnostic', { textDocument: { uri } })).toMatchObject({
    items: [{ code: 'gpu-limits-required' }],
  });
  expect(await request('textDocument/codeLens', { textDocument: { uri } })).toMatchObject([
    { command: { title: expect.stringMatching(/^1 × L4 · \$/) } },
  ]);
  expect(asked).toContain('gpulint/readFile');
});
