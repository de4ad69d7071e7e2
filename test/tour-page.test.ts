// docs/tour.md lists what is shown in a real VS Code: it must be the list of the steps that are run.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../scripts/vscode/lab.mjs';
import { tours } from './vscode/tour/index.ts';
import { tourPage } from './vscode/tour/page.ts';

const steps = tours.flatMap((tour) => tour.steps);

test('the page lists the steps of all tours', () => {
  const page = path.join(root, 'docs/tour.md');
  if (process.env.UPDATE === '1') writeFileSync(page, tourPage(tours));
  expect(readFileSync(page, 'utf8')).toBe(tourPage(tours));
});

test('no two steps have the same picture or the same name', () => {
  const pictures = steps.map(({ picture }) => picture);
  expect(pictures.filter((picture, index) => pictures.indexOf(picture) < index)).toEqual([]);
  const names = steps.map(({ feature, shows }) => `${feature}: ${shows}`);
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});
