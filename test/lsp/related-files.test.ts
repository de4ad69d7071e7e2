import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DidChangeWatchedFilesNotification, FileChangeType } from 'vscode-languageserver/node';
import { folder, openEditor } from './editor.ts';

const chart = `${folder}/charts/serve`;
const read = (name: string) => readFileSync(`test/fixtures/charts/serve/${name}`, 'utf8');
const template = `${chart}/templates/deployment.yaml`;
const valuesUri = `${chart}/values.yaml`;

describe("a chart's template", () => {
  test('is priced with the values of its chart, from the editor or from disk', async () => {
    const files: Record<string, string> = {
      [`${chart}/Chart.yaml`]: read('Chart.yaml'),
      [valuesUri]: read('values.yaml'),
    };
    const editor = await openEditor({ files });
    await editor.open(template, read('templates/deployment.yaml'));
    const title = async () => (await editor.lenses(template))[0]?.command?.title;
    expect(await title()).toMatch(/^with values\.yaml: 6 × H100 80GB SXM · \$/);
    expect(await editor.diagnostics(template)).toEqual([]);

    await editor.open(valuesUri, read('values.yaml').replace('replicaCount: 3', 'replicaCount: 1'));
    expect(await title()).toMatch(/^with values\.yaml: 2 × H100 80GB SXM · \$/);

    await editor.close(valuesUri);
    files[valuesUri] = read('values.yaml').replace('nvidia.com/gpu: 2', 'nvidia.com/gpu: 8');
    Object.assign(editor.files, files);
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: valuesUri, type: FileChangeType.Changed }],
    });
    await editor.until(() => editor.refreshes.some((name) => name.includes('codeLens')));
    expect(await title()).toMatch(/^with values\.yaml: 24 × H100 80GB SXM · \$/);
  });

  test('is priced the same after the values were opened before', async () => {
    const editor = await openEditor({ files: { [`${chart}/Chart.yaml`]: read('Chart.yaml') } });
    await editor.open(valuesUri, read('values.yaml'));
    expect((await editor.lenses(valuesUri))[0]?.command?.title).toMatch(/^6 × H100 80GB SXM · \$/);
    await editor.open(template, read('templates/deployment.yaml'));
    expect((await editor.lenses(template))[0]?.command?.title).toMatch(/^with values\.yaml: 6 × H100 80GB SXM · \$/);
    expect((await editor.lenses(valuesUri))[0]?.command?.title).toMatch(/^6 × H100 80GB SXM · \$/);
  });

  test('is judged with the values of its chart, as they are now', async () => {
    const of = (name: string) => readFileSync(`test/fixtures/charts/answers/${name}`, 'utf8');
    const editor = await openEditor({ files: { [`${chart}/Chart.yaml`]: of('Chart.yaml') } });
    await editor.open(valuesUri, of('values.yaml'));
    const server = `${chart}/templates/server.yaml`;
    await editor.open(server, of('templates/server.yaml'));
    const messages = async () => (await editor.diagnostics(server)).map(({ message }) => message);
    const unkept = expect.stringContaining('No volume keeps Qwen2.5-32B-Instruct');
    expect(await messages()).toEqual([unkept, expect.stringContaining('No volume is mounted at /dev/shm')]);
    await editor.close(valuesUri);
    await editor.open(valuesUri, of('values.yaml').replace('count: 4', 'count: 1'));
    expect(await messages()).toEqual([unkept, expect.stringContaining('needs 61 GiB for weights')]);
  });

  test('without a chart is read alone', async () => {
    const editor = await openEditor({ files: { [valuesUri]: read('values.yaml') } });
    await editor.open(template, read('templates/deployment.yaml'));
    expect(await editor.lenses(template)).toEqual([]);
  });
});

describe('a kustomize patch', () => {
  const of = (name: string) => readFileSync(`test/fixtures/kustomize/${name}`, 'utf8');
  const names = ['base/kustomization.yaml', 'base/deployment.yaml', 'base/runtime.yaml', 'prod/kustomization.yaml'];
  const patch = `${folder}/prod/patches/replicas.yaml`;

  test('is priced with its base, also after a change of either', async () => {
    const files = Object.fromEntries(names.map((name) => [`${folder}/${name}`, of(name)]));
    const editor = await openEditor({ files });
    await editor.open(patch, of('prod/patches/replicas.yaml'));
    const title = async () => (await editor.lenses(patch))[0]?.command?.title;
    expect(await title()).toMatch(/^with base deployment\.yaml: 8 × H100 80GB SXM · \$/);
    await editor.open(
      `${folder}/base/deployment.yaml`,
      of('base/deployment.yaml').replace('p5.48xlarge', 'g6.48xlarge'),
    );
    expect(await title()).toMatch(/^with base deployment\.yaml: 8 × L4 · \$/);
  });

  test('and a kustomization follow JSON files and new folders on disk', async () => {
    const top = `${folder}/top/kustomization.yaml`;
    const files: Record<string, string> = {
      [`${folder}/base/deployment.yaml`]: of('base/deployment.yaml'),
      [`${folder}/top/patch.json`]: '[{"op": "replace", "path": "/spec/replicas", "value": 2}]',
    };
    const editor = await openEditor({ files });
    await editor.open(top, 'resources: [../base]\npatches: [{path: patch.json, target: {kind: Deployment}}]\n');
    const amounts = async () => (await editor.lenses(top)).map(({ command }) => command?.title.split(' H100')[0]);
    const notify = (uri: string, type: FileChangeType) =>
      editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [{ uri, type }] });
    expect(await amounts()).toEqual([]);

    editor.files[`${folder}/base/Kustomization`] = 'resources: [deployment.yaml]\n';
    await notify(`${folder}/base`, FileChangeType.Created);
    const [first] = await amounts();
    expect(first).toMatch(/^with deployment\.yaml: \d+ ×$/);

    const patch = `${folder}/top/patch.json`;
    editor.files[patch] = (files[patch] ?? '').replace('2', '4');
    await notify(patch, FileChangeType.Changed);
    expect(await amounts()).not.toEqual([first]);
  });
});
