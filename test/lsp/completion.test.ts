import { expect, test } from 'vitest';
import { type CompletionItem, CompletionRequest, InsertTextFormat } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { configUri, type Editor, folder, modern, openEditor, withCursor } from './editor.ts';

const uri = `${folder}/app.yaml`;

const pod = `apiVersion: v1
kind: Pod
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
  containers:
    - name: main
      resources:
        limits:
          nvidia.com/mi$0
`;

const withSnippets = {
  ...modern,
  textDocument: { ...modern.textDocument, completion: { completionItem: { snippetSupport: true } } },
};

async function complete(editor: Editor, address: string, marked: string): Promise<readonly CompletionItem[]> {
  const { text, position } = withCursor(marked);
  await editor.open(address, text);
  return (await editor.connection.sendRequest(CompletionRequest.type, {
    textDocument: { uri: address },
    position,
  })) as CompletionItem[];
}

test('offers the slices of the GPU while the line is incomplete, and the edit fits the text', async () => {
  const editor = await openEditor({ capabilities: withSnippets });
  expect(editor.initialized.capabilities.completionProvider?.triggerCharacters).toContain('/');
  const items = await complete(editor, uri, pod);
  const slice = items.find(({ label }) => label === 'nvidia.com/mig-1g.10gb');
  expect(slice?.detail).toMatch(/^10 GB, 1\/7, \$/);
  expect(slice?.insertTextFormat).toBe(InsertTextFormat.Snippet);
  const document = TextDocument.create(uri, 'yaml', 1, editor.text(uri));
  expect(TextDocument.applyEdits(document, [slice?.textEdit as never])).toContain(
    '\n          nvidia.com/mig-1g.10gb: 1\n',
  );
});

test('inserts no tab stops for a client without snippet support', async () => {
  const editor = await openEditor();
  const items = await complete(editor, uri, pod);
  expect(items.find(({ label }) => label === 'nvidia.com/gpu')?.textEdit?.newText).toBe('nvidia.com/gpu: 1');
  const annotation = 'kind: Service\nmetadata:\n  annotations:\n    auto$0\n';
  const keys = await complete(editor, `${folder}/b.yaml`, annotation);
  expect(keys.find(({ label }) => label.endsWith('min-scale'))?.textEdit?.newText).toBe(
    'autoscaling.knative.dev/min-scale: "0"',
  );
});

test('completes .gpulint.yaml from its schema, and hovers describe its keys', async () => {
  const editor = await openEditor();
  const items = await complete(editor, configUri, 'capacity: $0\n');
  expect(items.map(({ label }) => label)).toEqual(['spot', 'on-demand']);
  const hover = await editor.hover(configUri, { line: 0, character: 3 });
  expect(hover?.contents).toMatchObject({ value: expect.stringContaining('Capacity type of GPU nodes') });
});
