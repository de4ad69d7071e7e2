import { expect, test } from 'vitest';
import { deploymentOf } from '../support/deployment.ts';
import { kustomizeProject } from './kustomize-project.ts';

const server = (count = '1') =>
  deploymentOf(`containers:
  - name: serve
    image: vllm/vllm-openai:v0.10.0
    args: [--model, Qwen/Qwen2.5-7B-Instruct]
    resources: {limits: {nvidia.com/gpu: ${count}}}
`);

const container = '/spec/template/spec/containers/0';
const requests = `- op: replace
  path: ${container}/resources
  value: {requests: {nvidia.com/gpu: 2}, limits: {nvidia.com/gpu: 1}}
`;
const parallel = `- op: add
  path: ${container}/args/-
  value: --tensor-parallel-size=4
`;
const fraction = `- op: replace
  path: ${container}/resources/limits/nvidia.com~1gpu
  value: "0.5"
`;
const fine = `- op: replace
  path: ${container}/resources/limits/nvidia.com~1gpu
  value: 1
`;
const target = 'target: {kind: Deployment, name: chat}';
const inline = (operations: string, key = 'patches') =>
  `${key}:\n  - ${target}\n    patch: |-\n${operations.replace(/^(?=.)/gm, '      ')}`;

async function foundIn(path: string, files: Readonly<Record<string, string>>, base = server()) {
  const all = { 'base/kustomization.yaml': 'resources: [server.yaml]\n', 'base/server.yaml': base, ...files };
  const { documents, text } = await kustomizeProject(all).fileAt(path);
  return documents.flatMap(({ findings, base: offset }) =>
    findings
      .filter(({ severity }) => severity === 'error' || severity === 'warning')
      .map(({ rule, span }) => `${rule}: ${text.slice(offset + span.start, offset + span.end)}`),
  );
}

const inKustomization = (patches: string, base?: string) =>
  foundIn('prod/kustomization.yaml', { 'prod/kustomization.yaml': `resources: [../base]\n${patches}` }, base);
const inFile = (operations: string, key = 'patches', base?: string) => {
  const kustomization = `resources: [../base]\n${key}: [{path: ops.yaml, ${target}}]\n`;
  return foundIn('prod/ops.yaml', { 'prod/kustomization.yaml': kustomization, 'prod/ops.yaml': operations }, base);
};

test.each([
  ['requests above limits', requests, /^gpu-requests-equal-limits: /],
  ['an argument for more GPUs', parallel, /^tensor-parallel-mismatch: .*4/],
  ['a part of a GPU', fraction, /^gpu-quantity-whole: "?0\.5/],
])('%s in the value of an operation is reported there, once', async (_, operations, finding) => {
  const expected = [expect.stringMatching(finding)];
  expect(await inKustomization(inline(operations))).toEqual(expected);
  expect(await inKustomization(inline(operations, 'patchesJson6902'))).toEqual(expected);
  expect(await inFile(operations)).toEqual(expected);
  expect(await inFile(operations, 'patchesJson6902')).toEqual(expected);
});

test('nothing is reported about operations that fit the rest', async () => {
  expect(await inKustomization(inline(fine))).toEqual([]);
  expect(await inFile(fine)).toEqual([]);
  const withMemory = deploymentOf(`containers:
  - name: serve
    image: vllm/vllm-openai:v0.10.0
    args: [--model, Qwen/Qwen2.5-7B-Instruct]
    resources: {limits: {nvidia.com/gpu: 1}}
    volumeMounts: [{name: shm, mountPath: /dev/shm}]
volumes: [{name: shm, emptyDir: {medium: Memory}}]
`);
  const four = fine.replace('value: 1', 'value: 4');
  expect(await inKustomization(inline(`${four}${parallel}`), withMemory)).toEqual([]);
  expect(await inKustomization(inline(fine.replace('value: 1', 'value: "1"')))).toEqual([]);
  expect(await inKustomization(inline(fraction).replace('name: chat', 'name: other'))).toEqual([]);
});

test('what another patch changes again, and what the base has already, is not reported', async () => {
  const both = `${inline(fraction)}${inline(fine).replace('patches:\n', '')}`;
  expect(await inKustomization(both)).toEqual([]);
  expect(await inKustomization(inline(fraction), server('0.25'))).toEqual([]);
});

const inTemplate = (spec: string, name = 'chat') =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec:\n  template:\n    spec:\n${spec.replace(/^(?=.)/gm, '      ')}`;
const ofServer = (fields: string) => inTemplate(`containers:\n  - name: serve\n${fields.replace(/^(?=.)/gm, '    ')}`);
const withGpus = (count: number) => ofServer(`resources: {limits: {nvidia.com/gpu: ${count}}}\n`);
const onCpu = deploymentOf(`containers:
  - name: serve
    image: registry.example/serve:1.2
    env: [{name: CUDA_VISIBLE_DEVICES, value: "-1"}]
`);
const inlineMerge = (patch: string, key = 'patch: |-', before = '') =>
  `patches:\n  - ${before && `${before}\n    `}${key}\n${patch.replace(/^(?=.)/gm, '      ')}`;
const merged = (patch: string, base?: string, more: Readonly<Record<string, string>> = {}) => {
  const patches = ['merge.yaml', ...Object.keys(more)].map((name) => `{path: ${name}}`);
  const kustomization = `resources: [../base]\npatches: [${patches.join(', ')}]\n`;
  const own = Object.fromEntries(Object.entries(more).map(([name, text]) => [`prod/${name}`, text]));
  const files = { 'prod/kustomization.yaml': kustomization, 'prod/merge.yaml': patch, ...own };
  return foundIn('prod/merge.yaml', files, base);
};

test.each([
  [
    'an argument for more GPUs',
    ofServer('args: [--tensor-parallel-size=4]\n'),
    server(),
    /^tensor-parallel-mismatch: .*4/,
  ],
  [
    'a request above the limit',
    ofServer('resources: {requests: {nvidia.com/gpu: 2}}\n'),
    server(),
    /^gpu-requests-equal-limits: /,
  ],
  [
    'a mount without its volume',
    ofServer('volumeMounts: [{name: logs, mountPath: /var/log/serve}]\n'),
    server(),
    /^object-reference: /,
  ],
  ['GPUs that the server of the base does not use', withGpus(4), server(), /^tensor-parallel-missing: nvidia/],
  ['GPUs that a variable of the base hides', withGpus(1), onCpu, /^hidden-gpus: nvidia/],
  [
    'a GPU without the data type of the base',
    inTemplate('nodeSelector: {nvidia.com/gpu.product: Tesla-T4}\n'),
    server().replace('Instruct]', 'Instruct-AWQ, --dtype=bfloat16]'),
    /^dtype-unsupported: Tesla-T4$/,
  ],
])('%s in a patch that is merged is reported there', async (_, patch, base, finding) => {
  const expected = [expect.stringMatching(finding)];
  expect(await merged(patch, base)).toEqual(expected);
  expect(await inKustomization(inlineMerge(patch), base)).toEqual(expected);
  expect(await inKustomization(inlineMerge(patch, `patch: |-`, target), base)).toEqual(expected);
  const former = inlineMerge(patch, '|-').replace('patches:', 'patchesStrategicMerge:');
  expect(await inKustomization(former, base)).toEqual(expected);
});

test('nothing is reported about a merged patch that fits the rest, or whose mistake is in the base', async () => {
  expect(await merged(ofServer('resources: {requests: {nvidia.com/gpu: 1}}\n'))).toEqual([]);
  expect(
    await merged(
      ofServer('env: [{name: CUDA_VISIBLE_DEVICES, $patch: delete}]\nresources: {limits: {nvidia.com/gpu: 1}}\n'),
      onCpu,
    ),
  ).toEqual([]);
  expect(
    await merged(withGpus(1), onCpu.replace('env:', 'resources: {limits: {nvidia.com/gpu: 1}}\n    env:')),
  ).toEqual([]);
  expect(await merged(withGpus(4).replace('name: chat', 'name: other'))).toEqual([]);
  const shared = inTemplate('volumes: [{name: shm, emptyDir: {medium: Memory}}]\n');
  const parallelArguments = ofServer(
    'args: [--model, Qwen/Qwen2.5-7B-Instruct, --tensor-parallel-size=4]\nvolumeMounts: [{name: shm, mountPath: /dev/shm}]\n',
  );
  expect(await merged(withGpus(4), server(), { 'args.yaml': parallelArguments, 'shm.yaml': shared })).toEqual([]);
  expect(await inKustomization(inlineMerge(ofServer('resources: {requests: {nvidia.com/gpu: 1}}\n')))).toEqual([]);
  // The second one has the last word.
  const twice = `${inlineMerge(withGpus(4))}${inlineMerge(withGpus(1)).replace('patches:\n', '')}`;
  expect(await inKustomization(twice)).toEqual([]);
});

test('a comment in the patch or an annotation of the object suppresses what only both together get wrong', async () => {
  const comment = withGpus(4).replace(/resources: .*/, '$& # gpulint-disable-line tensor-parallel-missing');
  expect(await merged(comment)).toEqual([]);
  const annotated = server().replace(
    'name: chat}',
    'name: chat, annotations: {gpulint.dev/disable: tensor-parallel-missing}}',
  );
  expect(await merged(withGpus(4), annotated)).toEqual([]);
});

test('the moving image of a base that gets GPUs is reported where it gets them', async () => {
  const files = (image: string) => ({
    'base/kustomization.yaml': 'resources: [server.yaml]\n',
    'base/server.yaml': deploymentOf(`containers:\n  - {name: serve, image: "${image}"}\n`),
    'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: merge.yaml}]\n',
    'prod/merge.yaml': withGpus(1),
  });
  const messages = async (image: string) => {
    const { documents } = await kustomizeProject(files(image)).fileAt('prod/merge.yaml');
    return documents.flatMap(({ findings }) => findings.map(({ message }) => message));
  };
  expect(await messages('registry.example/serve:latest')).toEqual([
    'Image tag latest is mutable: a new pod can run a different build (with server.yaml)',
  ]);
  expect(await messages('registry.example/serve:1.2')).toEqual([]);
  // The base has this finding itself: its image is known to use GPUs.
  expect(await messages('vllm/vllm-openai:latest')).not.toContainEqual(expect.stringMatching(/latest/));
});

test('the moving image that a kustomization sets is not what its patch causes', async () => {
  const images = 'images: [{name: registry.example/serve, newTag: latest}]\n';
  const base = deploymentOf(`containers:
  - name: serve
    image: registry.example/serve:1.2
    resources: {limits: {nvidia.com/gpu: 1}}
`);
  expect(await inKustomization(`${inlineMerge(withGpus(2))}\n${images}`, base)).toEqual([]);
});

test('what a JSON patch causes in the rest is reported at its value', async () => {
  const add = `- op: add\n  path: ${container}/resources\n  value: {limits: {nvidia.com/gpu: 1}}\n`;
  const hidden = [expect.stringMatching(/^hidden-gpus: nvidia.com\/gpu$/)];
  expect(await inKustomization(inline(add), onCpu)).toEqual(hidden);
  expect(await inFile(add, 'patches', onCpu)).toEqual(hidden);
  expect(await inKustomization(inline(add), onCpu.replace('"-1"', '"0"'))).toEqual([]);
});
