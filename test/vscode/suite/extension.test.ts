import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { open } from './editor.ts';

describe('the extension', () => {
  it('is activated by a YAML file and registers what it declares', async () => {
    const extension = vscode.extensions.getExtension('gpulint.gpulint');
    assert.ok(extension, 'VS Code does not know the extension');
    await open('serving/llama-isvc.yaml');
    await extension.activate();
    const registered = new Set(await vscode.commands.getCommands(true));
    const declared: { command: string }[] = extension.packageJSON.contributes.commands;
    assert.ok(declared.length > 0);
    for (const { command } of declared) assert.ok(registered.has(command), `${command} is not registered`);
  });
});
