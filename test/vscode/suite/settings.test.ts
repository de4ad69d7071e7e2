import assert from 'node:assert/strict';
import fs from 'node:fs';
import * as vscode from 'vscode';
import { endpoint } from '../../support/manifests.ts';
import { hoverAt, open, until, untilFindings } from './editor.ts';

const rejected = `apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
    - name: main
      image: example.com/model:1
      resources:
        requests:
          nvidia.com/gpu: 1
`;

describe('what the editor alone knows', () => {
  it('says whose settings a value is in', async () => {
    const document = await open('idle.yaml', endpoint);
    const { Global, Workspace } = vscode.ConfigurationTarget;
    const set = (value: number | undefined, target: vscode.ConfigurationTarget) =>
      vscode.workspace.getConfiguration('gpulint', document.uri).update('serving.idleHoursPerDay', value, target);
    const says = (words: string) =>
      until(
        async () => (await hoverAt(document, 'minReplicas')).includes(words),
        () => `a hover that says ${words}`,
      );
    try {
      await set(10, Global);
      await says('10 idle hours per day (user settings)');
      await set(12, Workspace);
      await says('12 idle hours per day (workspace settings)');
    } finally {
      await set(undefined, Workspace);
      await set(undefined, Global);
    }
    await says('Set serving.idleHoursPerDay');
  });

  it('keeps a half typed line quiet, until the file is saved', async () => {
    const document = await open('typed.yaml', rejected);
    await untilFindings(document, ['gpu-limits-required']);
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor);
    const at = new vscode.Position(3, 15);
    // Where the caret is elsewhere, the line counts as left.
    editor.selection = new vscode.Selection(at, at);
    for (const [index, key] of [...'": ['].entries()) {
      await editor.edit((edit) => edit.insert(at.translate(0, index), key));
    }
    await untilFindings(document, ['gpu-limits-required']);
    await document.save();
    await untilFindings(document, ['yaml-syntax', 'gpu-limits-required']);
  });

  it('shows the changes of many files before it makes them', async () => {
    const documents = [await open('many-1.yaml', rejected), await open('many-2.yaml', rejected)];
    let ended = false;
    const fixing = Promise.resolve(
      vscode.commands.executeCommand('gpulint.fixAllInWorkspace', 'gpu-limits-required'),
    ).then(() => {
      ended = true;
    });
    await until(
      async () => {
        await vscode.commands.executeCommand('refactorPreview.discard');
        return ended;
      },
      () => 'the preview to be discarded',
    );
    await fixing;
    for (const document of documents) {
      assert.equal(document.getText(), rejected);
      fs.rmSync(document.fileName);
    }
  });
});
