import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ruleIds } from '../../server/src/rules/index.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { messageProblems } from '../support/check-message.ts';
import { configOf } from '../support/config-line.ts';
import { readFixture } from '../support/rule-fixture.ts';

const folder = path.join(import.meta.dirname, '../fixtures/rules');

/** The consequence of an error: who rejects the object, or what happens, or does not, when it runs. */
const consequence =
  /rejects?\b|stays Pending|never (?:starts?|scales|runs|created)|never find each other|never becomes ready|(?:do|does) not (?:start|install|read|run)|(?:launch|release) (?:fails|stops)|keeps restarting|exits at startup|it fails\b|scales nothing|becomes arguments|never succeeds|waits for (?:the others|nodes)|cannot (?:be|apply|download|load|read) |no (?:container|pod) gets|no request arrives|swallows|gets no|is ignored|finds no (?:such path|file)|never ends|always fails|container (?:exits|restarts)/;

/** Rules that report errors of YAML, whose consequence is that nothing is read. */
const syntax: ReadonlySet<string> = new Set(['yaml-syntax', 'kustomization-invalid']);

test('messages have one form: short, one voice, no values of the program; every rule reports in a fixture', () => {
  const problems = new Set<string>();
  const reporting = new Set<string>();
  const withoutConsequence = new Set<string>();
  for (const name of readdirSync(folder).filter((file) => /(?<!\.fixed)\.yaml$/.test(file))) {
    for (const { text } of readFixture(readFileSync(path.join(folder, name), 'utf8'))) {
      for (const { rule, severity, message } of findingsOf(analyse(text, configOf(text)))) {
        reporting.add(rule);
        if (severity === 'error' && !syntax.has(rule) && !consequence.test(message))
          withoutConsequence.add(`${rule}: ${message}`);
        for (const problem of messageProblems(message, text)) problems.add(`${rule}: ${problem}: ${message}`);
      }
    }
  }
  expect([...problems]).toEqual([]);
  expect([...withoutConsequence]).toEqual([]);
  expect([...reporting].sort()).toEqual([...ruleIds]);
});
