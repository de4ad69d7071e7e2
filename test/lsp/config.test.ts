import { describe, expect, test } from 'vitest';
import { DidChangeWatchedFilesNotification, FileChangeType } from 'vscode-languageserver/node';
import { rejectedPod } from '../support/manifests.ts';
import { configUri, folder, modern, openEditor } from './editor.ts';

const uri = `${folder}/app.yaml`;

describe('the config', () => {
  test('of the workspace folder applies, and a change refreshes what is shown', async () => {
    const editor = await openEditor({ files: { [configUri]: 'gpu: l4\n' } });
    await editor.open(uri, rejectedPod);
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × L4 · \$/);
    editor.files[configUri] = 'gpu: l4\nrules:\n  gpu-limits-required: off\n';
    const before = await editor.report(uri);
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: configUri, type: FileChangeType.Changed }],
    });
    await editor.until(() => editor.refreshes.filter((name) => name.includes('diagnostic')).length === 1);
    await editor.until(() => editor.refreshes.filter((name) => name.includes('codeLens')).length === 1);
    expect(await editor.report(uri, before.resultId)).toMatchObject({ kind: 'full', items: [] });
  });

  test('with the same values in another form changes nothing', async () => {
    const editor = await openEditor({ files: { [configUri]: 'gpu: l4\n' } });
    await editor.open(uri, rejectedPod);
    const { resultId } = await editor.report(uri);
    const write = async (text: string) => {
      editor.files[configUri] = text;
      await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
        changes: [{ uri: configUri, type: FileChangeType.Changed }],
      });
    };
    await write('# our cards\ngpu: "l4"\n');
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await editor.report(uri, resultId)).toEqual({ kind: 'unchanged', resultId });
    }
    expect(editor.refreshes).toEqual([]);
    await write('gpu: t4\n');
    await editor.until(() => editor.refreshes.length === 2);
    expect(await editor.report(uri, resultId)).toMatchObject({ kind: 'full' });
  });

  test('applies as shown in the editor, saved or not, and as on disk when closed', async () => {
    const editor = await openEditor({ files: { [configUri]: 'gpu: l4\n' } });
    await editor.open(uri, rejectedPod);
    // Clients can spell the same URI differently.
    const shown = configUri.replace('%20', ' ');
    await editor.open(shown, 'gpu: t4\n');
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × T4 · \$/);
    await editor.close(shown);
    await editor.until(() => editor.refreshes.length > 1);
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × L4 · \$/);
  });

  test('is watched only in the workspace folders', async () => {
    const editor = await openEditor({
      folders: { 'file:///team/repo/services/a': {} },
      capabilities: {
        ...modern,
        workspace: {
          ...modern.workspace,
          didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
        },
      },
    });
    const patterns = () =>
      editor.registrations
        .filter(({ method }) => method === DidChangeWatchedFilesNotification.method)
        .flatMap(({ registerOptions }) => registerOptions.watchers)
        .map(({ globPattern }) => globPattern);
    await editor.until(() => patterns().length > 0);
    expect(patterns()).toContain('**/.gpulint.yaml');
    expect(patterns()).toContain('**/*.yaml');
    expect(patterns().filter((pattern) => typeof pattern !== 'string')).toEqual([]);
    // Wait for the response before the connection closes.
    await editor.report(configUri);
  });

  test('has its own problems', async () => {
    const editor = await openEditor();
    await editor.open(configUri, 'gpu: h100-80gb-sxm\nprovder: aws\n');
    const [problem, ...others] = await editor.diagnostics(configUri);
    expect(others).toEqual([]);
    expect(problem?.message).toContain("did you mean 'provider'");
    expect(problem?.range).toEqual({ start: { line: 1, character: 0 }, end: { line: 1, character: 7 } });
  });

  test('does not apply to files outside its folder', async () => {
    const editor = await openEditor({ files: { [configUri]: 'gpu: l4\n' } });
    const elsewhere = 'file:///work%20space-2/app.yaml';
    await editor.open(elsewhere, rejectedPod);
    expect((await editor.lenses(elsewhere))[0]?.command?.title).toMatch(/^1 GPU · \$.* … /);
  });

  test('nearest to a file applies, then that of the folder above, then the settings', async () => {
    const settings = { gpu: 't4', provider: 'aws', rules: { 'gpu-limits-required': 'off' } };
    const editor = await openEditor({
      files: { [configUri]: 'gpu: l4\n', [`${folder}/training/.gpulint.yaml`]: 'rules: {}\n' },
      settings,
    });
    const title = async (address: string) => {
      await editor.open(address, rejectedPod);
      return (await editor.lenses(address))[0]?.command?.title;
    };
    expect(await title(uri)).toMatch(/^1 × L4 · \$/);
    // Only the nearest file applies; other keys come from the settings.
    expect(await title(`${folder}/training/deep/job.yaml`)).toMatch(/^1 × T4 · \$/);
    expect(await title('file:///elsewhere/pod.yaml')).toMatch(/^1 × T4 · \$/);
    expect(await editor.diagnostics(uri)).toEqual([]);
  });

  test('above the workspace folders or above a repository is not read', async () => {
    const files: Record<string, string> = {
      'file:///.gpulint.yaml': 'gpu: l4\n',
      [configUri]: 'gpu: t4\n',
      [`${folder}/repo/.git/HEAD`]: 'ref: refs/heads/main\n',
    };
    const requested: string[] = [];
    const readFile = async (uri: string) => {
      requested.push(uri);
      return files[uri];
    };
    const editor = await openEditor({ host: { readFile } });
    const title = async (address: string) => {
      await editor.open(address, rejectedPod);
      return (await editor.lenses(address))[0]?.command?.title;
    };
    expect(await title(`${folder}/apps/pod.yaml`)).toMatch(/^1 × T4/);
    expect(await title(`${folder}/repo/pod.yaml`)).toMatch(/^1 GPU · \$.* … /);
    expect(await title('file:///pod.yaml')).toMatch(/^1 GPU · \$.* … /);
    expect(requested.filter((uri) => !uri.startsWith(`${folder}/`))).toEqual([]);
    // An open config is known, and applies to its own folder.
    await editor.open('file:///.gpulint.yaml', 'gpu: l4\n');
    expect((await editor.lenses('file:///pod.yaml'))[0]?.command?.title).toMatch(/^1 × L4/);
    expect((await editor.lenses(`${folder}/apps/pod.yaml`))[0]?.command?.title).toMatch(/^1 × T4/);
    expect(requested.filter((uri) => !uri.startsWith(`${folder}/`))).toEqual([]);
  });

  test('above a folder applies if the parent folder is also open', async () => {
    const files = { [configUri]: 'gpu: t4\n' };
    const editor = await openEditor({ files, folders: { [`${folder}/apps`]: {} } });
    await editor.open(`${folder}/apps/pod.yaml`, rejectedPod);
    expect((await editor.lenses(`${folder}/apps/pod.yaml`))[0]?.command?.title).toMatch(/^1 × T4/);
    await editor.setFolders([`${folder}/apps`]);
    await editor.until(() => editor.refreshes.length > 1);
    expect((await editor.lenses(`${folder}/apps/pod.yaml`))[0]?.command?.title).toMatch(/^1 GPU · \$.* … /);
  });

  test('of the only folder applies to documents that are not files: a new document, an object loaded from a cluster', async () => {
    const requested: string[] = [];
    const files: Record<string, string> = {
      [configUri]: 'gpu: l4\noverrides:\n  - files: [deployment-*.yaml]\n    gpu: h100-80gb-sxm\n',
      'memfs:/a/.gpulint.yaml': 'gpu: t4\n',
      'file:///elsewhere/.gpulint.yaml': 'gpu: t4\n',
    };
    const readFile = async (uri: string) => {
      requested.push(uri);
      return files[uri];
    };
    const editor = await openEditor({ host: { readFile } });
    const title = async (address: string) => (await editor.lenses(address))[0]?.command?.title;
    const [fresh, pod, deployment] = [
      'untitled:Untitled-1',
      'k8smsx://core/pod-a.yaml',
      'k8smsx://core/deployment-a.yaml',
    ];
    for (const address of [fresh, pod, deployment, 'file:///elsewhere/pod.yaml', 'memfs:/a/pod.yaml'])
      await editor.open(address, rejectedPod);
    expect(await title(fresh)).toMatch(/^1 × L4/);
    expect(await title(pod)).toMatch(/^1 × L4/);
    expect(await title(deployment)).toMatch(/^1 × H100/);
    // Files keep their own location.
    expect(await title('file:///elsewhere/pod.yaml')).toMatch(/^1 GPU · \$.* … /);
    expect(await title('memfs:/a/pod.yaml')).toMatch(/^1 GPU · \$.* … /);
    // Nothing is read next to documents from elsewhere: the file system of a cluster treats every name as an object.
    expect(requested.filter((uri) => !uri.startsWith(`${folder}/`))).toEqual([]);

    files[configUri] = 'gpu: t4\n';
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: configUri, type: FileChangeType.Changed }],
    });
    await editor.until(() => editor.refreshes.includes('workspace/codeLens/refresh'));
    expect(await title(pod)).toMatch(/^1 × T4/);

    // With two folders, the right one is unknown.
    const refreshed = editor.refreshes.length;
    await editor.setFolders([folder, 'file:///other']);
    await editor.until(() => editor.refreshes.slice(refreshed).includes('workspace/codeLens/refresh'));
    expect(await title(pod)).toMatch(/^1 GPU · \$.* … /);
  });

  test('has overrides for some of its files', async () => {
    const config = 'gpu: l4\noverrides:\n  - files: [train/**]\n    gpu: h100-80gb-sxm\n';
    const editor = await openEditor({ files: { [configUri]: config } });
    const job = `${folder}/train/a%20b/job.yaml`;
    await editor.open(uri, rejectedPod);
    await editor.open(job, rejectedPod);
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × L4/);
    expect((await editor.lenses(job))[0]?.command?.title).toMatch(/^1 × H100/);
  });

  test('in the settings comes from the workspace folder', async () => {
    const other = 'file:///other';
    const editor = await openEditor({ settings: { gpu: 't4' }, folders: { [other]: { gpu: 'l4' } } });
    await editor.open(uri, rejectedPod);
    await editor.open(`${other}/a.yaml`, rejectedPod);
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × T4/);
    expect((await editor.lenses(`${other}/a.yaml`))[0]?.command?.title).toMatch(/^1 × L4/);
  });

  test('in the settings is requested again when the editor reports a change', async () => {
    const editor = await openEditor({ settings: { gpu: 't4' } });
    await editor.open(uri, rejectedPod);
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × T4/);
    editor.settings.gpu = 'l4';
    await editor.connection.sendNotification('workspace/didChangeConfiguration', { settings: null });
    await editor.until(() => editor.refreshes.length > 1);
    expect((await editor.lenses(uri))[0]?.command?.title).toMatch(/^1 × L4/);
  });

  test('that cannot be read is logged, and the defaults apply', async () => {
    const host = { readFile: () => Promise.reject(new Error('disk on fire')) };
    const editor = await openEditor({ host });
    await editor.open(uri, rejectedPod);
    expect(await editor.diagnostics(uri)).toHaveLength(1);
    await editor.until(() => editor.log.length > 0);
    expect(editor.log[0]).toContain('disk on fire');
  });

  test('changes reach a client with pushed diagnostics', async () => {
    const editor = await openEditor({ capabilities: {} });
    await editor.open(uri, rejectedPod);
    await editor.until(() => editor.pushed.some((one) => one.uri === uri));
    await editor.open(configUri, 'rules:\n  gpu-limits-required: off\n');
    const last = () => editor.pushed.filter((one) => one.uri === uri).at(-1);
    await editor.until(() => last()?.diagnostics.length === 0);
    expect(last()?.version).toBe(1);
  });
});

test('a mistake in the config has quick fixes: the name that was meant, or no key', async () => {
  const editor = await openEditor();
  const text = '# ours\nprovidr: aws\nrules:\n  gpu-limits-requird: off\ngpu: l44\nkserve:\n  mode: Standard\n';
  await editor.open(configUri, text);
  const fixesAt = async (line: number, character: number) => {
    const actions = await editor.actions(configUri, { start: { line, character }, end: { line, character } });
    return actions.map((action) => [action.title, editor.applied(configUri, action.edit)]);
  };
  expect(await fixesAt(1, 2)).toEqual([
    ['Change to provider', text.replace('providr', 'provider')],
    ['Remove this key', text.replace('providr: aws\n', '')],
  ]);
  expect((await fixesAt(3, 4)).map(([title]) => title)).toContain('Change to gpu-limits-required');
  expect((await fixesAt(4, 6))[0]).toEqual(['Change to l4', text.replace('l44', 'l4')]);
  expect((await fixesAt(6, 3)).map(([title]) => title)).toEqual(['Remove this key']);
  expect(await fixesAt(0, 1)).toEqual([]);
});
