import { describe, expect, test } from 'vitest';
import { accessDenied } from '../../server/src/lsp/access-denied.ts';
import {
  type CostsResult,
  type EditResult,
  type FractionsResult,
  type GpusResult,
  type MigChoicesResult,
  methods,
  type SetGpuResult,
  type SummaryParams,
} from '../../server/src/lsp/protocol.ts';
import { podWithCaret, selectsA100 } from '../support/manifests.ts';
import { caret, configUri, type Editor, folder, openEditor, withCursor } from './editor.ts';

const uri = `${folder}/app.yaml`;
const ours = { options: { picker: true, summary: true } };

const claimUri = `${folder}/claims.yaml`;

/** A server whose GPU a claim of another file requests, with the cursor in its name. */
function claimingPod(product: string, reference: string, args: string): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: chat
spec:
  nodeSelector:
    nvidia.com/gpu.product: ${product}
  resourceClaims:
    - name: gpu
      ${reference}: one$0-gpu
  containers:
    - name: main
      image: vllm/vllm-openai:v0.11.0
      args: [${args}]
      resources:
        claims:
          - name: gpu
`;
}

describe('rewriting to a MIG slice', () => {
  test('opens a picker, and the selection becomes a versioned edit', async () => {
    const editor = await openEditor(ours);
    const { text, position } = withCursor(podWithCaret(selectsA100));
    await editor.open(uri, text);
    const [action, ...others] = await editor.actions(uri, caret(position), ['refactor.rewrite']);
    expect(others).toEqual([]);
    expect(action).toMatchObject({
      title: 'Rewrite to a MIG slice…',
      command: { command: 'gpulint.rewriteToMig', arguments: [{ uri, range: { start: { line: position.line } } }] },
    });
    expect(action?.edit).toBeUndefined();

    const choices = await editor.connection.sendRequest<MigChoicesResult>(methods.migChoices, { uri, position });
    expect(choices.gpu).toEqual({ id: 'a100-80gb-sxm', name: 'A100 80GB SXM' });
    expect(choices.profiles[0]).toEqual({
      profile: '1g.10gb',
      description: expect.stringMatching(/^10 GB, 1\/7 of the GPU, \$[\d.]+–\$[\d.]+\/h$/),
    });

    const answer = await rewrite(editor, position, 'a100-80gb-sxm', '1g.10gb');
    const after = editor.applied(uri, 'edit' in answer ? answer.edit : undefined);
    expect(after).toBe(text.replace('nvidia.com/gpu: 1', 'nvidia.com/mig-1g.10gb: 1'));
  });

  test('offers no slice on which the server does not start', async () => {
    const editor = await openEditor(ours);
    const { text, position } = withCursor(
      podWithCaret(selectsA100).replace(
        'image: busybox:1.36',
        'image: vllm/vllm-openai:v0.11.0\n      args: [--model, meta-llama/Llama-3.1-8B]',
      ),
    );
    await editor.open(uri, text);
    const choices = await editor.connection.sendRequest<MigChoicesResult>(methods.migChoices, { uri, position });
    expect(
      choices.profiles.map(({ profile, description }) => `${profile}: ${description.replace(/^.*\/h, /, '')}`),
    ).toEqual(['3g.40gb: fits Llama-3.1-8B', '4g.40gb: fits Llama-3.1-8B', '7g.80gb: fits Llama-3.1-8B']);
  });

  test('lists the pieces of a GPU on which the model fits, and one becomes an edit', async () => {
    const editor = await openEditor(ours);
    const { text, position } = withCursor(
      podWithCaret(selectsA100).replace(
        'image: busybox:1.36',
        'image: vllm/vllm-openai:v0.11.0\n      args: [--model, Qwen/Qwen3-4B]',
      ),
    );
    await editor.open(uri, text);
    const [action] = await editor.actions(uri, caret(position), ['refactor.rewrite']);
    expect(action).toMatchObject({ title: 'Use less of a GPU…', command: { command: 'gpulint.resizeGpu' } });
    const { title, fractions } = await editor.connection.sendRequest<FractionsResult>(methods.fractions, {
      uri,
      position,
    });
    expect(title).toBe('Less than 1 × A100 80GB SXM for Qwen3-4B');
    expect(fractions.map(({ id }) => id)).toContain('hami');
    const params = { uri, position, id: 'mig 1g.20gb' };
    const answer = await editor.connection.sendRequest<EditResult>(methods.rewriteToFraction, params);
    const after = editor.applied(uri, 'edit' in answer ? answer.edit : undefined);
    expect(after).toBe(text.replace('nvidia.com/gpu: 1', 'nvidia.com/mig-1g.20gb: 1'));
    const wrong = { uri, position, id: 'none' };
    expect(await editor.connection.sendRequest<EditResult>(methods.rewriteToFraction, wrong)).toHaveProperty('problem');
  });

  test('of a GPU that a claim in another file requests changes that file', async () => {
    const editor = await openEditor(ours);
    const claim = `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: one-gpu
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
`;
    await editor.open(claimUri, claim);
    const { text, position } = withCursor(
      claimingPod(
        'NVIDIA-A100-SXM4-80GB',
        'resourceClaimTemplateName',
        '--model=Qwen/Qwen2.5-0.5B-Instruct, --max-model-len=4096',
      ),
    );
    await editor.open(uri, text);
    const [action] = await editor.actions(uri, caret(position), ['refactor.rewrite']);
    expect(action).toMatchObject({ title: 'Use less of a GPU…', command: { command: 'gpulint.resizeGpu' } });
    const list = await editor.connection.sendRequest<FractionsResult>(methods.fractions, { uri, position });
    expect(list.fractions.map(({ id }) => id)).toEqual(['claimed memory', 'mig 1g.10gb', 'mig 1g.20gb']);
    const params = { uri, position, id: 'mig 1g.10gb' };
    const answer = await editor.connection.sendRequest<EditResult>(methods.rewriteToFraction, params);
    const edit = 'edit' in answer ? answer.edit : undefined;
    expect(editor.applied(claimUri, edit)).toBe(
      claim.replace(
        'gpu.nvidia.com\n',
        `mig.nvidia.com
            selectors:
              - cel:
                  expression: device.attributes['gpu.nvidia.com'].profile == '1g.10gb'
`,
      ),
    );
  });

  test('of a GPU that pods share by a claim in another file changes both files', async () => {
    const editor = await openEditor(ours);
    const claim = `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: one-gpu
spec:
  devices:
    requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.nvidia.com
`;
    await editor.open(claimUri, claim);
    const { text, position } = withCursor(
      claimingPod(
        'NVIDIA-L4',
        'resourceClaimName',
        '--model=Qwen/Qwen2.5-0.5B-Instruct, --max-model-len=4096, --max-num-batched-tokens=2048',
      ),
    );
    await editor.open(uri, text);
    const list = await editor.connection.sendRequest<FractionsResult>(methods.fractions, { uri, position });
    expect(list.fractions.map(({ label }) => label)).toContain('1/6 of the claimed GPU (time slicing)');
    const params = { uri, position, id: 'shared claim' };
    const answer = await editor.connection.sendRequest<EditResult>(methods.rewriteToFraction, params);
    const edit = 'edit' in answer ? answer.edit : undefined;
    expect(editor.applied(claimUri, edit)).toContain(
      '    config:\n      - requests:\n          - gpu\n        opaque:',
    );
    expect(editor.applied(uri, edit)).toContain('"--gpu-memory-utilization=0.15"]');
  });

  test('offers a choice of GPUs if the GPU is unknown', async () => {
    const editor = await openEditor(ours);
    const { text, position } = withCursor(podWithCaret());
    await editor.open(uri, text);
    const first = await editor.connection.sendRequest<MigChoicesResult>(methods.migChoices, { uri, position });
    expect(first).toMatchObject({ gpu: null, profiles: [] });
    expect(first.gpus.map(({ id }) => id)).toEqual(expect.arrayContaining(['a100-80gb-sxm', 'h100-80gb-sxm']));
    expect(first.gpus.map(({ id }) => id)).not.toContain('t4');
    const params = { uri, position, gpu: 'h100-80gb-sxm' };
    const second = await editor.connection.sendRequest<MigChoicesResult>(methods.migChoices, params);
    expect(second.profiles.map(({ profile }) => profile)).toContain('3g.40gb');
  });

  test('of a request that has moved is rejected', async () => {
    const editor = await openEditor(ours);
    const { text, position } = withCursor(podWithCaret(selectsA100));
    await editor.open(uri, text);
    await editor.change(uri, caret({ line: 0, character: 0 }), '# a\n# b\n# c\n');
    expect(await rewrite(editor, position, 'a100-80gb-sxm', '1g.10gb')).toEqual({
      problem: 'This whole-GPU request no longer exists.',
    });
    const there = { line: position.line + 3, character: position.character };
    expect(await rewrite(editor, there, 'a100-80gb-sxm', '9g.99gb')).toHaveProperty('problem');
    expect(await rewrite(editor, there, 'no-such-gpu', '1g.10gb')).toHaveProperty('problem');
  });
});

describe('setting the GPU', () => {
  const set = (editor: Editor, where = uri) =>
    editor.connection.sendRequest<SetGpuResult>(methods.setGpu, { uri: where, gpu: 'l4', provider: 'gcp' });

  test('creates the config', async () => {
    const editor = await openEditor(ours);
    expect(await set(editor)).toEqual({
      file: configUri,
      edit: {
        documentChanges: [
          { kind: 'create', uri: configUri, options: { ignoreIfExists: true } },
          {
            textDocument: { uri: configUri, version: null },
            edits: [
              {
                range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
                newText: 'gpu: l4\nprovider: gcp\n',
              },
            ],
          },
        ],
      },
    });
  });

  test('keeps the rest of the config, as shown in the editor', async () => {
    const editor = await openEditor({ ...ours, files: { [configUri]: 'gpu: t4\n' } });
    await editor.open(configUri, '# ours\ngpu: a10g # old\nrules: {}\n');
    const answer = await set(editor);
    expect(editor.applied(configUri, 'edit' in answer ? answer.edit : undefined)).toBe(
      '# ours\ngpu: l4 # old\nrules: {}\nprovider: gcp\n',
    );
  });

  test('edits the current config, incomplete or changed without a report', async () => {
    const editor = await openEditor({ ...ours, files: { [configUri]: 'gpu: t4\n' } });
    await editor.open(`${folder}/.gpulint.yaml`, 'gpu: a10g\n');
    await editor.report(configUri);
    for (const [at, letter] of [...'-and-more'].entries())
      await editor.change(configUri, caret({ line: 0, character: 9 + at }), letter);
    const half = await set(editor);
    expect(editor.applied(configUri, 'edit' in half ? half.edit : undefined)).toBe('gpu: l4\nprovider: gcp\n');
    await editor.close(configUri);
    expect(await editor.hover(uri, { line: 0, character: 0 })).toBeNull();
    editor.files[configUri] = '# ours\nheadroom: 0.2\ngpu: t4\n';
    const later = await set(editor);
    const edits = ('edit' in later && later.edit.documentChanges) || [];
    expect(edits[0]).toMatchObject({ textDocument: { version: null }, edits: [{ range: { start: { line: 2 } } }, {}] });
  });

  test('becomes settings without a folder, and is rejected if the config is broken', async () => {
    const editor = await openEditor({ ...ours, files: { [configUri]: 'gpu: [\n' } });
    expect(await set(editor, 'file:///elsewhere/pod.yaml')).toEqual({
      settings: [
        { key: 'gpu', value: 'l4' },
        { key: 'provider', value: 'gcp' },
      ],
    });
    expect(await set(editor)).toEqual({ problem: expect.stringContaining('errors') });
  });

  test('offers every GPU with its providers', async () => {
    const editor = await openEditor(ours);
    const { gpus } = await editor.connection.sendRequest<GpusResult>(methods.gpus, {});
    const l4 = gpus.find(({ id }) => id === 'l4');
    expect(l4?.description).toMatch(/^24 GB · \$[\d.]+–\$[\d.]+\/h$/);
    expect(gpus.map(({ id }) => id)).toContain('mi300x');
    expect(l4?.providers.map(({ name }) => name)).toEqual(expect.arrayContaining(['AWS', 'Google Cloud']));
  });

  test('offers the prices of a provider, and what it sells first', async () => {
    const editor = await openEditor(ours);
    const params = { key: 'gpu', provider: 'aws', region: 'us-east-1' } as const;
    const { gpus } = await editor.connection.sendRequest<GpusResult>(methods.gpus, params);
    const descriptions = new Map(gpus.map(({ id, description }) => [id, description]));
    expect(descriptions.get('l4')).toMatch(/^24 GB · \$[\d.]+\/h at AWS$/);
    expect(descriptions.get('mi300x')).toBe('192 GB · no price at AWS');
    const ids = gpus.map(({ id }) => id);
    expect(ids.indexOf('a10g')).toBeLessThan(ids.indexOf('l40'));
    expect(ids).not.toContain('trainium1');
  });

  test('offers each kind of accelerator under its own key', async () => {
    const editor = await openEditor(ours);
    await editor.open(uri, withCursor(podWithCaret().replace('nvidia.com/gpu', 'aws.amazon.com/neuron')).text);
    const setUp = await editor.connection.sendRequest<GpusResult>(methods.gpus, { key: 'gpu' });
    expect(setUp.keys).toEqual(['neuron']);
    const { gpus } = await editor.connection.sendRequest<GpusResult>(methods.gpus, { uri });
    expect(gpus.map(({ id, key }) => [id, key])).toEqual(expect.arrayContaining([['trainium1', 'neuron']]));
    expect(gpus.every(({ key }) => key === 'neuron')).toBe(true);
  });
});

test('offers only the GPUs that the requests of a file can mean', async () => {
  const editor = await openEditor(ours);
  await editor.open(uri, withCursor(podWithCaret()).text);
  const { gpus } = await editor.connection.sendRequest<GpusResult>(methods.gpus, { uri });
  expect(gpus.map(({ id }) => id)).toContain('l4');
  expect(gpus.map(({ id }) => id)).not.toContain('mi300x');
});

describe('the status bar', () => {
  test('gets the summary of a file that requests GPUs, and another one after a change', async () => {
    const editor = await openEditor(ours);
    const received: SummaryParams[] = [];
    const next = listen(editor, received);
    await editor.open(uri, withCursor(podWithCaret(selectsA100)).text);
    await next(1);
    expect(received[0]).toMatchObject({ uri, summary: { text: expect.stringMatching(/^1 GPU \$/) } });
    await editor.change(uri, { start: { line: 12, character: 26 }, end: { line: 12, character: 27 } }, '4');
    await next(2);
    expect(received[1]?.summary?.text).toMatch(/^4 GPUs \$/);
    await editor.open(configUri, 'gpu: t4\n');
    await editor.open(`${folder}/b.yaml`, 'a: 1\n');
    await next(4);
    expect(received.slice(2).map(({ summary }) => summary)).toEqual([null, null]);
  });

  test('lists the workloads of a file', async () => {
    const editor = await openEditor(ours);
    const text = withCursor(podWithCaret()).text;
    await editor.open(uri, `${text}---\n${text.replace('trainer', 'other')}`);
    const costs = await editor.connection.sendRequest<CostsResult>(methods.costs, { uri });
    expect(costs.map(({ label, position }) => [label, position])).toEqual([
      ['Pod/trainer', { line: 1, character: 0 }],
      ['Pod/other', { line: 13, character: 0 }],
    ]);
    expect(costs[0]?.description).toMatch(/^1 GPU · \$[\d.]+\/h on .+ … \$[\d.]+\/h on /);
  });
});

function rewrite(editor: Editor, position: { line: number; character: number }, gpu: string, profile: string) {
  return editor.connection.sendRequest<EditResult>(methods.rewriteToMig, { uri, position, gpu, profile });
}

/** Collects summaries; the result waits for a number of them. */
function listen(editor: Editor, received: SummaryParams[]): (count: number) => Promise<void> {
  let wake: () => void = () => undefined;
  editor.connection.onNotification(methods.summary, (params: SummaryParams) => {
    received.push(params);
    wake();
  });
  return (count) =>
    new Promise((resolve) => {
      wake = () => {
        if (received.length >= count) resolve();
      };
      wake();
    });
}

test('a config that cannot be read is not overwritten', async () => {
  const readFile = async (uri: string) => {
    if (uri === configUri) throw accessDenied('is outside the workspace folders');
    return undefined;
  };
  const editor = await openEditor({ host: { readFile } });
  const result = await editor.connection.sendRequest<EditResult>(methods.setGpu, {
    uri: `${folder}/pod.yaml`,
    gpu: 'l4',
    provider: null,
  });
  expect(result).toEqual({ problem: '.gpulint.yaml cannot be read. The gpulint output shows the reason.' });
  expect(editor.log).toEqual([`${configUri} is not read: it is outside the workspace folders`]);
});
