import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { manifestFile, renderManifest, renderSchemas, schemasFolder } from '../../scripts/generate-schemas.ts';

test.each([...renderSchemas()])('schemas/%s is up to date; otherwise, run npm run generate:schemas', (name, text) => {
  expect(readFileSync(path.join(schemasFolder, name), 'utf8')).toBe(text);
});

test('the settings in package.json are up to date; otherwise, run npm run generate:schemas', () => {
  const text = readFileSync(manifestFile, 'utf8');
  expect(text).toBe(renderManifest(text));
});

test('the schema of the config accepts the same values as the config', () => {
  const validate = new Ajv2020().compile(
    JSON.parse(readFileSync(path.join(schemasFolder, 'config.schema.json'), 'utf8')),
  );
  expect(validate({})).toBe(true);
  expect(validate({ provider: 'aws', gpu: null, rules: { 'gpu-limits-required': 'off' }, ignore: ['a'] })).toBe(true);
  expect(validate({ gpus: 1 })).toBe(false);
  expect(validate({ gpu: 'H100' })).toBe(true);
  expect(validate({ gpu: 5 })).toBe(false);
});
