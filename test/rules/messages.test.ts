import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ruleIds } from '../../server/src/rules/index.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { messageProblems } from '../support/check-message.ts';
import { configOf } from '../support/config-line.ts';
import { readFixture } from '../support/rule-fixture.ts';

const folder = path.join(import.meta.dirname, '../fixtures/rules');

test('messages read alike: short, one voice, no values of the program, and each rule is heard', () => {
  const problems = new Set<string>();
  const heard = new Set<string>();
  for (const name of readdirSync(folder).filter((file) => /(?<!\.fixed)\.yaml$/.test(file))) {
    for (const { text } of readFixture(readFileSync(path.join(folder, name), 'utf8'))) {
      for (const { rule, message } of findingsOf(analyse(text, configOf(text)))) {
        heard.add(rule);
        for (const problem of messageProblems(message, text)) problems.add(`${rule}: ${problem}: ${message}`);
      }
    }
  }
  expect([...problems]).toEqual([]);
  expect([...heard].sort()).toEqual([...ruleIds]);
});
