import { expect, test } from 'vitest';
import {
  type Diagnostic,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  DidSaveTextDocumentNotification,
  FileChangeType,
} from 'vscode-languageserver/node';
import { caret, configUri, type Editor, folder, modern, openEditor } from './editor.ts';
import { openFolder } from './served-model.ts';

// A request without a limit, which the API server rejects.
const pod = (limit = '') => `apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
    - name: main
      image: busybox:1.36
      resources: {requests: {nvidia.com/gpu: 1}${limit}}
`;
const fine = pod(', limits: {nvidia.com/gpu: 1}');
const a = `${folder}/a.yaml`;
const b = `${folder}/deep/b.yaml`;

/** What the client shows as pushed, by file: the last message about each. */
function shown({ pushed }: Editor): Readonly<Record<string, readonly unknown[]>> {
  const last = new Map(pushed.map(({ uri, diagnostics }) => [uri, codes(diagnostics)]));
  return Object.fromEntries([...last].filter(([, found]) => found.length > 0));
}

function codes(diagnostics: readonly Diagnostic[]): readonly unknown[] {
  return diagnostics.map(({ code }) => code);
}

async function changed(editor: Editor, type: FileChangeType, uri: string): Promise<void> {
  await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [{ uri, type }] });
}

const problem = ['gpu-limits-required'];

test('findings in files that are not open are pushed, and follow the disk', async () => {
  const files: Record<string, string> = { [a]: pod(), [b]: fine, [`${folder}/c.yaml`]: 'kind: other\n' };
  const editor = await openFolder(files);
  await expect.poll(() => shown(editor)).toEqual({ [a]: problem });
  expect(editor.pushed[0]).toMatchObject({
    uri: a,
    diagnostics: [{ source: 'gpulint', range: { start: { line: 7 } } }],
  });
  files[b] = pod();
  await changed(editor, FileChangeType.Changed, b);
  await expect.poll(() => shown(editor)).toEqual({ [a]: problem, [b]: problem });
  delete files[a];
  await changed(editor, FileChangeType.Deleted, a);
  await expect.poll(() => shown(editor)).toEqual({ [b]: problem });
  // Some clients report only the folder.
  delete files[b];
  await changed(editor, FileChangeType.Deleted, `${folder}/deep`);
  await expect.poll(() => shown(editor)).toEqual({});
});

test('an open document shows its diagnostics once, whether they are pulled or pushed', async () => {
  for (const capabilities of [modern, {}]) {
    const host = {
      readFile: async (uri: string) => (/\/[ab]\.yaml$/.test(uri) ? pod() : undefined),
      listFiles: async () => [a, b],
    };
    const editor = await openEditor({ host, capabilities });
    await expect.poll(() => shown(editor)).toEqual({ [a]: problem, [b]: problem });
    // This client spells the URI in another way than the server lists it.
    const own = a.replace('work%20space', 'work%20spac%65');
    await editor.open(own, pod());
    if (capabilities === modern) expect(codes(await editor.diagnostics(own))).toEqual(problem);
    await expect.poll(() => shown(editor)[a]).toBeUndefined();
    expect(shown(editor)).toEqual(capabilities === modern ? { [b]: problem } : { [own]: problem, [b]: problem });
    await editor.close(own);
    await expect.poll(() => shown(editor)).toEqual({ [a]: problem, [b]: problem });
  }
});

test('typing does not change what is shown for other files; saving does', async () => {
  const claim = (count: number) => `apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus}
spec: {hard: {requests.nvidia.com/gpu: ${count}}}
`;
  const quota = `${folder}/quota.yaml`;
  const files: Record<string, string> = { [quota]: claim(8), [a]: fine };
  const editor = await openFolder(files);
  await editor.open(quota, claim(8));
  await editor.diagnostics(quota);
  expect(shown(editor)).toEqual({});
  await editor.change(quota, { start: { line: 3, character: 39 }, end: { line: 3, character: 40 } }, '0');
  expect(editor.text(quota)).toBe(claim(0));
  await editor.diagnostics(quota);
  await editor.diagnostics(quota);
  expect(shown(editor)).toEqual({});
  files[quota] = claim(0);
  await editor.connection.sendNotification(DidSaveTextDocumentNotification.type, { textDocument: { uri: quota } });
  await expect.poll(() => shown(editor)).toEqual({ [a]: ['quota-too-small'] });
});

test('configs apply to each file, and ignored files have no findings', async () => {
  const files: Record<string, string> = {
    [a]: pod(),
    [b]: pod(),
    [configUri]: 'ignore: [deep]\n',
  };
  const editor = await openFolder(files);
  await expect.poll(() => shown(editor)).toEqual({ [a]: problem });
  files[configUri] = 'rules: {gpu-limits-required: "off"}\n';
  files[`${folder}/deep/.gpulint.yaml`] = 'rules: {gpu-limits-required: warning}\n';
  await changed(editor, FileChangeType.Changed, configUri);
  await changed(editor, FileChangeType.Created, `${folder}/deep/.gpulint.yaml`);
  await expect.poll(() => shown(editor)).toEqual({ [b]: problem });
});

test('the setting limits the size of the folder, and turns it off', async () => {
  const files = { [a]: pod(), [b]: pod() };
  const editor = await openFolder(files, { settings: { closedFiles: { maxFiles: 1 } } });
  await editor.open(`${folder}/open.yaml`, pod());
  expect(codes(await editor.diagnostics(`${folder}/open.yaml`))).toEqual(problem);
  const set = async (maxFiles: number) => {
    Object.assign(editor.settings, { closedFiles: { maxFiles } });
    await editor.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
  };
  await set(2);
  await expect.poll(() => shown(editor)).toEqual({ [a]: problem, [b]: problem });
  await set(0);
  await expect.poll(() => shown(editor)).toEqual({});
});

test('a folder that leaves the window takes its findings along', async () => {
  const editor = await openFolder({ [a]: pod() });
  await expect.poll(() => shown(editor)).toEqual({ [a]: problem });
  await editor.setFolders([]);
  await expect.poll(() => shown(editor)).toEqual({});
});

test('a file that cannot be read does not stop the others', async () => {
  const editor = await openEditor({
    host: {
      readFile: async (uri) => {
        if (uri === a) throw new Error('disk error');
        return uri === b ? pod() : undefined;
      },
      listFiles: async () => [a, b],
    },
  });
  await expect.poll(() => shown(editor)).toEqual({ [b]: problem });
  await editor.open(b, pod());
  await editor.change(b, caret({ line: 0, character: 0 }), '# a comment\n');
  expect(codes(await editor.diagnostics(b))).toEqual(problem);
});
