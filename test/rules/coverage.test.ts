import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ruleIds } from '../../server/src/rules/index.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/rule-coverage.md'), 'utf8');
const named = [...page.matchAll(/\]\(rules\/([\w-]+)\.md\)/g)].map((match) => match[1] ?? '');

test('the page on coverage names every rule, and no other', () => {
  expect([...new Set(named)].filter((id) => id !== 'README').sort()).toEqual([...ruleIds]);
});
