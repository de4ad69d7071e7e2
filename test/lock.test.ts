import fs from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly integrity?: string;
  readonly link?: boolean;
}

test('every locked package is held to a checksum', () => {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const unchecked = Object.entries(lock.packages)
    .filter(([place, { integrity, link }]) => place !== '' && link !== true && !integrity?.startsWith('sha512-'))
    .map(([place]) => place);
  expect(unchecked, 'npm would install these without checking what it gets').toEqual([]);
});
