import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { lenses, open, until, untilFindings, workspaceFolder } from './editor.ts';

const job = `apiVersion: batch/v1
kind: Job
metadata:
  name: embed
  labels:
    kueue.x-k8s.io/queue-name: embedders
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: embed
          image: registry.example/embed:1.4
          resources:
            limits:
              nvidia.com/gpu: 2
`;
const queues = `apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata:
  name: embedders
spec:
  clusterQueue: embedders
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata:
  name: embedders
spec:
  resourceGroups:
    - coveredResources: [cpu]
      flavors:
        - name: general
          resources: [{name: cpu, nominalQuota: 40}]
`;

describe('files that are seen together', () => {
  const other = () => path.join(workspaceFolder(), 'embed-queues.yaml');
  afterEach(() => fs.rmSync(other(), { force: true }));

  it('a finding that rests on another file appears, leads there, and goes when that file is edited', async () => {
    fs.writeFileSync(other(), queues);
    const document = await open('embed-job.yaml', job);
    const place = document.positionAt(document.getText().indexOf('embedders') + 2);
    const definitions = () =>
      vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
        'vscode.executeDefinitionProvider',
        document.uri,
        place,
      );
    // On a timeout, this shows whether the server knows the other file.
    await untilFindings(document, ['queue-coverage']).catch(async (error: Error) => {
      throw new Error(`${error.message}; the queue's name leads to ${(await definitions()).length} places`);
    });

    const found = await definitions();
    const [first] = found.map((one) => ('targetUri' in one ? { uri: one.targetUri, range: one.targetRange } : one));
    assert.equal(first?.uri.fsPath, other());
    assert.equal(first?.range.start.line, 3);

    const queue = await vscode.workspace.openTextDocument(other());
    const edit = new vscode.WorkspaceEdit();
    const covered = queue.getText().indexOf('coveredResources: [cpu]') + 'coveredResources: ['.length;
    edit.replace(queue.uri, range(queue, covered, covered + 3), 'nvidia.com/gpu');
    const listed = queue.getText().indexOf('{name: cpu') + '{name: '.length;
    edit.replace(queue.uri, range(queue, listed, listed + 3), 'nvidia.com/gpu');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await untilFindings(document, []);
    await queue.save();
    await untilFindings(document, []);
  });

  it('a file that changes on the disk, or goes with its folder, changes what is said of others', async () => {
    const runtime = (gpus: number) => `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata:
  name: tiny
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: kserve-container
      image: registry.example/tiny:1.4
      resources: {limits: {nvidia.com/gpu: ${gpus}}}
`;
    const below = path.join(workspaceFolder(), 'tiny-runtimes');
    const kept = path.join(below, 'tiny.yaml');
    fs.mkdirSync(below);
    fs.writeFileSync(kept, runtime(1));
    const document = await open(
      'tiny.yaml',
      'apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: tiny}\nspec:\n  predictor:\n' +
        '    minReplicas: 1\n    maxReplicas: 1\n    model: {modelFormat: {name: huggingface}, runtime: tiny}\n',
    );
    const reads = async (start: string) => (await lenses(document)).some((title) => title.startsWith(start));
    await until(
      () => reads('1 × L4'),
      () => 'one GPU',
    );
    fs.writeFileSync(kept, runtime(4));
    await until(
      () => reads('4 × L4'),
      () => 'four GPUs',
    );
    // VS Code tells of the folder alone.
    fs.rmSync(below, { recursive: true });
    await until(
      async () => !(await reads('4 × L4')),
      () => 'no GPUs',
    );
  });
});

function range(document: vscode.TextDocument, start: number, end: number): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}
