import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { estimateCost, gpusOf } from '../../server/src/cost/estimate.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import { defaultModelOptions } from '../../server/src/model/options.ts';
import type { Workload } from '../../server/src/model/workload.ts';
import type { YamlDocument } from '../../server/src/yaml/node.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import { claimsOf } from '../support/claims-of.ts';

// With any value in place of a number, a mapping or a list, nothing throws, and each count is valid or unknown.

const folder = 'test/fixtures/model';
const odd = ['-1', '1e999', '0.5', '.nan', '99999999999999999999', '[]', '{a: {b: c}}', '"{{ x }}"', '~', 'true', '""'];

describe('odd values', () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.yaml'))) {
    test(name, () => {
      const texts = readFileSync(path.join(folder, name), 'utf8').split(/^---$/m);
      const documents = texts.map(parse);
      for (const [place, text] of texts.entries()) {
        for (const { changed, line } of withOddValues(text)) {
          const document = parse(changed);
          const claims = claimsOf(replaced(documents, place, document));
          const { workloads } = lowerDocument(document, defaultModelOptions, claims);
          expect(workloads.flatMap(countsOf).filter(isInvalidCount), line).toEqual([]);
        }
      }
    });
  }
});

/** Copies of the text, each with an odd value in one line. */
function* withOddValues(text: string): Generator<{ readonly changed: string; readonly line: string }> {
  const lines = text.split('\n');
  const valued = lines.flatMap((line, index) => (/^[^#]*:/.test(line) ? [index] : []));
  for (const [turn, index] of valued.entries()) {
    const line = (lines[index] ?? '').replace(/:.*$/, `: ${odd[turn % odd.length]}`);
    yield { changed: replaced(lines, index, line).join('\n'), line };
  }
}

function replaced<T>(list: readonly T[], place: number, item: T): readonly T[] {
  return list.map((old, index) => (index === place ? item : old));
}

function parse(text: string): YamlDocument {
  return parseDocument(text, 0);
}

function countsOf(workload: Workload): readonly (number | null)[] {
  const gpus = gpusOf(workload);
  const { cost } = estimateCost(workload);
  const pods = workload.podSets.flatMap((podSet) => [podSet.pods.min, podSet.pods.max]);
  return [gpus.min, gpus.max, cost?.hourly.min ?? 0, cost?.hourly.max ?? 0, ...pods];
}

function isInvalidCount(count: number | null): boolean {
  return count !== null && !(Number.isFinite(count) && count >= 0);
}
