import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { analyse } from '../support/analyse.ts';

const corpus = path.join(import.meta.dirname, '../../../shared/corpus');
const verdicts = path.join(corpus, 'apiserver_verdicts.jsonl');
const reason = existsSync(verdicts) ? '' : ' (skipped: ../shared/corpus/apiserver_verdicts.jsonl is missing)';

interface Verdict {
  readonly file: string;
  readonly document: number;
  readonly accepted: boolean;
}

test.skipIf(reason !== '')(
  `no finding claims that the API server rejects an object that it accepted${reason}`,
  { timeout: 60_000 },
  () => {
    const all = readFileSync(verdicts, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Verdict);
    const acceptedOnes = all.filter(({ accepted }) => accepted);
    const wrong = acceptedOnes.flatMap(({ file, document }) => {
      const where = [path.join(corpus, file), path.join(corpus, 'dev', file)].find(existsSync);
      if (where === undefined) return [`${file} is missing`];
      const findings = analyse(readFileSync(where, 'utf8')).documents[document]?.findings ?? [];
      return (
        findings
          // The verdicts are without strict field validation, which kubectl asks for.
          .filter(({ message }) => !/kubectl rejects/.test(message))
          .filter(({ severity, message }) => severity === 'error' && /API server|reject|refuse/.test(message))
          .map(({ rule, message }) => `${file} document ${document}: ${rule}: ${message}`)
      );
    });
    expect(wrong).toEqual([]);
    expect(acceptedOnes.length).toBeGreaterThan(0);
  },
);
