import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatedFiles, staleFiles } from '../../scripts/generated-files.ts';

test('index and docs/rules match the rules (if not: npm run generate)', async () => {
  expect(staleFiles(await generatedFiles())).toEqual([]);
});

test('a page describes the rule, shows both examples, and explains how to suppress it', () => {
  const page = readFileSync('docs/rules/gpu-limits-required.md', 'utf8');
  expect(page).toMatch(/^<!-- Generated .*-->\n# gpu-limits-required\n/);
  expect(page).toContain('Incorrect:\n\n```yaml\n');
  expect(page).toContain('Fixed:\n\n```yaml\n');
  expect(page).toContain('# gpulint-disable-next-line gpu-limits-required');
});
