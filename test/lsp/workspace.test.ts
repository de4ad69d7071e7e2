import { describe, expect, test } from 'vitest';
import {
  DidChangeWatchedFilesNotification,
  DidSaveTextDocumentNotification,
  FileChangeType,
  HoverRequest,
  WorkDoneProgress,
} from 'vscode-languageserver/node';
import { gpuDeployment, modelConfig, servedPod } from '../support/manifests.ts';
import { caret, folder, openEditor, withCursor } from './editor.ts';
import { chat, define, openFolder, runtime, runtimes, service, titles, untilLens } from './served-model.ts';

describe('files that are not open', () => {
  test('complete an open file, which follows their changes on disk', async () => {
    const files = { [runtimes]: runtime(4) };
    const editor = await openFolder(files);
    await editor.open(chat, withCursor(service).text);
    await untilLens(editor, chat, /^4 × L4/);
    const before = editor.refreshes.length;
    files[runtimes] = runtime(2);
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: runtimes, type: FileChangeType.Changed }],
    });
    await editor.until(() => editor.refreshes.length > before);
    expect((await titles(editor, chat)).join()).toMatch(/^2 × L4/);
    const again = editor.refreshes.length;
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: runtimes, type: FileChangeType.Deleted }],
    });
    await editor.until(() => editor.refreshes.length > again);
    expect(await titles(editor, chat)).toEqual([]);
  });

  test('are read from the editor while they are open', async () => {
    const editor = await openFolder({ [runtimes]: runtime(4) });
    await editor.open(chat, withCursor(service).text);
    await editor.open(runtimes, runtime(1));
    await untilLens(editor, chat, /^1 × L4/);
    const before = editor.refreshes.length;
    await editor.close(runtimes);
    await editor.until(() => editor.refreshes.length > before);
    expect((await titles(editor, chat)).join()).toMatch(/^4 × L4/);
  });

  test('are also the config.json of a model, whose changes the hover follows', async () => {
    const config = `${folder}/models/acme-chat/config.json`;
    const files = { [config]: modelConfig({}) };
    const editor = await openFolder(files);
    const { text, position } = withCursor(
      servedPod('./models/acme-chat').replace('nvidia.com/gpu: 1', 'nvidia.com/gpu: $01'),
    );
    await editor.open(chat, text);
    await untilLens(editor, chat, /fits in 15\.4 of 22 GiB/);
    expect(JSON.stringify(await editor.hover(chat, position))).toContain('shape from its config.json');
    const before = editor.refreshes.length;
    files[config] = modelConfig({ num_hidden_layers: 16 });
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: config, type: FileChangeType.Changed }],
    });
    await editor.until(() => editor.refreshes.length > before);
    await untilLens(editor, chat, /fits in 8\.4 of 22 GiB/);
  });

  test('keep the content of the latest read, although an older one ends after it', async () => {
    const files: Record<string, string> = { [runtimes]: runtime(4) };
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let answer: () => void = () => undefined;
    const old = new Promise<string>((resolve) => {
      answer = () => resolve(runtime(4));
    });
    let reads = 0;
    const readFile = async (uri: string) => {
      if (uri !== runtimes) return files[uri];
      reads += 1;
      begin();
      return reads === 1 ? old : files[uri];
    };
    const editor = await openEditor({ host: { readFile, listFiles: async () => Object.keys(files) } });
    await begun;
    files[runtimes] = runtime(2);
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: runtimes, type: FileChangeType.Changed }],
    });
    await editor.open(chat, withCursor(service).text);
    await untilLens(editor, chat, /^2 × L4/);
    answer();
    await old;
    // The read is processed before the next request.
    await titles(editor, chat);
    expect((await titles(editor, chat)).join()).toMatch(/^2 × L4/);
  });

  test('are read as saved if the editor does not watch files', async () => {
    const files = { [runtimes]: runtime(4) };
    const editor = await openFolder(files, { capabilities: {} });
    await editor.open(chat, withCursor(service).text);
    await untilLens(editor, chat, /^4 × L4/);
    await editor.open(runtimes, runtime(1));
    files[runtimes] = runtime(1);
    await editor.connection.sendNotification(DidSaveTextDocumentNotification.type, { textDocument: { uri: runtimes } });
    await editor.close(runtimes);
    await untilLens(editor, chat, /^1 × L4/);
  });

  test('are followed even if the workspace itself is below an excluded folder', async () => {
    const cached = 'file:///home/me/.cache/repo';
    const [isvc, its] = [`${cached}/chat.yaml`, `${cached}/runtimes.yaml`];
    const files: Record<string, string> = { [its]: runtime(4) };
    const editor = await openFolder(files, { folders: { [cached]: {} } });
    await editor.open(isvc, withCursor(service).text);
    await untilLens(editor, isvc, /^4 × L4/);
    files[its] = runtime(2);
    const changes = Object.keys(files).map((uri) => ({ uri, type: FileChangeType.Changed as FileChangeType }));
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes });
    await untilLens(editor, isvc, /^2 × L4/);
  });

  test('are added with their folder if the editor reports only the folder', async () => {
    const created = `${folder}/new/runtimes.yaml`;
    const requested: string[] = [];
    const read: string[] = [];
    const host = {
      readFile: async (uri: string) => {
        read.push(uri);
        return uri === created ? runtime(4) : undefined;
      },
      listFiles: async (below: string) => {
        requested.push(below);
        return below === `${folder}/new` ? [created] : [];
      },
    };
    const editor = await openEditor({ host });
    await editor.open(chat, withCursor(service).text);
    // Twice, and each folder of the tree, like VS Code.
    const names = ['node_modules', 'new/deep', 'new', 'node_modules/a', 'new/runtimes.yaml', 'new/runtimes.yaml'];
    const changes = names.map((name) => ({ uri: `${folder}/${name}`, type: FileChangeType.Created as FileChangeType }));
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes });
    await untilLens(editor, chat, /^4 × L4/);
    await editor.until(() => requested.length > 1);
    expect(requested.filter((one) => one !== folder)).toEqual([`${folder}/new`]);
    expect(read.filter((one) => one === created)).toEqual([created]);
  });

  test('are removed with their folder if the editor reports only the folder', async () => {
    const config = `${folder}/apps/.gpulint.yaml`;
    const files: Record<string, string> = { [runtimes]: runtime(4), [config]: 'provider: aws\n' };
    const outside = `${folder}/chat.yaml`;
    const editor = await openFolder(files);
    await editor.open(chat, withCursor(service).text);
    await editor.open(outside, withCursor(service).text);
    await untilLens(editor, chat, /^4 × L4/);
    await untilLens(editor, outside, /^4 × L4/);
    const before = (await titles(editor, chat)).join();
    delete files[runtimes];
    delete files[config];
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: `${folder}/apps`, type: FileChangeType.Deleted }],
    });
    for (;;) if ((await titles(editor, outside)).length === 0) break;
    // The config no longer applies: prices of all providers.
    await editor.change(chat, caret(withCursor(service).position), '');
    await editor.open(runtimes, runtime(4));
    await untilLens(editor, chat, /^4 × L4/);
    expect((await titles(editor, chat)).join()).not.toBe(before);
  });

  test('are skipped if the config ignores them', async () => {
    const files = { [runtimes]: runtime(4), [`${folder}/.gpulint.yaml`]: 'ignore: [runtimes.yaml]\n' };
    const editor = await openFolder(files);
    const other = `${folder}/apps/other.yaml`;
    await editor.open(chat, withCursor(service).text);
    // Opened last, so it is analyzed after the folder is indexed.
    await editor.open(other, runtime(1).replaceAll('vllm', 'own'));
    expect(await titles(editor, chat)).toEqual([]);
    expect(await define(editor, chat, service)).toEqual([]);
  });
});

describe('a config that changes', () => {
  const config = `${folder}/.gpulint.yaml`;

  test('restores files that are no longer ignored, and removes files that are', async () => {
    const files = { [runtimes]: runtime(4), [config]: 'ignore: [apps/runtimes.yaml]\n' };
    const editor = await openFolder(files);
    const other = `${folder}/apps/other.yaml`;
    await editor.open(chat, withCursor(service).text);
    await editor.open(other, runtime(1).replaceAll('vllm', 'own'));
    expect(await titles(editor, chat)).toEqual([]);
    const change = async (text: string) => {
      files[config] = text;
      await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
        changes: [{ uri: config, type: FileChangeType.Changed }],
      });
    };
    await change('ignore: []\n');
    await untilLens(editor, chat, /^4 × L4/);
    await change('ignore: ["**/runtimes.yaml"]\n');
    for (;;) if ((await titles(editor, chat)).length === 0) break;
  });

  test.each(['is not open', 'is open, and not requested again'])(
    'changes the cost of a replica whose file %s',
    async (how) => {
      const deployment = gpuDeployment('server', '{nvidia.com/gpu.product: NVIDIA-L4}');
      const scaler = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: server}
spec:
  scaleTargetRef: {name: server}
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {}}]
`;
      const files = { [`${folder}/apps/server.yaml`]: deployment, [config]: 'prices: {gpus: {l4: 10}}\n' };
      const editor = await openFolder(files);
      const uri = `${folder}/apps/scaler.yaml`;
      if (how !== 'is not open') {
        await editor.open(`${folder}/apps/server.yaml`, deployment);
        await editor.diagnostics(`${folder}/apps/server.yaml`);
      }
      await editor.open(uri, scaler);
      const position = withCursor(scaler.replace('maxReplicaCount: 4', 'maxReplicaCount: $04')).position;
      const untilHover = async (said: RegExp) => {
        for (;;) {
          const found = await editor.connection.sendRequest(HoverRequest.type, { textDocument: { uri }, position });
          if (said.test(JSON.stringify(found?.contents ?? ''))) return;
        }
      };
      await untilHover(/\$40/);
      files[config] = 'prices: {gpus: {l4: 20}}\n';
      await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
        changes: [{ uri: config, type: FileChangeType.Changed }],
      });
      await untilHover(/\$80/);
    },
  );
});

test('without a host that lists files, open files are known', async () => {
  const editor = await openEditor();
  await editor.open(chat, withCursor(service).text);
  expect(await titles(editor, chat)).toEqual([]);
  await editor.open(runtimes, runtime(2));
  await editor.until(() => editor.refreshes.length > 0);
  expect((await titles(editor, chat)).join()).toMatch(/^2 × L4/);
});

describe('a large folder', () => {
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [
      `${folder}/many/${index}.yaml`,
      runtime(1).replaceAll('vllm', `r${index}`),
    ]),
  );
  const capabilities = {
    window: { workDoneProgress: true },
    workspace: { diagnostics: { refreshSupport: true } },
    textDocument: { diagnostic: {} },
  };

  test('is indexed in slices, with other requests in between, and with progress', async () => {
    let reads = 0;
    let release: () => void = () => undefined;
    let show: (token: string) => unknown = () => undefined;
    const answered = new Promise<void>((resolve) => {
      release = resolve;
    });
    const host = {
      async readFile(uri: string) {
        if (many[uri] === undefined) return undefined;
        reads += 1;
        // Work that does not yield would never receive the response for which the last file waits.
        if (uri.endsWith('/499.yaml')) await answered;
        return many[uri];
      },
      listFiles: async () => Object.keys(many),
    };
    const received: string[] = [];
    const ended = new Promise<void>((resolve) => {
      const seen = (kind: string) => {
        received.push(kind);
        if (kind === 'end') resolve();
      };
      show = (token) => editor.connection.onProgress(WorkDoneProgress.type, token, ({ kind }) => seen(kind));
    });
    const editor = await openEditor({ capabilities, host, progress: (token) => show(token as string) });
    await editor.open(chat, withCursor(service).text);
    expect(await titles(editor, chat)).toEqual([]);
    expect(reads).toBeLessThanOrEqual(500);
    expect(received).not.toContain('end');
    release();
    await ended;
    expect(received[0]).toBe('begin');
    expect(reads).toBe(500);
  });

  test('does not delay requests although every read ends at once', async () => {
    const reads: string[] = [];
    const host = {
      // Reads end at once: only the server itself yields to other requests.
      readFile: async (uri: string) => {
        if (many[uri] !== undefined) reads.push(uri);
        return many[uri];
      },
      listFiles: async () => Object.keys(many),
    };
    const editor = await openEditor({ capabilities, host });
    await editor.open(chat, withCursor(service).text);
    await titles(editor, chat);
    expect(reads.length).toBeLessThan(500);
  });

  test('shows progress, a small one does not', async () => {
    const created: unknown[] = [];
    const progress = (token: unknown) => created.push(token);
    const large = await openFolder({ ...many, [runtimes]: runtime(4) }, { capabilities, progress });
    await large.open(chat, withCursor(service).text);
    await untilLens(large, chat, /^4 × L4/);
    expect(created).toHaveLength(1);
    const small = await openFolder({ [runtimes]: runtime(4) }, { capabilities, progress });
    await small.open(chat, withCursor(service).text);
    await untilLens(small, chat, /^4 × L4/);
    expect(created).toHaveLength(1);
  });
});
