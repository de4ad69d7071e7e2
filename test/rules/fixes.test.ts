import { expect, test } from 'vitest';
import { defaultConfig, type ProjectConfig } from '../../server/src/config.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { fixProblems } from '../support/check-fixes.ts';

// Every combination of the fields that the rules read, so that no fix depends on how one fixture is written.

const config: ProjectConfig = { ...defaultConfig, gpu: 'a100-80gb-sxm' };

/** The problems of all fixes of these texts, and of applying the safe ones until none is left. */
function problemsOf(texts: readonly string[]): { readonly problems: readonly string[]; readonly fixes: number } {
  const problems: string[] = [];
  let fixes = 0;
  for (const text of texts) {
    for (const finding of findingsOf(analyse(text, config))) {
      for (const fix of finding.fixes) {
        fixes++;
        const found = fixProblems(text, finding, fix, config);
        if (found.length > 0) problems.push(`${fix.title}: ${found.join('; ')}\n${text}`);
      }
    }
    problems.push(...endProblems(text));
  }
  return { problems, fixes };
}

/** Safe fixes, applied one after the other, must come to an end. */
function endProblems(text: string): readonly string[] {
  let current = text;
  for (let round = 0; round < 10; round++) {
    const fix = findingsOf(analyse(current, config))
      .flatMap((finding) => finding.fixes)
      .find(({ safe }) => safe);
    if (fix === undefined) return [];
    current = applyEdits(current, fix.edits);
  }
  return [`the safe fixes never end\n${text}`];
}

const lines = (fields: readonly (string | undefined)[]) => fields.filter((line) => line !== undefined);

test('tolerations', () => {
  const texts: string[] = [];
  for (const key of [undefined, 'key: sku']) {
    for (const operator of [
      undefined,
      'operator: Exists',
      'operator: exists',
      'operator: Equal',
      'operator: "equals"',
      'operator: Foo',
    ]) {
      for (const value of [undefined, 'value: gpu']) {
        for (const effect of [undefined, 'effect: NoSchedule', 'effect: no-schedule', 'effect: NoExecute']) {
          for (const seconds of [undefined, 'tolerationSeconds: 60']) {
            const fields = lines([key, operator, value, effect, seconds]);
            if (fields.length === 0) continue;
            texts.push(
              `${head}  tolerations:\n    - ${fields.map((field) => `${field} # ${field}`).join('\n      ')}\n${container('{}')}`,
              `${head}  tolerations: [{${fields.join(', ')}}] # flow\n${container('{}')}`,
            );
          }
        }
      }
    }
  }
  const { problems, fixes } = problemsOf(texts);
  expect(problems).toEqual([]);
  expect(fixes).toBeGreaterThan(200);
});

test('quantities', () => {
  const maps = [
    undefined,
    '',
    '{}',
    'memory: 1Gi',
    ...['', '1', '"2"', '0.5', '-1', '<gpus>'].map((count) => `nvidia.com/gpu: ${count}`),
  ];
  const texts: string[] = [];
  for (const limits of maps) {
    for (const requests of maps) {
      for (const order of [0, 1]) {
        const block = [written('limits', limits), written('requests', requests)].filter((line) => line !== undefined);
        if (block.length === 0) continue;
        if (order === 1) block.reverse();
        texts.push(
          `${head}${container(`\n${block.join('\n')}`)}    - name: other\n      image: registry.example/b:1\n`,
        );
        const flow = [inFlow('limits', limits), inFlow('requests', requests)].filter((entry) => entry !== undefined);
        texts.push(`${head}${container(` {${flow.join(', ')}} # flow`)}`);
      }
    }
  }
  const { problems, fixes } = problemsOf(texts);
  expect(problems).toEqual([]);
  expect(fixes).toBeGreaterThan(200);
});

const head = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: any # of all\nspec:\n';

function container(resources: string): string {
  return `  containers:\n    - name: main\n      image: registry.example/a:1 # pinned\n      resources:${resources.startsWith('{') ? ' ' : ''}${resources}\n`;
}

/** A block mapping below its key; empty, a flow mapping, or one entry with comments around it. */
function written(key: string, entry: string | undefined): string | undefined {
  if (entry === undefined) return undefined;
  if (entry === '' || entry === '{}') return `        ${key}: ${entry} # ${key}`;
  return `        ${key}: # ${key}\n          # before\n          ${entry} # of ${key}`;
}

function inFlow(key: string, entry: string | undefined): string | undefined {
  if (entry === undefined) return undefined;
  if (entry === '' || entry === '{}') return `${key}: ${entry}`;
  return `${key}: {${entry}}`;
}
