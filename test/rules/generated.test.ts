import { expect, test } from 'vitest';
import { generatedFiles, staleFiles } from '../../scripts/generated-files.ts';
import { rulePages } from '../../server/src/rules/pages.ts';

test('index, pages and docs/rules follow from the rules (otherwise: npm run generate)', async () => {
  expect(staleFiles(await generatedFiles())).toEqual([]);
});

test('a page says what the rule finds, shows both examples, and how to silence it', () => {
  const page = rulePages.get('gpu-limits-required');
  expect(page).toMatch(/^<!-- Generated .*-->\n# gpu-limits-required\n/);
  expect(page).toContain('Wrong:\n\n```yaml\n');
  expect(page).toContain('Fixed:\n\n```yaml\n');
  expect(page).toContain('# gpulint-disable-next-line gpu-limits-required');
});
