import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { analyse, findingsOf } from '../support/analyse.ts';
import { readFixture } from '../support/rule-fixture.ts';

// Each case is broken in one way that a real API server (Kubernetes 1.36, dry run) rejects.

const folder = path.join(import.meta.dirname, '../fixtures/api-server');

describe.each(readdirSync(folder))('%s', (file) => {
  test.each(readFixture(readFileSync(path.join(folder, file), 'utf8')).map(({ name, text }) => [name, text]))(
    'reports %s',
    (_, text) => {
      const errors = findingsOf(analyse(text)).filter(({ severity }) => severity === 'error');
      expect(errors.map(({ message }) => message)).toHaveLength(1);
    },
  );
});

// Odd objects that the API server accepts.

const acceptedFolder = path.join(import.meta.dirname, '../fixtures/accepted');

describe.each(readdirSync(acceptedFolder))('%s', (file) => {
  test.each(readFixture(readFileSync(path.join(acceptedFolder, file), 'utf8')).map(({ name, text }) => [name, text]))(
    'accepts %s',
    (_, text) => {
      const errors = findingsOf(analyse(text)).filter(({ severity }) => severity === 'error');
      expect(errors.map(({ message }) => message)).toEqual([]);
    },
  );
});
