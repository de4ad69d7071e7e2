import { expect, test } from 'vitest';
import {
  CancellationTokenSource,
  DidChangeWatchedFilesNotification,
  FileChangeType,
  LSPErrorCodes,
  WorkDoneProgress,
} from 'vscode-languageserver/node';
import type { CostTreeResult, WorkspaceCostsResult } from '../../server/src/lsp/cost-protocol.ts';
import { methods } from '../../server/src/lsp/protocol.ts';
import { caret, configUri, type Editor, folder, openEditor } from './editor.ts';
import { openFolder } from './served-model.ts';

const deployment = (name: string, gpus: number) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: serving, labels: {team: search}}
spec:
  replicas: 1
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge, topology.kubernetes.io/region: us-east-1}
      containers: [{name: main, image: 'vllm/vllm-openai:v0.11.0', resources: {limits: {nvidia.com/gpu: ${gpus}}}}]
`;
const a = `${folder}/a.yaml`;
const b = `${folder}/b.yaml`;

const costs = (editor: Editor) => editor.connection.sendRequest<WorkspaceCostsResult>(methods.workspaceCosts, {});
const names = ({ rows }: WorkspaceCostsResult) =>
  rows.map(({ path, name, hourly }) => `${path} ${name} ${hourly?.max}`);

async function changed(editor: Editor, type: FileChangeType, uri: string): Promise<void> {
  await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [{ uri, type }] });
}

/** The number of notifications that costs have changed. */
function notifications(editor: Editor): () => number {
  let count = 0;
  editor.connection.onNotification(methods.costsChanged, () => {
    count += 1;
  });
  return () => count;
}

test('closed and open files count once, with the unsaved text', async () => {
  const files = { [a]: deployment('one', 8), [b]: deployment('two', 8), [`${folder}/c.yaml`]: 'a: b\n' };
  const editor = await openFolder(files);
  expect(await costs(editor)).toMatchObject({
    rows: [
      { uri: a, path: 'a.yaml', name: 'one', namespace: 'serving', team: 'search', range: { start: { line: 1 } } },
      { uri: b, path: 'b.yaml', name: 'two' },
    ],
    total: { workloads: 2, unpriced: 0, gpus: { min: 16, max: 16 }, hourly: { min: 110.08, max: 110.08 } },
    priceBasis: expect.stringMatching(/^on demand at AWS us-east-1, as of /),
  });
  await editor.open(a, deployment('unsaved', 4));
  expect(names(await costs(editor))).toEqual(['a.yaml unsaved 27.52', 'b.yaml two 55.04']);
});

test('values of a release count with the templates of their chart, which then count nothing', async () => {
  const template = deployment('chat', 8).replace('replicas: 1', 'replicas: {{ .Values.replicas }}');
  const prod = `${folder}/chart/values-prod.yaml`;
  const editor = await openFolder({
    [`${folder}/chart/Chart.yaml`]: 'apiVersion: v2\nname: chat\nversion: 1.0.0\n',
    [`${folder}/chart/values.yaml`]: 'replicas: 1\n',
    [prod]: 'replicas: 3\n',
    [`${folder}/chart/templates/chat.yaml`]: template,
    [a]: deployment('one', 8),
  });
  expect(names(await costs(editor))).toEqual(['a.yaml one 55.04', 'chart/values-prod.yaml chat 165.12']);
  await editor.open(prod, 'replicas: 2\n');
  expect(names(await costs(editor))).toEqual(['a.yaml one 55.04', 'chart/values-prod.yaml chat 110.08']);
});

test('an object that installs a chart counts it with its values, as they are typed', async () => {
  const template = deployment('chat', 8).replace('replicas: 1', 'replicas: {{ .Values.replicas }}');
  const app = `${folder}/apps/chat.yaml`;
  const install = (replicas: number) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: chat}
spec: {source: {path: charts/chat, helm: {valuesObject: {replicas: ${replicas}}}}, destination: {namespace: serving}}
`;
  const editor = await openFolder({
    [`${folder}/charts/chat/Chart.yaml`]: 'apiVersion: v2\nname: chat\nversion: 1.0.0\n',
    [`${folder}/charts/chat/values.yaml`]: 'replicas: 1\n',
    [`${folder}/charts/chat/templates/chat.yaml`]: template,
    [app]: install(2),
  });
  expect(names(await costs(editor))).toEqual(['apps/chat.yaml chat 110.08']);
  await editor.open(app, install(3));
  expect(names(await costs(editor))).toEqual(['apps/chat.yaml chat 165.12']);
  const kind = (length: number) => ({ start: { line: 1, character: 6 }, end: { line: 1, character: 6 + length } });
  await editor.change(app, kind('Application'.length), 'AppProject');
  expect(names(await costs(editor))).toEqual(['charts/chat/templates/chat.yaml chat 55.04']);
  await editor.change(app, kind('AppProject'.length), 'Application');
  expect(names(await costs(editor))).toEqual(['apps/chat.yaml chat 165.12']);
});

test('a file of Terraform that installs a chart counts it with its values', async () => {
  const main = `${folder}/main.tf`;
  const set = 'set {\n    name  = "replicas"\n    value = 2\n  }';
  const editor = await openFolder({
    [`${folder}/charts/chat/Chart.yaml`]: 'apiVersion: v2\nname: chat\nversion: 1.0.0\n',
    [`${folder}/charts/chat/values.yaml`]: 'replicas: 1\n',
    [`${folder}/charts/chat/templates/chat.yaml`]: deployment('chat', 8).replace(
      'replicas: 1',
      'replicas: {{ .Values.replicas }}',
    ),
    [main]: `\nresource "helm_release" "chat" {\n  name  = "chat"\n  chart = "./charts/chat"\n  ${set}\n}\n`,
  });
  expect(names(await costs(editor))).toEqual(['main.tf chat 110.08']);
});

test('an edit analyzes only the file that it changes, and the client learns of it once', async () => {
  const files: Record<string, string> = { [a]: deployment('one', 8), [b]: deployment('two', 8) };
  const reads: string[] = [];
  const editor = await openEditor({
    host: {
      readFile: async (uri) => {
        if (uri in files) reads.push(uri);
        return files[uri];
      },
      listFiles: async () => Object.keys(files),
    },
    settings: { closedFiles: { maxFiles: 0 } },
  });
  const told = notifications(editor);
  await costs(editor);
  reads.length = 0;
  files[b] = deployment('two', 4);
  await changed(editor, FileChangeType.Changed, b);
  await editor.until(() => told() === 1);
  await changed(editor, FileChangeType.Changed, b);
  expect(names(await costs(editor))).toEqual(['a.yaml one 55.04', 'b.yaml two 27.52']);
  expect(new Set(reads)).toEqual(new Set([b]));
  expect(told()).toBeLessThanOrEqual(2);
  await changed(editor, FileChangeType.Deleted, b);
  await editor.until(() => told() > 0);
  await expect.poll(async () => names(await costs(editor))).toEqual(['a.yaml one 55.04']);
});

test('a base counts in its overlays, and follows its changes', async () => {
  const files: Record<string, string> = {
    [`${folder}/base/kustomization.yaml`]: 'resources: [chat.yaml]\n',
    [`${folder}/base/chat.yaml`]: deployment('chat', 8),
    [`${folder}/dev/kustomization.yaml`]: 'resources: [../base]\n',
    [`${folder}/prod/kustomization.yaml`]: 'resources: [../base]\nreplicas: [{name: chat, count: 2}]\n',
  };
  const editor = await openFolder(files);
  expect(names(await costs(editor))).toEqual([
    'dev/kustomization.yaml chat 55.04',
    'prod/kustomization.yaml chat 110.08',
  ]);
  files[`${folder}/base/chat.yaml`] = deployment('chat', 4);
  await changed(editor, FileChangeType.Changed, `${folder}/base/chat.yaml`);
  await expect
    .poll(async () => names(await costs(editor)))
    .toEqual(['dev/kustomization.yaml chat 27.52', 'prod/kustomization.yaml chat 55.04']);
});

test('the config sets prices, and ignored files do not count', async () => {
  const files: Record<string, string> = {
    [a]: deployment('one', 8),
    [`${folder}/old/b.yaml`]: deployment('old', 8),
    [configUri]: 'ignore: [old]\nprices: {instanceTypes: {p5.48xlarge: 10}}\n',
  };
  const editor = await openFolder(files);
  expect(names(await costs(editor))).toEqual(['a.yaml one 10']);
  files[configUri] = 'prices: {instanceTypes: {p5.48xlarge: 20}}\n';
  await changed(editor, FileChangeType.Changed, configUri);
  await expect.poll(async () => names(await costs(editor))).toEqual(['a.yaml one 20', 'old/b.yaml old 20']);
});

test('progress is reported, and the request can be canceled', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`${folder}/${index}.yaml`, deployment(`d${index}`, 8)]),
  );
  const editor = await openFolder(files, { settings: { closedFiles: { maxFiles: 0 } } });
  const seen: string[] = [];
  editor.connection.onProgress(WorkDoneProgress.type, 'costs', ({ kind }) => void seen.push(kind));
  await editor.connection.sendRequest(methods.workspaceCosts, { workDoneToken: 'costs' });
  expect(seen[0]).toBe('begin');
  expect(seen).toContain('report');
  expect(seen.at(-1)).toBe('end');
  const cancel = new CancellationTokenSource();
  const answer = editor.connection.sendRequest(methods.costTree, { sort: 'cost', group: 'none' }, cancel.token);
  cancel.cancel();
  await expect(answer).rejects.toMatchObject({ code: LSPErrorCodes.RequestCancelled });
});

test('the tree has the totals of its leaves', async () => {
  const editor = await openFolder({ [a]: deployment('one', 8), [b]: deployment('two', 4) });
  const tree = (sort: string, group: string) =>
    editor.connection.sendRequest<CostTreeResult>(methods.costTree, { sort, group });
  const { nodes, total, message } = await tree('name', 'team');
  expect(total).toBe('$82.56/h');
  expect(message).toMatch(
    /^2 workloads, 12 GPUs: \$82\.56\/h \(\$60,269\/month\), \$82\.56\/h idle\. Prices as of [-\d]+; 730 h per month\.$/,
  );
  expect(nodes).toMatchObject([{ label: 'search', description: '$82.56/h · $82.56/h idle · 2 workloads' }]);
  expect(nodes[0]?.children?.map(({ label, place }) => [label, place?.uri])).toEqual([
    ['Deployment/one', a],
    ['Deployment/two', b],
  ]);
  await expect(tree('size', 'team')).rejects.toThrow('params.sort is invalid');
  const empty = await openFolder({});
  expect(await empty.connection.sendRequest(methods.costTree, { sort: 'cost', group: 'file' })).toEqual({
    nodes: [],
    total: '',
    message: '',
  });
});

test('several folders are told apart', async () => {
  const editor = await openEditor({
    folders: { 'file:///other': {} },
    host: {
      readFile: async (uri) => (uri.endsWith('.yaml') && !uri.includes('gpulint') ? deployment('one', 8) : undefined),
      listFiles: async (below) => [`${below}/a.yaml`],
    },
  });
  expect((await costs(editor)).rows.map(({ path }) => path)).toEqual(['other/a.yaml', 'work space/a.yaml']);
  await editor.open(a, deployment('one', 8));
  await editor.change(a, caret({ line: 0, character: 0 }), '# a comment\n');
  expect((await costs(editor)).rows).toHaveLength(2);
});

test('a document that is opened again with another text has its costs', async () => {
  const files: Record<string, string> = { [a]: deployment('one', 8) };
  const editor = await openFolder(files, { settings: { closedFiles: { maxFiles: 0 } } });
  await editor.open(a, deployment('one', 8));
  expect(names(await costs(editor))).toEqual(['a.yaml one 55.04']);
  files[a] = deployment('one', 4);
  await editor.close(a);
  await editor.open(a, files[a]);
  expect(names(await costs(editor))).toEqual(['a.yaml one 27.52']);
});
