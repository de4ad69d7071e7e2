import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { analyse } from '../support/analyse.ts';

const corpus = path.join(import.meta.dirname, '../../../shared/corpus');
const verdicts = path.join(corpus, 'apiserver_verdicts.jsonl');
const reason = existsSync(verdicts) ? '' : ' (skipped: ../shared/corpus/apiserver_verdicts.jsonl is not there)';

interface Verdict {
  readonly file: string;
  readonly document: number;
  readonly accepted: boolean;
}

test.skipIf(reason !== '')(
  `an API server that took an object is not said to refuse it${reason}`,
  { timeout: 60_000 },
  () => {
    const all = readFileSync(verdicts, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Verdict);
    const taken = all.filter(({ accepted }) => accepted);
    const wrong = taken.flatMap(({ file, document }) => {
      const where = [path.join(corpus, file), path.join(corpus, 'dev', file)].find(existsSync);
      if (where === undefined) return [`${file} is not there`];
      const findings = analyse(readFileSync(where, 'utf8')).documents[document]?.findings ?? [];
      return findings
        .filter(({ severity, message }) => severity === 'error' && /API server|refuse/.test(message))
        .map(({ rule, message }) => `${file} document ${document}: ${rule}: ${message}`);
    });
    expect(wrong).toEqual([]);
    expect(taken.length).toBeGreaterThan(0);
  },
);
