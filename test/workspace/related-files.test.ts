import { expect, test } from 'vitest';
import { countedThrough, createRelatedFiles } from '../../server/src/workspace/related-files.ts';

const sets = (entries: Readonly<Record<string, readonly string[]>>) =>
  new Map(Object.entries(entries).map(([name, parts]) => [name, new Set(parts)]));

test('a file is counted through the kustomizations that no other one includes', () => {
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

test('of kustomizations that include each other one counts', () => {
  const through = countedThrough(sets({ one: ['two', 'a.yaml'], two: ['one', 'a.yaml'] }));
  expect(through.get('a.yaml')).toEqual(['one']);
  expect(through.get('two')).toEqual(['one']);
});

test('an answer is the same object until a file that it rests on says something else', async () => {
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
  expect(related.deleted(new Set(['file:///w']))).toBe(true);
  expect(await of()).toEqual({});
});
