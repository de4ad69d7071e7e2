import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { apply, finding, findings, fixesAt, hoverAt, lenses, open, until, untilFindings } from './editor.ts';

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: one
spec:
  nodeSelector:
    nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
  containers:
    - name: main
      image: example.com/model:1
      resources:
        limits:
          nvidia.com/gpu: 1.5 # one and a half
`;

describe('a manifest in the editor', () => {
  it('gets the findings of the example', async () => {
    const document = await open('serving/llama-isvc.yaml');
    const limits = await finding(document, 'gpu-limits-required');
    assert.equal(limits.severity, vscode.DiagnosticSeverity.Error);
    assert.match(document.getText(limits.range), /nvidia\.com\/gpu/);
    const toleration = await finding(document, 'toleration-invalid');
    assert.match(document.lineAt(toleration.range.start).text, /operator: Exists|value: "true"/);
  });

  it('shows what the example costs above the workload', async () => {
    const document = await open('serving/llama-isvc.yaml');
    const titles = await lenses(document);
    assert.ok(
      titles.some((title) => /\$\d.*\/h/.test(title)),
      `no amount in ${JSON.stringify(titles)}`,
    );
  });

  it('shows a cost table on hover', async () => {
    const document = await open('serving/llama-isvc.yaml');
    const text = await hoverAt(document, 'nvidia.com/gpu: 1');
    assert.match(text, /\|.*\$\d/);
  });

  it('follows what is typed', async () => {
    const document = await open('typed.yaml', pod.replace('1.5', '1'));
    await until(
      async () => (await lenses(document)).length > 0,
      () => 'a code lens',
    );
    assert.deepEqual(findings(document), []);
    const edit = new vscode.WorkspaceEdit();
    const at = document.positionAt(document.getText().indexOf('gpu: 1') + 'gpu: 1'.length);
    edit.insert(document.uri, at, '.5');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await untilFindings(document, ['gpu-quantity-whole']);
    await vscode.commands.executeCommand('undo');
    await untilFindings(document, []);
  });

  it('is fixed by a quick fix that touches nothing else', async () => {
    const document = await open('serving/llama-isvc.yaml');
    const before = document.getText();
    const [fix] = await fixesAt(document, await finding(document, 'gpu-limits-required'));
    assert.ok(fix, 'no fix was offered');
    await apply(fix);
    await until(
      () => !findings(document).includes('gpu-limits-required'),
      () => 'the finding to go',
    );
    const after = document.getText().split('\n');
    for (const line of before.split('\n')) assert.ok(after.includes(line), `the fix changed "${line}"`);
    assert.ok(after.some((line) => line.trim() === 'limits:'));
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('keeps CRLF line ends when it is fixed', async () => {
    const document = await open('crlf.yaml', pod.replaceAll('\n', '\r\n'));
    assert.equal(document.eol, vscode.EndOfLine.CRLF);
    const [fix] = await fixesAt(document, await finding(document, 'gpu-quantity-whole'));
    assert.ok(fix, 'no fix was offered');
    await apply(fix);
    await untilFindings(document, []);
    assert.equal(document.getText().replaceAll('\r\n', '').includes('\n'), false);
    assert.match(document.getText(), /# one and a half/);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('is analyzed next to a document that does not parse', async () => {
    const document = await open('broken.yaml', `a: [1\n---\n${pod}`);
    await finding(document, 'gpu-quantity-whole');
  });

  it('is analysed before it is saved for the first time', async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'yaml', content: pod });
    await vscode.window.showTextDocument(document);
    await untilFindings(document, ['gpu-quantity-whole']);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('is analysed as JSON', async () => {
    const json = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'one' },
      spec: {
        containers: [{ name: 'main', image: 'example.com/model:1', resources: { limits: { 'nvidia.com/gpu': 1.5 } } }],
      },
    };
    const document = await open('pod.json', `${JSON.stringify(json, null, 2)}\n`);
    await untilFindings(document, ['gpu-quantity-whole']);
  });

  it('is left alone where it is no file, such as text that VS Code shows as YAML in a view of its own', async () => {
    const content = vscode.workspace.registerTextDocumentContentProvider('a-view', {
      provideTextDocumentContent: () => pod,
    });
    try {
      const shown = await vscode.workspace.openTextDocument(vscode.Uri.parse('a-view:/hover.yaml'));
      await vscode.window.showTextDocument(await vscode.languages.setTextDocumentLanguage(shown, 'yaml'));
      await untilFindings(await open('beside-a-view.yaml', pod), ['gpu-quantity-whole']);
      assert.deepEqual(findings(shown), []);
      assert.deepEqual(await lenses(shown), []);
    } finally {
      content.dispose();
    }
  });

  it('is left alone when it asks for no accelerator', async () => {
    const plain = await open(
      'plain.yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\ndata:\n  a: b\n',
    );
    // A finding elsewhere, requested later, proves that the server had time to respond.
    await untilFindings(await open('later.yaml', pod), ['gpu-quantity-whole']);
    assert.deepEqual(findings(plain), []);
    assert.deepEqual(await lenses(plain), []);
  });
});
