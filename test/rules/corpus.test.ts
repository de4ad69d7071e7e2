import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { defaultConfig, type ProjectConfig } from '../../server/src/config.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { fixProblems } from '../support/check-fixes.ts';

const corpus = path.join(import.meta.dirname, '../../../shared/corpus/dev');
const reason = existsSync(corpus) ? '' : ' (skipped: ../shared/corpus/dev is missing)';

/** Real manifests, read and never copied. The GPU and its price are known, so that every fix is offered. */
const config: ProjectConfig = { ...defaultConfig, provider: 'aws', gpu: 'a100-80gb-sxm' };

test.skipIf(reason !== '')(
  `real manifests: no rule throws, and every fix is sound${reason}`,
  { timeout: 300_000 },
  () => {
    const problems: string[] = [];
    let files = 0;
    for (const entry of readdirSync(corpus, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      files++;
      const file = path.join(entry.parentPath, entry.name);
      const text = readFileSync(file, 'utf8');
      for (const finding of findingsOf(analyse(text, config))) {
        for (const fix of finding.fixes) {
          for (const problem of fixProblems(text, finding, fix, config)) {
            problems.push(`${path.relative(corpus, file)}: ${finding.rule}: ${fix.title}: ${problem}`);
          }
        }
      }
    }
    expect(problems).toEqual([]);
    expect(files).toBeGreaterThan(0);
  },
);
