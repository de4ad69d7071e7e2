import { describe, expect, test } from 'vitest';
import { DidSaveTextDocumentNotification } from 'vscode-languageserver/node';
import { methods } from '../../server/src/lsp/protocol.ts';
import { caret, type Editor, folder, openEditor } from './editor.ts';

const uri = `${folder}/app.yaml`;

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-L4
  containers:
    - name: main
      image: busybox:1.36
      resources:
        requests:
          nvidia.com/gpu: 1
`;

/** Types text at a position, key by key. Calls back after each key. */
async function type(editor: Editor, line: number, character: number, text: string, after?: () => Promise<void>) {
  for (const [index, key] of [...text].entries()) {
    await editor.change(uri, caret({ line, character: character + index }), key);
    await after?.();
  }
}

async function shown(editor: Editor) {
  const diagnostics = await editor.diagnostics(uri);
  const lenses = await editor.lenses(uri);
  return {
    rules: diagnostics.map(({ code, range }) => `${code} ${range.start.line}`),
    lenses: lenses.map(({ command, range }) => `${range.start.line} ${command?.title}`),
  };
}

async function opened(text = pod) {
  const editor = await openEditor();
  await editor.open(uri, text);
  return { editor, before: await shown(editor) };
}

describe('while a line is incomplete', () => {
  test('the shown state stays and moves with the text', async () => {
    const { editor, before } = await opened(`# a comment\n${pod}`);
    expect(before).toEqual({
      rules: ['gpu-limits-required 13'],
      lenses: [expect.stringMatching(/^1 1 × L4/)],
    });
    await editor.change(uri, caret({ line: 5, character: 5 }), '\n  ');
    const moved = await shown(editor);
    expect(moved.rules).toEqual(['gpu-limits-required 14']);
    await type(editor, 6, 2, 'restartPolicy', async () => {
      expect(await shown(editor)).toEqual(moved);
    });
    await type(editor, 6, 15, ': Never');
    expect(await shown(editor)).toEqual(moved);
  });

  test('an unclosed quote further down is also held back, and findings above it stay', async () => {
    const { editor, before } = await opened();
    await editor.change(uri, { start: { line: 9, character: 13 }, end: { line: 9, character: 25 } }, '');
    await type(editor, 9, 13, '"busy', async () => {
      expect((await shown(editor)).rules).toEqual(before.rules);
    });
    await type(editor, 9, 18, 'box:1"');
    expect((await shown(editor)).rules).toContain('gpu-limits-required 12');
  });

  test('the error appears when another line is changed', async () => {
    const { editor } = await opened();
    await type(editor, 3, 15, '": [');
    expect((await shown(editor)).rules).toEqual(['gpu-limits-required 12']);
    await editor.change(uri, caret({ line: 9, character: 25 }), '0');
    expect((await shown(editor)).rules).toEqual(expect.arrayContaining([expect.stringMatching(/^yaml-syntax 3/)]));
  });

  test('the error appears when the file is saved', async () => {
    const { editor } = await opened();
    await type(editor, 3, 15, '": [');
    const held = await editor.report(uri);
    await editor.connection.sendNotification(DidSaveTextDocumentNotification.type, { textDocument: { uri } });
    await editor.until(() => editor.refreshes.includes('workspace/diagnostic/refresh'));
    // The text is the same, but the result is new.
    expect(await editor.report(uri, held.resultId)).toMatchObject({
      kind: 'full',
      items: expect.arrayContaining([expect.objectContaining({ code: 'yaml-syntax' })]),
    });
  });

  test('the error appears when the cursor leaves the line, which editors show by requesting code actions', async () => {
    const { editor } = await opened();
    await type(editor, 3, 15, '": [');
    await editor.actions(uri, caret({ line: 3, character: 19 }));
    expect(editor.refreshes).toEqual([]);
    expect((await shown(editor)).rules).toEqual(['gpu-limits-required 12']);
    await editor.actions(uri, caret({ line: 8, character: 0 }));
    await editor.until(() => editor.refreshes.includes('workspace/diagnostic/refresh'));
    expect((await shown(editor)).rules).toEqual(expect.arrayContaining([expect.stringMatching(/^yaml-syntax/)]));
  });

  test('an error that was there before stays', async () => {
    const { editor, before } = await opened(pod.replace('name: trainer', 'name: "trainer'));
    expect(before.rules).toEqual(expect.arrayContaining([expect.stringMatching(/^yaml-syntax/)]));
    await type(editor, 12, 27, '0');
    expect((await shown(editor)).rules).toEqual(expect.arrayContaining([expect.stringMatching(/^yaml-syntax/)]));
  });

  test('a name is judged when the cursor leaves its line', async () => {
    const { editor, before } = await opened();
    await type(editor, 3, 15, '_A', async () => expect(await shown(editor)).toEqual(before));
    await editor.actions(uri, caret({ line: 8, character: 0 }));
    await editor.until(() => editor.refreshes.includes('workspace/diagnostic/refresh'));
    expect((await shown(editor)).rules).toEqual(['name-invalid 3', ...before.rules]);
  });

  test('a paste is not held back', async () => {
    const { editor } = await opened();
    await editor.change(uri, caret({ line: 3, character: 15 }), '": [\n');
    expect((await shown(editor)).rules).toEqual(expect.arrayContaining([expect.stringMatching(/^yaml-syntax/)]));
  });

  test('a client with pushed diagnostics also sees no error', async () => {
    const editor = await openEditor({ capabilities: {} });
    await editor.open(uri, pod);
    await editor.until(() => editor.pushed.length > 0);
    await editor.change(uri, caret({ line: 3, character: 15 }), '": [');
    await editor.until(() => editor.pushed.some(({ version }) => version === 2));
    expect(editor.pushed.at(-1)?.diagnostics.map(({ code }) => code)).toEqual(['gpu-limits-required']);
    await editor.connection.sendNotification(DidSaveTextDocumentNotification.type, { textDocument: { uri } });
    await editor.until(() => editor.pushed.at(-1)?.diagnostics.some(({ code }) => code === 'yaml-syntax') === true);
  });
});

test('syntax errors disappear when another extension reports them, and come back when it stops', async () => {
  const { editor, before } = await opened(pod.replace('name: trainer', 'name: "trainer'));
  const tell = (languages: readonly string[]) =>
    editor.connection.sendNotification(methods.syntaxElsewhere, { languages });
  expect(before.rules).toEqual(expect.arrayContaining([expect.stringMatching(/^yaml-syntax/)]));
  await tell(['yaml']);
  expect((await shown(editor)).rules).toEqual(before.rules.filter((rule) => !rule.startsWith('yaml-syntax')));
  await tell([]);
  expect(await shown(editor)).toEqual(before);
});

describe('while a line of the config is incomplete', () => {
  const config = `${folder}/.gpulint.yaml`;
  const messages = async (editor: Editor) => (await editor.diagnostics(config)).map(({ message }) => message);
  const lensOf = async (editor: Editor) => (await editor.lenses(uri)).map(({ command }) => command?.title).join();
  const bare = pod.replace('  nodeSelector:\n    nvidia.com/gpu.product: NVIDIA-L4\n', '');

  test('its problems and the prices of other files stay the same until the cursor leaves the line', async () => {
    const editor = await openEditor();
    await editor.open(config, 'gpu: l4\n\n');
    expect(await messages(editor)).toEqual([]);
    await editor.open(uri, bare);
    expect(await lensOf(editor)).toMatch(/^1 × L4/);
    for (const [index, key] of [...'capacty: spot'].entries()) {
      await editor.change(config, caret({ line: 1, character: index }), key);
      expect(await messages(editor)).toEqual([]);
      expect(await lensOf(editor)).toMatch(/^1 × L4/);
      // Editors request lenses of every document.
      expect(await editor.lenses(config)).toEqual([]);
    }
    await editor.actions(config, caret({ line: 0, character: 0 }));
    expect(await messages(editor)).toEqual([expect.stringContaining("unknown key 'capacty'")]);
  });

  test('a value applies as soon as it is valid', async () => {
    const editor = await openEditor();
    await editor.open(config, 'gpu: \n');
    expect(await messages(editor)).toEqual([]);
    await editor.open(uri, bare);
    await editor.change(config, caret({ line: 0, character: 5 }), 'l');
    expect(await messages(editor)).toEqual([]);
    expect(await lensOf(editor)).not.toContain('L4');
    await editor.change(config, caret({ line: 0, character: 6 }), '4');
    expect(await messages(editor)).toEqual([]);
    await expect.poll(() => lensOf(editor)).toMatch(/^1 × L4/);
  });
});
