import { expect, test } from 'vitest';
import { CancellationTokenSource, LSPErrorCodes, type WorkspaceEdit } from 'vscode-languageserver/node';
import { type EditResult, methods, type WorkspaceFixesResult } from '../../server/src/lsp/protocol.ts';
import { endpoint, rejectedPod } from '../support/manifests.ts';
import { caret, configUri, type EditorOptions, folder, modern, openEditor } from './editor.ts';

const uris = ['a', 'b', 'generated/c', 'chat', 'missing'].map((name) => `${folder}/${name}.yaml`);
const [a = '', b = '', c = '', chat = ''] = uris;
const files = {
  [a]: rejectedPod,
  [b]: rejectedPod,
  [c]: rejectedPod,
  [chat]: endpoint,
  [configUri]: 'ignore: [generated]\n',
};
const asking: EditorOptions['capabilities'] = {
  ...modern,
  workspace: { ...modern.workspace, workspaceEdit: { documentChanges: true, changeAnnotationSupport: {} } },
};

async function fix(editor: Awaited<ReturnType<typeof openEditor>>, rule: string | null): Promise<WorkspaceEdit> {
  const result = await editor.connection.sendRequest<EditResult>(methods.fixWorkspace, { uris, rule });
  if ('problem' in result) throw new Error(result.problem);
  return result.edit;
}

function changed({ documentChanges = [] }: WorkspaceEdit): readonly (readonly [string, number | null])[] {
  return documentChanges.flatMap((one) => ('edits' in one ? [[one.textDocument.uri, one.textDocument.version]] : []));
}

test('fixes are counted over all files except ignored ones', async () => {
  const editor = await openEditor({ files });
  const found = await editor.connection.sendRequest<WorkspaceFixesResult>(methods.workspaceFixes, { uris });
  expect(found).toContainEqual({ rule: 'gpu-limits-required', fixes: 2, files: 2, safe: true });
  expect(found).toContainEqual({ rule: 'scale-to-zero-candidate', fixes: 1, files: 1, safe: false });
});

test('every change needs confirmation, and belongs to the version that was read', async () => {
  const editor = await openEditor({ files, capabilities: asking });
  await editor.open(b, `# open and not saved\n${rejectedPod}`);
  const edit = await fix(editor, 'gpu-limits-required');
  expect(changed(edit)).toEqual([
    [a, null],
    [b, 1],
  ]);
  const names = Object.keys(edit.changeAnnotations ?? {});
  expect(names.length).toBeGreaterThan(0);
  expect(Object.values(edit.changeAnnotations ?? {}).every(({ needsConfirmation }) => needsConfirmation)).toBe(true);
  const edits = (edit.documentChanges ?? []).flatMap((one) => ('edits' in one ? one.edits : []));
  expect(edits.every((one) => 'annotationId' in one && names.includes(one.annotationId))).toBe(true);
  const second = edit.documentChanges?.[1];
  expect(editor.applied(b, { documentChanges: second === undefined ? [] : [second] })).toMatch(
    /^# open and not saved\n(.|\n)*limits:\n +nvidia.com\/gpu: 1/,
  );
});

test('all safe fixes exclude those that change what runs', async () => {
  const editor = await openEditor({ files });
  expect(changed(await fix(editor, null)).map(([uri]) => uri)).toEqual([a, b]);
  expect((await fix(editor, null)).changeAnnotations).toBeUndefined();
  expect(changed(await fix(editor, 'scale-to-zero-candidate')).map(([uri]) => uri)).toEqual([chat]);
});

test('a file is analyzed with related files, as in the editor', async () => {
  const runtimes = `${folder}/runtimes.yaml`;
  const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec:
  containers:
    - name: kserve-container
      resources: {limits: {nvidia.com/gpu: 1}}
`;
  const bare = endpoint.replace(/ {6}resources(.|\n)*/, '      runtime: vllm\n');
  const all: Record<string, string> = { [chat]: bare, [runtimes]: runtime };
  const host = { readFile: async (uri: string) => all[uri], listFiles: async () => Object.keys(all) };
  const editor = await openEditor({ host });
  await editor.open(`${folder}/other.yaml`, bare.replace('chat', 'other'));
  for (;;) if ((await editor.lenses(`${folder}/other.yaml`)).length > 0) break;
  expect(changed(await fix(editor, 'scale-to-zero-candidate')).map(([uri]) => uri)).toEqual([chat]);
});

test('a file is ignored in any spelling of its URI', async () => {
  const odd = 'file:///w(f)';
  const escaped = 'file:///w%28f%29';
  const editor = await openEditor({
    files: {
      [`${odd}/.gpulint.yaml`]: 'ignore: [gen]\n',
      [`${odd}/gen/a.yaml`]: rejectedPod,
      [`${escaped}/gen/a.yaml`]: rejectedPod,
    },
    folders: { [odd]: {} },
  });
  await editor.open(`${odd}/b.yaml`, endpoint);
  await editor.lenses(`${odd}/b.yaml`);
  const params = { uris: [`${odd}/gen/a.yaml`, `${escaped}/gen/a.yaml`] };
  expect(await editor.connection.sendRequest<WorkspaceFixesResult>(methods.workspaceFixes, params)).toEqual([]);
});

test('a file without fixes gets a message', async () => {
  const editor = await openEditor({ files });
  const result = await editor.connection.sendRequest<EditResult>(methods.fixWorkspace, { uris: [chat], rule: null });
  expect(result).toEqual({ problem: 'There is nothing to fix.' });
});

test('a change of several objects of a file needs confirmation if the editor supports it; a change of one object does not', async () => {
  const two = `${endpoint}---\n${endpoint.replace('chat', 'talk')}`;
  const place = caret({ line: 6, character: 6 });
  const annotations = async (setup: EditorOptions) => {
    const editor = await openEditor(setup);
    await editor.open(chat, two);
    const actions = await editor.actions(chat, place, ['quickfix']);
    return actions
      .filter(({ title }) => /scale-to-zero-candidate findings in this file|to 0/.test(title))
      .map(({ edit }) => Object.values(edit?.changeAnnotations ?? {}).map(({ description }) => description));
  };
  expect(await annotations({ capabilities: asking })).toEqual([[], ['Changes 2 objects in this file']]);
  expect(await annotations({})).toEqual([[], []]);
});

test('a client with our commands is offered the fixes of a rule in all files', async () => {
  const editor = await openEditor({ options: { picker: true } });
  await editor.open(a, rejectedPod);
  const actions = await editor.actions(a, caret({ line: 10, character: 12 }), ['quickfix']);
  expect(actions.find(({ title }) => title.includes('in the workspace'))?.command).toMatchObject({
    command: 'gpulint.fixAllInWorkspace',
    arguments: ['gpu-limits-required'],
  });
});

test.each([
  [methods.workspaceFixes, (uris: readonly string[]) => ({ uris })],
  [methods.fixWorkspace, (uris: readonly string[]) => ({ uris, rule: null })],
  [methods.costChanges, (uris: readonly string[]) => ({ files: uris.map((uri) => ({ uri, path: uri, base: null })) })],
] as const)('%s reads no more files when it is canceled', async (method, paramsFor) => {
  const many = Array.from({ length: 50 }, (_, index) => `${folder}/pod-${index}.yaml`);
  const canceling = new CancellationTokenSource();
  const read = new Set<string>();
  const readFile = async (uri: string) => {
    if (!many.includes(uri)) return undefined;
    read.add(uri);
    canceling.cancel();
    return rejectedPod;
  };
  const editor = await openEditor({ host: { readFile } });
  const answer = editor.connection.sendRequest(method, paramsFor(many), canceling.token);
  await expect(answer).rejects.toMatchObject({ code: LSPErrorCodes.RequestCancelled });
  expect(read.size).toBeGreaterThan(0);
  expect(read.size).toBeLessThan(many.length / 2);
});
