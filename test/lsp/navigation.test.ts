import { describe, expect, test } from 'vitest';
import { ReferencesRequest } from 'vscode-languageserver/node';
import { folder, openEditor, withCursor } from './editor.ts';
import { chat, define, openFolder, placed, runtime, runtimes, service, untilLens } from './served-model.ts';

describe('definitions and references', () => {
  test('lead from a service to its runtime, and back', async () => {
    const second = `${folder}/apps/second.yaml`;
    const editor = await openFolder({
      [runtimes]: runtime(4),
      [second]: withCursor(service).text.replace('name: chat', 'name: second'),
    });
    await editor.open(chat, withCursor(service).text);
    await untilLens(editor, chat, /^4 × L4/);
    expect((await define(editor, chat, service)).map(placed)).toEqual(['apps/runtimes.yaml:3:17']);

    await editor.open(runtimes, runtime(4));
    const { position } = withCursor(runtime(4).replace('name: vllm', 'name: $0vllm'));
    const found = await editor.connection.sendRequest(ReferencesRequest.type, {
      textDocument: { uri: runtimes },
      position,
      context: { includeDeclaration: true },
    });
    expect((found ?? []).map(placed).sort()).toEqual([
      'apps/chat.yaml:9:15',
      'apps/runtimes.yaml:3:17',
      'apps/second.yaml:9:15',
    ]);
  });

  test.each([
    [
      'a scaler',
      'spec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: $0server}',
      'ScaledObject',
      'keda.sh/v1alpha1',
    ],
    ['a queue', 'spec: {clusterQueue: $0shared}', 'LocalQueue', 'kueue.x-k8s.io/v1beta1'],
    ['a train job', 'spec: {runtimeRef: {name: $0torch}}', 'TrainJob', 'trainer.kubeflow.org/v1alpha1'],
    ['a flavor', 'spec: {resourceGroups: [{flavors: [{name: $0l4}]}]}', 'ClusterQueue', 'kueue.x-k8s.io/v1beta1'],
    ['a volume', 'spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: $0data}}]}', 'Pod', 'v1'],
    ['a runtime class', 'spec: {runtimeClassName: $0nvidia}', 'Pod', 'v1'],
  ])('lead from %s', async (_, spec, kind, apiVersion) => {
    const targets = [
      'apps/v1 Deployment server',
      'kueue.x-k8s.io/v1beta1 ClusterQueue shared',
      'trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime torch',
      'kueue.x-k8s.io/v1beta1 ResourceFlavor l4',
      'v1 PersistentVolumeClaim data',
      'node.k8s.io/v1 RuntimeClass nvidia',
    ].map((target) => target.split(' '));
    const all = targets
      .map(([api, of, name]) => `apiVersion: ${api}\nkind: ${of}\nmetadata:\n  name: ${name}\n`)
      .join('---\n');
    const editor = await openEditor();
    await editor.open(`${folder}/all.yaml`, all);
    const marked = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: it}\n${spec}\n`;
    await editor.open(`${folder}/it.yaml`, withCursor(marked).text);
    await editor.diagnostics(`${folder}/all.yaml`);
    const name = /\$0([\w-]+)/.exec(marked)?.[1];
    const line = all.split('\n').indexOf(`  name: ${name}`);
    expect((await define(editor, `${folder}/it.yaml`, marked)).map(placed)).toEqual([`all.yaml:${line}:8`]);
  });

  test('stay in the document for mounts of volumes and for aliases', async () => {
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: a, labels: &labels {app: a}, annotations: *labels}
spec:
  volumes:
    - {name: shm, emptyDir: {medium: Memory}}
  containers:
    - name: a
      image: registry.example/a:1
      resources: {limits: {nvidia.com/gpu: 1}}
      volumeMounts: [{name: shm, mountPath: /dev/shm}]
`;
    const editor = await openEditor();
    await editor.open(chat, pod);
    const at = (text: string) => pod.replace(text, `$0${text}`);
    expect((await define(editor, chat, at('shm, mountPath'))).map(placed)).toEqual(['apps/chat.yaml:5:13']);
    expect((await define(editor, chat, at('*labels'))).map(placed)).toEqual(['apps/chat.yaml:2:28']);
    expect(await define(editor, chat, at('registry'))).toEqual([]);
  });
});
