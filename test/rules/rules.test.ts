import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRuleDoc } from '../../scripts/rule-docs.ts';
import { ruleIds } from '../../server/src/rules/index.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse, findingsOf, only } from '../support/analyse.ts';
import { checkRule, renderFixes } from '../support/check-rule.ts';
import { configOf } from '../support/config-line.ts';
import { readFixture } from '../support/rule-fixture.ts';

const root = path.join(import.meta.dirname, '../..');
const folder = path.join(root, 'test/fixtures/rules');
const fixtures = readdirSync(folder).filter((name) => name.endsWith('.yaml') && !name.endsWith('.fixed.yaml'));

test('every rule has a fixture, and every fixture a rule', () => {
  expect(fixtures.map((name) => name.replace(/\.yaml$/, '')).sort()).toEqual([...ruleIds]);
});

describe.each(ruleIds.filter((id) => existsSync(path.join(folder, `${id}.yaml`))))('%s', (id) => {
  const cases = readFixture(readFileSync(path.join(folder, `${id}.yaml`), 'utf8'));

  test('its fixture has a case with a finding and one without', () => {
    const marked = cases.filter(({ expected }) => expected.length > 0).length;
    expect(marked).toBeGreaterThan(0);
    expect(cases.length).toBeGreaterThan(marked);
  });

  test.each(cases.map((fixture) => [fixture.name, fixture] as const))('%s', (_, fixture) => {
    checkRule(id, fixture);
  });

  test('its fixes turn the cases into .fixed.yaml', () => {
    const actual = cases.map((fixture) => renderFixes(id, fixture)).join('');
    const answer = path.join(folder, `${id}.fixed.yaml`);
    if (process.env.UPDATE === '1' && actual !== '') writeFileSync(answer, actual);
    expect(actual).toBe(existsSync(answer) ? readFileSync(answer, 'utf8') : '');
  });
});

describe.each([...ruleIds])('the examples of %s', (id) => {
  const { examples } = readRuleDoc(id, readFileSync(path.join(root, `server/src/rules/${id}.ts`), 'utf8'));
  const findings = (yaml: string) => findingsOf(analyse(yaml, only(id, configOf(yaml))));

  test('invalid ones have findings, the others have none', () => {
    for (const { mark, yaml } of examples) {
      expect(findings(yaml).length > 0, `${mark}:\n${yaml}`).toBe(mark === 'invalid');
      expect(analyse(yaml).parse).toBe('ok');
    }
  });

  test('a fixed one is the result of the first fix of the invalid one before it', () => {
    examples.forEach(({ mark, yaml }, index) => {
      if (mark !== 'fixed') return;
      const invalid = examples[index - 1]?.yaml ?? '';
      const fix = findings(invalid)[0]?.fixes[0];
      expect(fix && applyEdits(invalid, fix.edits)).toBe(yaml);
    });
    expect(examples.length).toBeGreaterThan(1);
  });
});
