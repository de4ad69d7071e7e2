import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Evaluated, evaluate, type Part, parts, spreadOf } from '../support/serving-errors.ts';

// The estimates are compared with published measurements. docs/memory.md states the errors; UPDATE=1 writes them there.

const file = new URL('../../docs/memory.md', import.meta.url);
const evaluated = evaluate();
const halves = ['tuned', 'held out'] as const;

const names: Readonly<Record<Part, string>> = {
  weights: 'weights',
  cache: 'cache of the measured tokens',
  weightsAndCache: 'weights and cache',
  total: 'total without the pool of the cache',
  totalWithCache: 'total with the pool of the cache',
};

function percent(error: number): string {
  return `${(Math.ceil(Math.abs(error) * 1000) / 10).toFixed(1)}%`;
}

function errorsIn(half: Evaluated['half'], part: Part): readonly number[] {
  return evaluated.filter((one) => one.half === half).flatMap(({ errors }) => errors[part] ?? []);
}

function summary(): string {
  const rows = parts.flatMap((part) =>
    halves.map((half) => {
      const errors = errorsIn(half, part);
      const { median, ninetieth, worst } = spreadOf(errors);
      return `| ${names[part]} | ${half} | ${errors.length} | ${percent(median)} | ${percent(ninetieth)} | ${percent(worst)} |`;
    }),
  );
  const known = evaluated.filter(({ estimate }) => estimate !== null).length;
  return [
    '| Error of | Half | Measurements | Median | 90th percentile | Worst |',
    '| :--- | :--- | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    `Measurements with an estimate: ${known} of ${evaluated.length} (${Math.floor((known / evaluated.length) * 100)}%).`,
  ].join('\n');
}

function table(): string {
  const cell = (measured: number | undefined, error: number | undefined) =>
    measured === undefined
      ? ''
      : `${measured}${error === undefined ? '' : ` (${error > 0 ? '+' : ''}${(error * 100).toFixed(1)}%)`}`;
  const lines = evaluated.map(({ row, half, errors, estimate }) => {
    const { measured, settings, versionBy } = row;
    const buffers = [measured.activationGiB, measured.runtimeGiB, measured.graphsGiB].filter(
      (one) => one !== undefined,
    );
    const total =
      measured.totalGiB ??
      (buffers.length > 0 && measured.weightsGiB !== undefined
        ? buffers.reduce((sum, one) => sum + one, measured.weightsGiB)
        : undefined);
    const words = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
    const version = versionBy === undefined ? row.version : `*${row.version}*`;
    return `| ${row.engine} ${version} | ${row.model} | ${row.gpu ?? '?'} | ${words.join(', ')} | ${cell(measured.weightsGiB, errors.weights)} | ${cell(measured.cacheGiB, errors.cache)} | ${cell(total === undefined ? undefined : Math.round(total * 100) / 100, errors.total)} | ${estimate === null ? 'none' : half} |`;
  });
  return [
    '| Server | Model | GPU | Settings | Weights GiB | Cache GiB | Total GiB | Half |',
    '| :--- | :--- | :--- | :--- | ---: | ---: | ---: | :--- |',
    ...lines,
  ].join('\n');
}

function blockOf(name: string): RegExp {
  return new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)\n<!-- end of ${name} -->`);
}

function between(text: string, name: string): string {
  return blockOf(name).exec(text)?.[1] ?? '';
}

if (process.env.UPDATE === '1') {
  const replaced = [['errors', summary()] as const, ['measurements', table()] as const].reduce(
    (text, [name, written]) =>
      text.replace(blockOf(name), () => `<!-- ${name} -->\n${written}\n<!-- end of ${name} -->`),
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, replaced);
}

const stated = between(readFileSync(file, 'utf8'), 'errors');

test.each(parts.flatMap((part) => halves.map((half) => [part, half] as const)))(
  'the errors of %s, %s, are not larger than docs/memory.md states',
  (part, half) => {
    const row = stated.split('\n').find((line) => line.startsWith(`| ${names[part]} | ${half} |`));
    const [count = 0, median = 0, ninetieth = 0] = (row ?? '')
      .split('|')
      .slice(3, 6)
      .map((text) => Number.parseFloat(text));
    const errors = errorsIn(half, part);
    const spread = spreadOf(errors);
    expect(errors.length).toBeGreaterThanOrEqual(count);
    expect(spread.median * 100).toBeLessThanOrEqual(median + 0.05);
    expect(spread.ninetieth * 100).toBeLessThanOrEqual(ninetieth + 0.05);
  },
);

test('enough measurements have an estimate', () => {
  const [, known = '0'] = /estimate: (\d+) of/.exec(stated) ?? [];
  expect(evaluated.filter(({ estimate }) => estimate !== null).length).toBeGreaterThanOrEqual(Number(known));
  expect(Number(known) / evaluated.length).toBeGreaterThan(0.85);
});

test('no verdict is contradicted by a measurement', () => {
  const judged = evaluated.filter(({ verdict }) => verdict !== undefined && verdict !== null);
  expect(judged.length).toBeGreaterThan(4);
  expect(judged.filter(({ verdict, row }) => verdict !== row.measured.fits).map(({ row }) => row.source)).toEqual([]);
});

test('servers that started are not said to need too much', () => {
  // Ollama starts on any card: it leaves layers to the CPU.
  const started = evaluated.filter(
    ({ row, estimate }) => estimate !== null && row.measured.fits === undefined && row.engine !== 'ollama',
  );
  expect(started.length).toBeGreaterThan(80);
  expect(started.filter(({ starts }) => starts === false).map(({ row }) => `${row.model} ${row.source}`)).toEqual([]);
});
