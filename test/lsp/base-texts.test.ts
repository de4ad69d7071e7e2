import { describe, expect, test } from 'vitest';
import { type CodeLens, CodeLensRequest } from 'vscode-languageserver/node';
import { methods } from '../../server/src/lsp/protocol.ts';
import { type Editor, folder, openEditor } from './editor.ts';

const uri = `${folder}/chat.yaml`;
const otherUri = `${folder}/hpa.yaml`;

const deployment = (replicas: string, gpus: number, name = 'chat') => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
${replicas}  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
      containers:
        - name: main
          image: registry.example.com/chat:1.0
          resources: {limits: {nvidia.com/gpu: ${gpus}}}
`;

const schedule = (times: string) => `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: ${times}
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600
      template:
        spec:
          restartPolicy: Never
          nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
          containers: [{name: main, image: "registry.example.com/job:1.0", resources: {limits: {nvidia.com/gpu: 1}}}]
`;

/** p5.48xlarge in us-east-1 costs $55.04/h, $6.88/h for each of its 8 GPUs. */
const cases = [
  ['more GPUs', deployment('', 2), deployment('', 4), '+$13.76/h against HEAD'],
  ['fewer GPUs', deployment('', 4), deployment('', 1), '−$20.64/h against HEAD'],
  ['more replicas', deployment('  replicas: 1\n', 8), deployment('  replicas: 3\n', 8), '+$110.08/h against HEAD'],
  [
    'a new workload',
    deployment('', 1, 'other'),
    `${deployment('', 1, 'other')}---\n${deployment('', 8)}`,
    '+$55.04/h against HEAD',
  ],
  // From 730 / 24 to 730 / 6 runs of 1 h × 0.8048: from 24.48 to 97.92.
  ['more runs', schedule('0 2 * * *'), schedule('0 */6 * * *'), '+$73/month against HEAD'],
] as const;

describe('the price against the last commit', () => {
  test.each(cases)('is in the lens: %s', async (_, before, after, expected) => {
    const editor = await editorWith(before);
    await editor.open(uri, after);
    expect((await titles(editor)).at(-1)).toMatch(new RegExp(`· ${expected.replace(/[+$.]/g, '\\$&')}$`));
  });

  test('is not in the lens of what has not changed, has no price, or is in no commit', async () => {
    const same = await editorWith(deployment('', 2));
    await same.open(uri, `# A comment.\n${deployment('', 2)}`);
    expect((await titles(same)).join()).not.toContain('HEAD');
    const unknown = await editorWith(
      deployment('', 2).replace('node.kubernetes.io/instance-type: p5.48xlarge', 'a: b'),
    );
    await unknown.open(uri, deployment('', 2));
    expect((await titles(unknown)).join()).not.toContain('HEAD');
    const untracked = await editorWith(null);
    await untracked.open(uri, deployment('', 2));
    expect((await titles(untracked)).join()).not.toContain('HEAD');
  });

  test('follows a new commit', async () => {
    let base: string | null = deployment('', 2);
    const editor = await editorWith(() => base);
    await editor.open(uri, deployment('', 4));
    expect((await titles(editor)).join()).toContain('against HEAD');
    base = deployment('', 4);
    editor.connection.sendNotification(methods.basesChanged);
    expect((await titles(editor)).join()).not.toContain('HEAD');
  });

  test('applies what other files say to both states', async () => {
    const editor = await editorWith(deployment('', 8));
    await editor.open(
      otherUri,
      `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  minReplicas: 2
  maxReplicas: 2
  metrics: [{type: Pods, pods: {metric: {name: queue}, target: {type: AverageValue, averageValue: "1"}}}]
`,
    );
    await editor.open(uri, deployment('', 4));
    expect((await titles(editor)).join()).toContain('−$55.04/h against HEAD');
  });

  test('is not requested from a client that knows no commits', async () => {
    const editor = await openEditor();
    await editor.open(uri, deployment('', 2));
    expect((await titles(editor)).join()).toContain('$13.76/h');
    expect(editor.log).toEqual([]);
  });
});

describe('the change of several files', () => {
  test('is listed by workload, with the total', async () => {
    const moved = `${folder}/moved.yaml`;
    const editor = await openEditor({ files: { [moved]: deployment('', 8, 'batch') } });
    await editor.open(uri, deployment('', 4));
    const files = [
      { uri, path: 'chat.yaml', base: deployment('', 2) },
      { uri: moved, path: 'moved.yaml', base: null },
      {
        uri: `${folder}/old.yaml`,
        path: 'old.yaml',
        base: `${deployment('', 8, 'batch')}---\n${deployment('', 1, 'gone')}`,
      },
    ];
    expect(await editor.connection.sendRequest(methods.costChanges, { files })).toEqual({
      title: 'GPU cost against HEAD: +$6.88/h',
      changes: [
        { uri, line: 0, label: 'Deployment/chat  +$13.76/h', description: '2 → 4 GPUs · chat.yaml' },
        {
          uri: `${folder}/old.yaml`,
          line: null,
          label: 'Deployment/gone  −$6.88/h',
          description: 'removed, 1 GPU · old.yaml',
        },
      ],
    });
  });

  test('is nothing where nothing changed', async () => {
    const editor = await openEditor();
    await editor.open(uri, deployment('', 2));
    const files = [{ uri, path: 'chat.yaml', base: deployment('', 2) }];
    expect(await editor.connection.sendRequest(methods.costChanges, { files })).toEqual({
      title: 'GPU cost unchanged against HEAD',
      changes: [],
    });
  });
});

test('a client that does not answer does not hold up the lenses; they are requested again when it does', async () => {
  let answer: ((text: string) => void) | undefined;
  const editor = await openEditor({ options: { baseTexts: true } });
  editor.connection.onRequest(
    methods.baseText,
    () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
  );
  await editor.open(uri, deployment('', 4));
  const [first = ''] = await titles(editor);
  expect(first).toContain('4 × H100');
  expect(first).not.toContain('HEAD');
  // The second request does not wait.
  expect(await titles(editor)).toEqual([first]);
  const before = editor.refreshes.length;
  answer?.(deployment('', 2));
  await editor.until(() => editor.refreshes.length > before);
  expect(await titles(editor)).toEqual([expect.stringContaining('HEAD')]);
});

async function editorWith(base: string | null | (() => string | null)): Promise<Editor> {
  const editor = await openEditor({ options: { baseTexts: true } });
  editor.connection.onRequest(methods.baseText, ({ uri: asked }: { uri: string }) => {
    if (asked !== uri) return null;
    return typeof base === 'function' ? base() : base;
  });
  return editor;
}

async function titles({ connection }: Editor): Promise<readonly string[]> {
  const lenses: readonly CodeLens[] | null = await connection.sendRequest(CodeLensRequest.type, {
    textDocument: { uri },
  });
  return (lenses ?? []).map(({ command }) => command?.title ?? '');
}
