import { describe, expect, test } from 'vitest';
import { DidChangeWatchedFilesNotification, FileChangeType } from 'vscode-languageserver/node';
import { type Editor, folder, openEditor, withCursor } from './editor.ts';
import { chat, runtime, runtimes, service, titles, untilLens } from './served-model.ts';

/** What the server asks for where something that is shown has changed. */
const refresh = ['workspace/diagnostic/refresh', 'workspace/codeLens/refresh'];

/** What waits for it goes on when it is opened. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Types another number of GPUs into the runtime, which has one digit of them. */
async function typeGpus(editor: Editor, gpus: number): Promise<void> {
  const start = withCursor(runtime(4).replace('gpu: 4', 'gpu: $04')).position;
  await editor.change(runtimes, { start, end: { ...start, character: start.character + 1 } }, String(gpus));
}

describe('what rests on another file', () => {
  test('is told although a part was asked for while files were being read', async () => {
    const last = `${folder}/apps/z.yaml`;
    const files: Record<string, string> = { [runtimes]: runtime(4), [last]: runtime(1).replaceAll('vllm', 'own') };
    const uris = Object.keys(files);
    const listing = gate();
    let reading = gate();
    const host = {
      readFile: async (uri: string) => {
        if (uri === last) await reading.opened;
        return files[uri];
      },
      listFiles: async () => {
        await listing.opened;
        return uris;
      },
    };
    const editor = await openEditor({ host });
    await editor.open(chat, withCursor(service).text);
    // Until the server has done what it does at an opening: it looks for what has changed elsewhere, too.
    for (let ask = 0; ask < 5; ask++) expect(await titles(editor, chat)).toEqual([]);
    listing.open();
    await untilLens(editor, chat, /^4 × L4/);
    expect(editor.refreshes).toEqual([]);
    reading.open();
    await editor.until(() => editor.refreshes.length === refresh.length);
    expect(editor.refreshes).toEqual(refresh);

    reading = gate();
    files[runtimes] = runtime(2);
    const changes = uris.map((uri) => ({ uri, type: FileChangeType.Changed as FileChangeType }));
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes });
    await untilLens(editor, chat, /^2 × L4/);
    expect(editor.refreshes).toEqual(refresh);
    reading.open();
    await editor.until(() => editor.refreshes.length === 2 * refresh.length);
    expect(editor.refreshes).toEqual([...refresh, ...refresh]);
  });

  test('is told again after what was changed and changed back', async () => {
    const editor = await openEditor();
    await editor.open(runtimes, runtime(4));
    await editor.diagnostics(runtimes);
    await editor.open(chat, withCursor(service).text);
    expect((await titles(editor, chat)).join()).toMatch(/^4 × L4/);
    await typeGpus(editor, 2);
    await editor.until(() => editor.refreshes.length === refresh.length);
    await typeGpus(editor, 4);
    await editor.diagnostics(runtimes);
    expect((await titles(editor, chat)).join()).toMatch(/^4 × L4/);
    await typeGpus(editor, 3);
    await editor.until(() => editor.refreshes.length === 2 * refresh.length);
    expect((await titles(editor, chat)).join()).toMatch(/^3 × L4/);
  });

  test('is fetched by the client itself where its own text changes', async () => {
    const editor = await openEditor();
    await editor.open(runtimes, `${runtime(4)}---\n${withCursor(service).text}`);
    expect((await titles(editor, runtimes)).join()).toMatch(/4 × L4/);
    const other = `${folder}/other.yaml`;
    await editor.open(other, 'a: 1\n');
    for (const gpus of [2, 3, 5]) {
      await typeGpus(editor, gpus);
      // Time for the server to look at what it changed.
      for (let turn = 0; turn < 5; turn += 1) await editor.diagnostics(other);
      await untilLens(editor, runtimes, new RegExp(`^${gpus} × L4 · `));
      await editor.diagnostics(runtimes);
    }
    expect(editor.refreshes).toEqual([]);
  });

  test('is told although nobody asks about the other file', async () => {
    const editor = await openEditor();
    await editor.open(runtimes, runtime(4));
    await editor.open(chat, withCursor(service).text);
    await untilLens(editor, chat, /^4 × L4/);
  });

  test('is told although another folder cannot be looked through', async () => {
    const other = 'file:///other';
    const [isvc, its] = [`${other}/chat.yaml`, `${other}/runtimes.yaml`];
    const host = {
      readFile: async (uri: string) => (uri === its ? runtime(4) : undefined),
      listFiles: async (below: string) => {
        if (below === folder) throw new Error('no such share');
        return [its];
      },
    };
    const editor = await openEditor({ host, folders: { [other]: {} } });
    await editor.open(isvc, withCursor(service).text);
    await untilLens(editor, isvc, /^4 × L4/);
    expect(editor.log.join()).toContain(`looking through ${folder} failed: `);
  });

  test('does not come from a folder that was taken away while it was read', async () => {
    const gone = 'file:///gone';
    const reading = gate();
    const asked: string[] = [];
    const host = {
      async readFile(uri: string) {
        if (uri !== `${gone}/runtimes.yaml`) return undefined;
        asked.push(uri);
        await reading.opened;
        return runtime(4);
      },
      listFiles: async (below: string) => {
        asked.push(below);
        return below === gone ? [`${gone}/runtimes.yaml`] : [];
      },
    };
    const editor = await openEditor({ host, folders: { [gone]: {} } });
    await editor.open(chat, withCursor(service).text);
    expect(await titles(editor, chat)).toEqual([]);
    await editor.until(() => asked.length === 3);
    await editor.setFolders([folder]);
    while (asked.length < 4) await titles(editor, chat);
    reading.open();
    expect(await titles(editor, chat)).toEqual([]);
    expect(await titles(editor, chat)).toEqual([]);
    expect(asked).toEqual([folder, gone, `${gone}/runtimes.yaml`, folder]);
  });
});
