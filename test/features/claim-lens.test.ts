import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { configOf } from '../support/config-line.ts';

test('alternatives of a claim are a range of devices', () => {
  const text = readFileSync('test/fixtures/cost-by-hand/claims.yaml', 'utf8');
  const analysis = new Analysis({ strict: true });
  analysis.setConfig(configOf(text));
  const file = analysis.setFile('file:///claims.yaml', text);
  const [first, second] = codeLenses(file).map(({ title }) => title.split(' on demand')[0]);
  expect(first).toBe('1–4 × L40S or T4 · $1.86–$3.91/h');
  expect(second).toBe('1–8 × L40S or T4 · $1.86–$7.82/h');
  const shown = hover(file, file.text.indexOf('kind: Pod') + 1);
  expect(JSON.stringify(shown?.blocks)).toContain('Runs 1 pod × 1–4 GPUs = 1–4 GPUs');
});
