import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { apply, finding, fixesAt, hoverAt, lenses, open, until, untilFindings, workspaceFolder } from './editor.ts';

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: one
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB
  containers:
    - name: main
      image: example.com/model:1
      resources:
        limits:
          nvidia.com/gpu: 1.5
`;

describe('commands and settings', () => {
  it('link a rule to its page in the editor', async () => {
    const document = await open('linked.yaml', pod);
    const { code } = await finding(document, 'gpu-quantity-whole');
    assert.ok(typeof code === 'object', 'the rule has no link');
    assert.equal(code.target.toString(), 'gpulint-rule:/gpu-quantity-whole.md');
  });

  it('open the page of a rule', async () => {
    await vscode.commands.executeCommand('gpulint.showRule', 'gpu-quantity-whole');
    const label = () => vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '';
    await until(
      () => label().includes('gpu-quantity-whole'),
      () => `the page; the active tab is ${label()}`,
    );
    const page = vscode.Uri.from({ scheme: 'gpulint-rule', path: '/gpu-quantity-whole.md' });
    const text = (await vscode.workspace.openTextDocument(page)).getText();
    assert.match(text, /^# gpu-quantity-whole\n/);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('silence a finding and select the place of the reason', async () => {
    const document = await open('silenced.yaml', pod);
    const fixes = await fixesAt(document, await finding(document, 'gpu-quantity-whole'));
    const silence = fixes.find(({ title }) => title === 'Silence gpu-quantity-whole on this line');
    assert.ok(silence, `only ${fixes.map(({ title }) => title).join(', ')}`);
    await apply(silence);
    assert.ok(silence.command);
    await vscode.commands.executeCommand(silence.command.command, ...(silence.command.arguments ?? []));
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.getText(editor.selection), 'reason');
    await untilFindings(document, []);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('complete the slices of the GPU in a line that is half typed', async () => {
    const document = await open('typing.yaml', pod.replace('nvidia.com/gpu: 1.5', 'nvidia.com/m'));
    const at = document.positionAt(document.getText().indexOf('nvidia.com/m\n') + 'nvidia.com/m'.length);
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      at,
    );
    const labels = list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    assert.ok(labels.includes('nvidia.com/mig-1g.5gb'), labels.slice(0, 20).join(', '));
    assert.ok(!labels.includes('nvidia.com/mig-1g.12gb'), 'a slice of another card');
  });

  it('show behind a count what it costs, unless the setting is off', async () => {
    const document = await open('hints.yaml', pod.replace('1.5', '1'));
    const hints = async () => {
      const range = new vscode.Range(0, 0, document.lineCount, 0);
      const found = await vscode.commands.executeCommand<vscode.InlayHint[]>(
        'vscode.executeInlayHintProvider',
        document.uri,
        range,
      );
      return found.map(({ label }) => (typeof label === 'string' ? label : label.map(({ value }) => value).join('')));
    };
    await until(
      async () => (await hints()).some((label) => /^\$\d/.test(label)),
      () => 'a hint',
    );
    const settings = vscode.workspace.getConfiguration('gpulint', document.uri);
    await settings.update('inlayHints.enabled', false, vscode.ConfigurationTarget.Workspace);
    try {
      await until(
        async () => (await hints()).length === 0,
        () => 'the hint to go',
      );
    } finally {
      await settings.update('inlayHints.enabled', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('take from the settings what no file tells, and say where a value came from', async () => {
    const document = await open('untold.yaml', pod.replace(/ {2}nodeSelector:\n.*\n/, '').replace('1.5', '1'));
    const settings = vscode.workspace.getConfiguration('gpulint', document.uri);
    // The folder's .gpulint.yaml names a GPU and no capacity.
    await settings.update('gpu', 'l4', vscode.ConfigurationTarget.Workspace);
    await settings.update('capacity', 'spot', vscode.ConfigurationTarget.Workspace);
    try {
      await until(
        async () => (await lenses(document)).some((title) => /^1 × H100 80GB SXM · \$[\d.]+\/h spot/.test(title)),
        () => 'the spot price of an H100',
      );
      assert.match(await hoverAt(document, 'nvidia.com/gpu: 1'), /H100 80GB SXM from \.gpulint\.yaml/);
    } finally {
      await settings.update('gpu', undefined, vscode.ConfigurationTarget.Workspace);
      await settings.update('capacity', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('set up writes the answers into the config and shows it', async () => {
    const file = path.join(workspaceFolder(), '.gpulint.yaml');
    const before = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
    await open('setup.yaml', pod);
    let done = false;
    const answers = vscode.commands.executeCommand('gpulint.setUp').then(() => {
      done = true;
    });
    // The first item of each question, by the key that a person presses.
    await until(
      async () => {
        await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
        return done;
      },
      () => 'the questions to end',
    );
    await answers;
    assert.match(fs.readFileSync(file, 'utf8'), /platform: \S+[\s\S]*|gpu: \S+/);
    assert.equal(path.basename(vscode.window.activeTextEditor?.document.fileName ?? ''), '.gpulint.yaml');
    if (before === undefined) fs.rmSync(file);
    else fs.writeFileSync(file, before);
  });
});
