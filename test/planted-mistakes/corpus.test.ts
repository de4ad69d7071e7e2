import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { analyse, findingsOf } from '../support/analyse.ts';
import { full } from '../support/sample.ts';
import { messageReview, newScores, plantMistakes, renderScores } from './run.ts';

const corpus = path.join(import.meta.dirname, '../../../shared/corpus');
const labels = path.join(corpus, 'LABELS.jsonl');
const reason = existsSync(labels) ? '' : ' (skipped: ../shared/corpus/LABELS.jsonl is not there)';

/** Real manifests that somebody has judged to be clean; they are read, and never copied. */
function cleanFiles(): readonly string[] {
  return readFileSync(labels, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly repo: string; readonly path: string; readonly clean: boolean })
    .filter(({ clean }) => clean)
    .map(({ repo, path: file }) => path.join('dev', repo.replace('/', '+'), file))
    .filter((file) => existsSync(path.join(corpus, file)));
}

test.skipIf(reason !== '')(
  `real manifests: every planted mistake is found where it was made, by its rule alone${reason}`,
  { timeout: 1_800_000 },
  () => {
    const scores = newScores();
    const { onMessage, problems } = messageReview();
    const files = cleanFiles();
    const rejected: string[] = [];
    for (const file of files) {
      const text = readFileSync(path.join(corpus, file), 'utf8');
      // What the API server rejects hides other mistakes.
      if (findingsOf(analyse(text)).some(({ severity }) => severity === 'error')) {
        rejected.push(file);
        continue;
      }
      plantMistakes(file, text, scores, { leaveOut: true, most: full ? 6 : 1, onMessage });
    }
    if (full) console.log(renderScores(scores));
    expect([...scores.values()].flatMap(({ misses, extras }) => [...misses, ...extras])).toEqual([]);
    expect([...problems]).toEqual([]);
    expect(files.length).toBeGreaterThan(0);
    // More would be errors in files that a person judged to be clean.
    expect(rejected.length, rejected.join(', ')).toBeLessThanOrEqual(1);
  },
);
