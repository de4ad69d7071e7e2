import vm from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { servedByRuntime } from '../support/manifests.ts';

/** The globals of a web worker that the server and its libraries use; no process, no Buffer, no require. */
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
  readonly params?: { readonly uri?: string; readonly folder?: string };
}

test('the server runs with only the globals of a web worker, and reads the config and the folder through the client', async () => {
  const bundle = await build({
    entryPoints: ['server/src/lsp/browser.ts'],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  });
  const answers = new Map<number, (result: unknown) => void>();
  const requested: string[] = [];
  const port = {
    onmessage: (_event: { data: unknown }): void => undefined,
    addEventListener: () => undefined,
    postMessage: (message: Message) => {
      if (message.method === undefined) answers.get(message.id ?? -1)?.(message.result);
      else if (message.id !== undefined) {
        requested.push(message.method);
        send({ id: message.id, result: answerOf(message) ?? null });
      }
    },
  };
  const repository = 'vscode-vfs://github/owner/repository';
  const files = new Map([
    [`${repository}/.gpulint.yaml`, 'gpu: l4\n'],
    [`${repository}/runtimes.yaml`, runtime],
  ]);

  /** The responses of the client, the only one with access to the files. */
  function answerOf({ method, params }: Message): unknown {
    if (method === 'gpulint/readFile') return files.get(params?.uri ?? '');
    if (method === 'gpulint/listFiles' && params?.folder === repository) return [`${repository}/runtimes.yaml`];
    return undefined;
  }

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

  const uri = `${repository}/pod.yaml`;
  await request('initialize', {
    processId: null,
    rootUri: repository,
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
  expect(requested).toContain('gpulint/readFile');

  const chat = `${repository}/chat.yaml`;
  send({
    method: 'textDocument/didOpen',
    params: { textDocument: { uri: chat, languageId: 'yaml', version: 1, text: servedByRuntime } },
  });
  // The folder is indexed in the background; the timeout of the test bounds it.
  for (;;) {
    const lenses = await request('textDocument/codeLens', { textDocument: { uri: chat } });
    if (/2 × L4 · \$/.test(JSON.stringify(lenses))) break;
  }
  expect(requested).toContain('gpulint/listFiles');
});

const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec:
  containers:
    - {name: kserve-container, image: "registry.example/vllm:1.2", resources: {limits: {nvidia.com/gpu: 2}}}
`;
