import { expect, test } from 'vitest';
import { countedThrough, createRelatedFiles } from '../../server/src/workspace/find-related-files.ts';

const sets = (entries: Readonly<Record<string, readonly string[]>>) =>
  new Map(Object.entries(entries).map(([name, parts]) => [name, new Set(parts)]));

test('a file is counted through the top kustomizations that include it', () => {
  const through = countedThrough(
    sets({ base: ['a.yaml'], prod: ['base', 'a.yaml', 'patch.yaml'], dev: ['base', 'a.yaml'], alone: ['b.yaml'] }),
  );
  expect(Object.fromEntries(through)).toEqual({
    base: ['dev', 'prod'],
    'a.yaml': ['dev', 'prod'],
    'patch.yaml': ['prod'],
    'b.yaml': ['alone'],
  });
});

test('of kustomizations that include each other, one counts', () => {
  const through = countedThrough(sets({ one: ['two', 'a.yaml'], two: ['one', 'a.yaml'] }));
  expect(through.get('a.yaml')).toEqual(['one']);
  expect(through.get('two')).toEqual(['one']);
  expect(through.get('one')).toEqual([]);
});

test('a result is the same object until a file that it depends on changes', async () => {
  const folder = 'file:///w/prod';
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n';
  const texts = new Map([
    [`${folder}/kustomization.yaml`, 'resources: [pod.yaml]\n'],
    [`${folder}/pod.yaml`, pod],
  ]);
  const reads: string[] = [];
  const related = createRelatedFiles({
    async read(uri) {
      reads.push(uri);
      return texts.get(uri);
    },
    reaches: () => true,
  });
  const of = () => related.of(`${folder}/kustomization.yaml`);
  const first = await of();
  expect(first.built).toHaveLength(1);
  expect(await of()).toBe(first);
  expect(reads).toHaveLength(2);

  expect(related.changed(`${folder}/other.yaml`)).toBe(false);
  expect(related.changed(`${folder}/pod.yaml`)).toBe(true);
  expect(await of()).toBe(first);
  expect(reads).toHaveLength(3);

  texts.set(`${folder}/pod.yaml`, `${pod}---\n${pod}`);
  related.changed(`${folder}/pod.yaml`);
  expect((await of()).built).toHaveLength(2);

  texts.clear();
  expect(related.filesChanged(new Set(['file:///w']))).toBe(true);
  expect(await of()).toEqual({});
});

const gpuPod = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}
`;

function relatedTo(files: Readonly<Record<string, string>>) {
  const texts = new Map(Object.entries(files).map(([name, text]) => [`file:///w/${name}`, text]));
  const reads: string[] = [];
  const notBuilt: string[] = [];
  const source = createRelatedFiles({
    async read(uri) {
      reads.push(uri);
      return texts.get(uri);
    },
    reaches: () => true,
    notBuilt: (uri, reason) => notBuilt.push(`${uri}: ${reason}`),
  });
  return { texts, reads, notBuilt, source };
}

test('a folder named templates without a chart can hold kustomizations and patches', async () => {
  const { source } = relatedTo({
    'templates/base/kustomization.yaml': 'resources: [pod.yaml]',
    'templates/base/pod.yaml': gpuPod('a'),
    'templates/prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: patch.yaml}]',
    'templates/prod/patch.yaml': gpuPod('a'),
  });
  expect((await source.of('file:///w/templates/prod/kustomization.yaml')).built).toHaveLength(1);
  expect((await source.of('file:///w/templates/prod/patch.yaml')).base?.objects).toHaveLength(1);
});

test('a path that no URI can contain is skipped', async () => {
  const { source } = relatedTo({
    'kustomization.yaml': 'resources: ["\\ud800", pod.yaml]',
    'pod.yaml': gpuPod('a'),
  });
  expect((await source.of('file:///w/kustomization.yaml')).built).toHaveLength(1);
});

test('an edited kustomization depends only on the files that it names now', async () => {
  const { texts, reads, source } = relatedTo({ 'base/pod.yaml': gpuPod('a') });
  const uri = 'file:///w/prod/kustomization.yaml';
  const edit = async (index: number) => {
    texts.set(uri, `resources: [../base/pod.yaml, ../missing${index}]`);
    source.changed(uri);
    reads.length = 0;
    await source.of(uri);
    return reads.length;
  };
  await edit(0);
  const first = await edit(1);
  for (let index = 2; index < 20; index += 1) expect(await edit(index)).toBe(first);
  expect(source.changed('file:///w/missing18')).toBe(false);
  expect(source.changed('file:///w/missing19')).toBe(true);
  expect(source.changed('file:///w/base/pod.yaml')).toBe(true);
});

test('a file that is closed while its related files are read depends on none', async () => {
  const { source } = relatedTo({
    'kustomization.yaml': 'resources: [base]',
    'base/kustomization.yaml': 'resources: [pod.yaml]',
    'base/pod.yaml': gpuPod('a'),
  });
  const uri = 'file:///w/kustomization.yaml';
  const reading = source.of(uri);
  source.forget(uri);
  await reading;
  expect(source.changed('file:///w/base/pod.yaml')).toBe(false);
  expect(source.changed(uri)).toBe(false);
});

/** A kustomization of so many pods, each with a patch that names it. */
function manyPatched(pods: number) {
  const names = Array.from({ length: pods }, (_, index) => `p${index}`);
  const patch = (name: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, labels: {patched: by-${name}}}\n`;
  return relatedTo({
    'kustomization.yaml': `resources: [${names.map((name) => `${name}.yaml`).join(', ')}]
patches: [${names.map((name) => `{path: patch-${name}.yaml}`).join(', ')}]
`,
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`${name}.yaml`, gpuPod(name)],
        [`patch-${name}.yaml`, patch(name)],
      ]),
    ),
  });
}

test('a kustomization with hundreds of patches is built with all of them, and each patch from the others', async () => {
  const { source, notBuilt } = manyPatched(400);
  const { built = [] } = await source.of('file:///w/kustomization.yaml');
  expect(built.map(({ names, sources }) => [...names, ...sources])).toEqual(
    built.map((_, index) => [`p${index}`, `file:///w/p${index}.yaml`, `file:///w/patch-p${index}.yaml`]),
  );
  const { base } = await source.of('file:///w/patch-p399.yaml');
  expect(base?.objects.map(({ sources }) => sources.length)).toEqual([...Array(399).fill(2), 1]);
  expect(notBuilt).toEqual([]);
});

test('a kustomization with more files than that is not built at all, because a part would have wrong totals', async () => {
  const { source, notBuilt } = manyPatched(501);
  expect(await source.of('file:///w/kustomization.yaml')).toEqual({});
  expect(await source.of('file:///w/patch-p0.yaml')).toEqual({ isPatch: true });
  expect(notBuilt).toEqual(['file:///w/kustomization.yaml: it includes more than 1,000 files']);
});

test('so is one whose bases have too many files together', async () => {
  const bases = Array.from({ length: 3 }, (_, base) =>
    Array.from({ length: 400 }, (_pod, index) => `b${base}/p${index}`),
  );
  const { source, notBuilt } = relatedTo({
    'kustomization.yaml': 'resources: [b0, b1, b2]',
    ...Object.fromEntries(
      bases.flatMap((pods, base) => [
        [`b${base}/kustomization.yaml`, `resources: [${pods.map((_, index) => `p${index}.yaml`).join(', ')}]`],
        ...pods.map((pod) => [`${pod}.yaml`, gpuPod('a')]),
      ]),
    ),
  });
  expect((await source.of('file:///w/b1/kustomization.yaml')).built).toHaveLength(400);
  expect(await source.of('file:///w/kustomization.yaml')).toEqual({});
  expect(notBuilt).toHaveLength(1);
});
