import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { buildObjects, collectFiles, patchIn } from '../../server/src/model/kustomize/build.ts';
import { applyJsonPatch, isJsonPatch } from '../../server/src/model/kustomize/json-patch.ts';
import { mergeStrategic } from '../../server/src/model/kustomize/merge.ts';
import type { YamlNode } from '../../server/src/yaml/node.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';

describe('a strategic merge', () => {
  const cases: readonly (readonly [name: string, base: string, patch: string, merged: string])[] = [
    ['mappings', '{a: 1, b: {c: 2, d: 3}}', '{b: {c: 4}, e: 5}', '{a: 1, b: {c: 4, d: 3}, e: 5}'],
    ['null removes', '{a: 1, b: {c: 2}}', '{b: {c: ~}, a: null}', '{b: {}}'],
    [
      'containers by name',
      '{containers: [{name: x, image: i}, {name: y, image: j}]}',
      '{containers: [{name: y, resources: {limits: {gpu: 1}}}, {name: z, image: k}]}',
      '{containers: [{name: x, image: i}, {name: y, image: j, resources: {limits: {gpu: 1}}}, {name: z, image: k}]}',
    ],
    [
      'ports and mounts by their own keys',
      '{ports: [{containerPort: 80, name: a}], volumeMounts: [{mountPath: /x, name: v}]}',
      '{ports: [{containerPort: 80, protocol: UDP}], volumeMounts: [{mountPath: /y, name: v}]}',
      '{ports: [{containerPort: 80, name: a, protocol: UDP}], volumeMounts: [{mountPath: /x, name: v}, {mountPath: /y, name: v}]}',
    ],
    ['tolerations as a whole', '{tolerations: [{key: a}]}', '{tolerations: [{key: b}]}', '{tolerations: [{key: b}]}'],
    ['arguments as a whole', '{args: [a, b]}', '{args: [c]}', '{args: [c]}'],
    [
      'an item is removed',
      '{containers: [{name: x}, {name: y}]}',
      '{containers: [{name: x, $patch: delete}]}',
      '{containers: [{name: y}]}',
    ],
    ['a mapping is replaced', '{b: {c: 2, d: 3}}', '{b: {$patch: replace, e: 1}}', '{b: {e: 1}}'],
    ['a mapping is removed', '{a: 1, b: {c: 2}}', '{b: {$patch: delete}}', '{a: 1}'],
    ['a list is replaced', '{env: [{name: a}]}', '{env: [{$patch: replace}, {name: b}]}', '{env: [{name: b}]}'],
    ['another kind of value', '{a: [1], b: {c: 1}}', '{a: {x: 1}, b: 2}', '{a: {x: 1}, b: 2}'],
  ];
  for (const [name, base, patch, merged] of cases) {
    test(name, () => expect(plain(mergeStrategic(read(base), read(patch), true))).toEqual(plain(read(merged))));
  }

  test('lists of custom resources are replaced', () => {
    const merged = mergeStrategic(
      read('{containers: [{name: x, image: i}]}'),
      read('{containers: [{name: x}]}'),
      false,
    );
    expect(plain(merged)).toEqual({ containers: [{ name: 'x' }] });
  });
});

describe('a JSON patch', () => {
  const cases: readonly (readonly [operation: string, made: unknown])[] = [
    ['{op: replace, path: /a/b~1c, value: 2}', { a: { 'b/c': 2, list: [1, 2] } }],
    ['{op: add, path: /a/list/-, value: 3}', { a: { 'b/c': 1, list: [1, 2, 3] } }],
    ['{op: add, path: /a/list/0, value: 0}', { a: { 'b/c': 1, list: [0, 1, 2] } }],
    ['{op: remove, path: /a/list/1}', { a: { 'b/c': 1, list: [1] } }],
    ['{op: add, path: /d, value: {e: 1}}', { a: { 'b/c': 1, list: [1, 2] }, d: { e: 1 } }],
    ['{op: remove, path: /a}', {}],
    // Nothing to replace, no such way, other operations.
    ['{op: replace, path: /x, value: 1}', { a: { 'b/c': 1, list: [1, 2] } }],
    ['{op: remove, path: /a/list/7}', { a: { 'b/c': 1, list: [1, 2] } }],
    ['{op: move, path: /a, from: /b}', { a: { 'b/c': 1, list: [1, 2] } }],
    ['{op: add, path: "", value: 1}', { a: { 'b/c': 1, list: [1, 2] } }],
  ];
  for (const [operation, made] of cases) {
    test(operation, () => {
      const patch = read(`[${operation}]`);
      if (!isJsonPatch(patch)) throw new Error('the case is a patch');
      expect(plain(applyJsonPatch(read('{a: {b/c: 1, list: [1, 2]}}'), patch))).toEqual(made);
    });
  }
});

describe('an overlay', () => {
  const folder = 'file:///kustomize';
  const texts = new Map(
    readdirSync('test/fixtures/kustomize', { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [`${folder}${file.slice('test/fixtures/kustomize'.length)}`, readFileSync(file, 'utf8')]),
  );
  const fileAt = async (uri: string) => {
    const text = texts.get(uri);
    return text === undefined ? undefined : { uri, text };
  };
  const prod = `${folder}/prod/kustomization.yaml`;

  async function analyse(file: string, kustomization = prod) {
    const text = texts.get(file) ?? '';
    const all = (await collectFiles(kustomization, fileAt)) ?? new Map();
    const patch = patchIn({ uri: kustomization, text: texts.get(kustomization) ?? '' }, file);
    const relatedFiles =
      patch === undefined
        ? { built: buildObjects(kustomization, all).objects }
        : { base: { objects: buildObjects(kustomization, all, file).objects, target: patch.target } };
    return { text, file: new Analysis({ strict: true }).setFile(file, text, 0, undefined, relatedFiles) };
  }

  test('costs what the base and all patches make, at the patch', async () => {
    const { text, file } = await analyse(`${folder}/prod/patches/replicas.yaml`);
    const [workload] = file.documents[0]?.costed ?? [];
    expect(workload && gpusOf(workload)).toEqual({ min: 8, max: 8 });
    expect(workload?.podSets[0]?.placement.capacity).toBe('spot');
    expect(codeLenses(file).map(({ title }) => title)).toEqual([
      expect.stringMatching(
        /^with base deployment\.yaml: 8 × H100 80GB SXM · \$[\d.]+\/h spot \(node p5\.48xlarge \$[\d.]+\/h\)$/,
      ),
    ]);
    // Rules see the patch alone, in which next to nothing is said.
    expect(file.documents[0]?.workloads[0]?.partial).toBe(true);
    expect(file.documents[0]?.findings).toEqual([]);
    const found = hover(file, text.indexOf('nvidia.com/gpu: 2') + 1);
    expect(found && text.slice(found.span.start, found.span.end)).toBe('nvidia.com/gpu');
    expect(inlayHints(file, { start: 0, end: text.length })).toHaveLength(1);
  });

  test('a list of operations has a price too, and no hint where nothing is written', async () => {
    const { text, file } = await analyse(`${folder}/prod/patches/workers.yaml`);
    expect(codeLenses(file).map(({ title, target }) => [title, text.slice(target.start, target.end)])).toEqual([
      [expect.stringMatching(/^with base runtime\.yaml: 24 × H100 80GB SXM · \$/), 'op'],
    ]);
    expect(inlayHints(file, { start: -5, end: text.length })).toEqual([]);
  });

  test('the kustomization tells of all that it makes', async () => {
    const { file } = await analyse(prod);
    expect(codeLenses(file).map(({ title }) => title)).toEqual([
      expect.stringMatching(
        /^with deployment\.yaml: 8 × H100 80GB SXM · \$[\d.]+\/h spot \(node p5\.48xlarge \$[\d.]+\/h\)$/,
      ),
      expect.stringMatching(/^with runtime\.yaml: 24 × H100 80GB SXM · \$/),
    ]);
  });

  test('has the replicas, images and labels that its kustomization says, whatever its patches do', async () => {
    const fields = `${folder}/fields/kustomization.yaml`;
    const [deployment] = (await analyse(fields, fields)).file.documents.flatMap(({ costed }) => costed);
    const [patch] = (await analyse(`${folder}/fields/more.yaml`, fields)).file.documents.flatMap(
      ({ costed }) => costed,
    );
    for (const workload of [deployment, patch]) {
      expect(workload && gpusOf(workload)).toEqual({ min: 20, max: 20 });
      const [podSet] = workload?.podSets ?? [];
      expect(podSet?.containers.map(({ image }) => image?.value)).toEqual([
        'registry.example.com/proxy@sha256:24a0c4b4',
        'mirror.example.com/vllm-openai:v0.10.0',
      ]);
      expect(podSet?.labels.map(({ value }) => value)).toEqual(['llama', 'gold']);
      expect(workload?.manifest.labels.map(({ value }) => value)).toEqual(['gold', 'ml']);
      // What the image runs is known by its new name.
      expect(workload?.role).toBe('serving');
    }
  });

  test('finds what the base names: kustomize renames both alike', async () => {
    const fields = `${folder}/fields/kustomization.yaml`;
    const all = (await collectFiles(fields, fileAt)) ?? new Map();
    const analysis = new Analysis({ strict: true });
    const scaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}, minReplicas: 1, maxReplicas: 9}
`;
    analysis.setFile(`${folder}/base/scaler.yaml`, scaler);
    const built = { built: buildObjects(fields, all).objects };
    const file = analysis.setFile(fields, texts.get(fields) ?? '', 0, undefined, built);
    const [deployment] = file.documents.flatMap(({ costed }) => costed);
    expect(deployment && gpusOf(deployment)).toEqual({ min: 4, max: 36 });
  });

  test('that leads in circles, or nowhere, ends', async () => {
    const circle = `${folder}/a/kustomization.yaml`;
    const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n';
    const circular = new Map([
      [circle, 'resources: [../a, ../b, gone.yaml, pod.yaml]\npatches: [{path: gone.yaml}]\n'],
      [`${folder}/b/kustomization.yaml`, 'resources: [../a]\n'],
      [`${folder}/a/pod.yaml`, pod],
    ]);
    const found = await collectFiles(circle, async (uri) => {
      const text = circular.get(uri);
      return text === undefined ? undefined : { uri, text };
    });
    expect(found && buildObjects(circle, found).objects).toHaveLength(1);
  });
});

function read(text: string): YamlNode {
  const { root } = parseDocument(text, 0);
  if (root === null) throw new Error(`no YAML: ${text}`);
  return root;
}

function plain(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'seq') return node.items.map(({ value }) => plain(value));
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
}

test('no path leads out of the file system: above its root stands a host', async () => {
  const requested: string[] = [];
  const from = 'file:///c%3A/ws/kustomization.yaml';
  const paths = [2, 3, 4, 5, 9].map((depth) => `${'../'.repeat(depth)}evil.example/share/x.yaml`);
  await collectFiles(from, async (uri) => {
    requested.push(uri);
    return uri === from ? { uri, text: `resources: [${paths.join(', ')}]\n` } : undefined;
  });
  expect(requested).toContain('file:///evil.example/share/x.yaml');
  expect(requested.filter((uri) => !uri.startsWith('file:///'))).toEqual([]);
});
