import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownKinds } from '../../server/src/model/kinds/index.ts';
import { groupOf, lowerManifests } from '../../server/src/model/manifest.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

const folder = 'test/fixtures/model';

test('each kind of the table has an object with its expected model beside it', () => {
  const shown = new Set(
    readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => parseYaml(readFileSync(`${folder}/${name}`, 'utf8')).documents)
      .flatMap((document) => lowerManifests(document))
      .map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`),
  );
  expect(knownKinds().filter((kind) => !shown.has(kind))).toEqual([]);
});
