import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import { fileOfProject } from '../../../client/src/config-pickers.ts';
import { applyEdit } from '../../../client/src/edits.ts';
import { manifests } from '../../../client/src/fix-all.ts';
import { isFile } from '../../../client/src/own-documents.ts';
import { watchedFiles } from '../../../client/src/watched-files.ts';
import { apply, finding, fixesAt, open, until, workspaceFolder } from './editor.ts';

/** What these parts ask of a client: the same address in both worlds, and edits of one insertion. */
const client = {
  code2ProtocolConverter: { asUri: (uri: vscode.Uri) => uri.toString() },
  protocol2CodeConverter: {
    asWorkspaceEdit: async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(vscode.Uri.file(path.join(workspaceFolder(), 'typed.yaml')), new vscode.Position(0, 0), '# new\n');
      return edit;
    },
  },
} as unknown as BaseLanguageClient;

describe('the client', () => {
  it('changes nothing in a text that was edited after the server read it', async () => {
    const document = await open('typed.yaml', 'a: 1\n');
    const uri = document.uri.toString();
    const changes = (version: number | null) => ({
      documentChanges: [{ textDocument: { uri, version }, edits: [] }],
    });
    const read = document.version;
    const typed = new vscode.WorkspaceEdit();
    typed.insert(document.uri, new vscode.Position(1, 0), 'b: 2\n');
    assert.ok(await vscode.workspace.applyEdit(typed));
    assert.equal(await applyEdit(client, changes(read)), false);
    assert.equal(await applyEdit(client, changes(null)), false, 'what is not saved is not what the disk says');
    assert.equal(document.getText(), 'a: 1\nb: 2\n');
    assert.equal(await applyEdit(client, changes(document.version)), true);
    assert.equal(document.getText(), '# new\na: 1\nb: 2\n');
    await document.save();
  });

  it('asks for the config of the window where the active file lies outside', async () => {
    const elsewhere = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-elsewhere-'));
    const file = path.join(elsewhere, 'settings.yaml');
    fs.writeFileSync(file, 'a: 1\n');
    await vscode.window.showTextDocument(vscode.Uri.file(file));
    const config = vscode.Uri.file(path.join(workspaceFolder(), '.gpulint.yaml')).toString();
    assert.equal(await fileOfProject(client), config);
    const inside = await open('typed.yaml', 'a: 1\n');
    assert.equal(await fileOfProject(client), inside.uri.toString());
    fs.rmSync(elsewhere, { recursive: true });
  });

  it('is not kept waiting by what installs packages or builds', async () => {
    const forwarded: string[] = [];
    const tell = (uri: string, type: 1 | 2 | 3) =>
      watchedFiles.didChangeWatchedFile?.call(undefined, { uri, type }, async (event) => {
        forwarded.push(event.uri);
      });
    for (const name of [
      'new',
      'v1.2',
      'node_modules',
      'node_modules/a',
      'node_modules/a/b.yaml',
      '.git/index.lock',
      'main.js',
      'a.yaml',
    ])
      await tell(`file:///repo/${name}`, 1);
    for (const name of ['conf.d', '.git/index.lock', 'overlays/Kustomization']) await tell(`file:///repo/${name}`, 3);
    assert.deepEqual(
      forwarded.map((uri) => uri.slice('file:///repo/'.length)),
      ['new', 'v1.2', 'a.yaml', 'conf.d', 'overlays/Kustomization'],
    );
  });

  it('selects what an action has written by a command that needs no arguments: VS Code may have forgotten them', async () => {
    const text = fs.readFileSync(path.join(workspaceFolder(), 'training', 'debug-pod.yaml'), 'utf8');
    const document = await open('silenced.yaml', text);
    const fixes = await fixesAt(document, await finding(document, 'mig-profile-unknown'));
    const silence = fixes.find(({ title }) => title === 'Silence mig-profile-unknown on this line');
    assert.ok(silence?.command);
    assert.deepEqual(silence.command.arguments ?? [], []);
    await apply(silence);
    await vscode.commands.executeCommand(silence.command.command);
    const selected = () => document.getText(vscode.window.activeTextEditor?.selection);
    await until(
      () => selected() === 'reason',
      () => `the reason to be selected; it is ${JSON.stringify(selected())}`,
    );
    await document.save();
    fs.rmSync(document.fileName);
  });

  it('leaves the files of packages alone where it fixes a whole workspace', async () => {
    const folder = fs.mkdtempSync(path.join(workspaceFolder(), 'many-'));
    for (const name of ['own.yaml', '.venv/lib/a.yaml', '.terraform/b.yaml', 'sub/node_modules/c.yaml']) {
      fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
      fs.writeFileSync(path.join(folder, name), 'a: 1\n');
    }
    const below = vscode.Uri.file(folder).toString();
    const found = (await manifests()).filter((uri) => uri.startsWith(below));
    assert.deepEqual(found, [`${below}/own.yaml`]);
    fs.rmSync(folder, { recursive: true });
  });

  it('passes older states of files by, and judges read-only folders and objects of a cluster', async () => {
    const provider = vscode.workspace.registerFileSystemProvider('revisions', readOnly, { isReadonly: true });
    const seen = (uri: string) => isFile({ uri: vscode.Uri.parse(uri), isUntitled: false } as vscode.TextDocument);
    await until(
      () => vscode.workspace.fs.isWritableFileSystem('revisions') === false,
      () => 'the file system',
    );
    assert.equal(seen('revisions:/repo/a.yaml'), false);
    assert.equal(seen('vscode-local-history:/repo/a.yaml'), false);
    assert.equal(seen('git:/repo/a.yaml'), false);
    assert.equal(seen('file:///repo/a.yaml'), true);
    provider.dispose();
  });
});

const readOnly: vscode.FileSystemProvider = {
  onDidChangeFile: new vscode.EventEmitter<vscode.FileChangeEvent[]>().event,
  watch: () => new vscode.Disposable(() => undefined),
  stat: () => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: 0 }),
  readDirectory: () => [],
  readFile: () => new Uint8Array(),
  createDirectory: () => undefined,
  writeFile: () => undefined,
  delete: () => undefined,
  rename: () => undefined,
};
