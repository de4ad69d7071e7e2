import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { migTables } from '../../server/src/catalog/index.ts';
import { ruleIds } from '../../server/src/rules/index.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { full } from '../support/sample.ts';
import { exempt, planters } from './index.ts';
import { messageReview, newScores, plantMistakes, renderScores } from './run.ts';

const folder = path.join(import.meta.dirname, '../fixtures/clean');
const files = readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')] as const);

test('every rule has planted mistakes, or a reason why it has none', () => {
  const without = ruleIds.filter((id) => !planters.has(id) && exempt[id] === undefined);
  expect(without, 'write one and name it in test/mistakes/index.ts').toEqual([]);
  expect([...planters.keys()].filter((id) => !ruleIds.includes(id))).toEqual([]);
});

test.each(files)('%s is clean: advice at most', (_, text) => {
  const file = analyse(text);
  const loud = findingsOf(file).filter(({ severity }) => severity === 'error' || severity === 'warning');
  expect(loud.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
  expect(file.parse).toBe('ok');
});

test('every MIG profile of the catalogue is silent by itself', () => {
  const names = migTables().flatMap(({ profiles }) => profiles.map(({ resource }) => resource));
  const loud = names.filter((name) => {
    const text = `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: 'a:1', resources: {limits: {${name}: 1}}}]}}`;
    return findingsOf(analyse(text)).length > 0;
  });
  expect(loud).toEqual([]);
  expect(names.length).toBeGreaterThan(50);
});

test('every planted mistake is found where it was made, by its rule alone, and not before it was made', {
  timeout: 1_800_000,
}, () => {
  const scores = newScores();
  const { onMessage, problems } = messageReview();
  for (const [index, [name, text]] of files.entries()) {
    plantMistakes(name, text, scores, { most: full ? 10 : 2, onMessage });
    // The same with other line ends: places and edits must not move.
    if (!text.includes('\r') && (full || index % 4 === 0))
      plantMistakes(`${name} with CRLF`, text.replaceAll('\n', '\r\n'), scores, { most: 1 });
  }
  if (full) console.log(renderScores(scores));
  const all = [...scores.values()];
  expect(all.flatMap(({ misses, extras, noise }) => [...misses, ...extras, ...noise])).toEqual([]);
  expect([...scores].filter(([, { cases }]) => cases === 0).map(([rule]) => rule)).toEqual([]);
  expect([...problems]).toEqual([]);
});
