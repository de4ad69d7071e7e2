import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type LaterList, laterLists } from '../support/measurement-lists.ts';
import { type Evaluated, evaluate, type Part, parts, spreadOf } from '../support/serving-errors.ts';

// The estimates are compared with published measurements. docs/memory.md states the errors; UPDATE=1 writes them there.

const file = new URL('../../docs/memory.md', import.meta.url);
const evaluated = evaluate();
const later = laterLists.map((list) => ({ list, rows: evaluate(list) }));
const ofLater = later.flatMap(({ rows }) => rows);
const listOf = new Map(later.flatMap(({ list, rows }) => rows.map(({ row }) => [row, list] as const)));
const halves: readonly Half[] = ['tuned', 'held out', ...laterLists.map((list) => `${list} list` as const)];
type Half = Evaluated['half'] | `${LaterList} list`;

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

function errorsIn(half: Half, part: Part): readonly number[] {
  const rows = later.find(({ list }) => half === `${list} list`)?.rows ?? evaluated.filter((one) => one.half === half);
  return rows.flatMap(({ errors }) => errors[part] ?? []);
}

function coverage(name: string, rows: readonly Evaluated[]): string {
  const known = rows.filter(({ estimate }) => estimate !== null).length;
  return `${name} with an estimate: ${known} of ${rows.length} (${Math.floor((known / rows.length) * 100)}%).`;
}

function summary(): string {
  const rows = parts.flatMap((part) =>
    halves.flatMap((half) => {
      const errors = errorsIn(half, part);
      if (errors.length === 0) return [];
      const { median, ninetieth, worst } = spreadOf(errors);
      return `| ${names[part]} | ${half} | ${errors.length} | ${percent(median)} | ${percent(ninetieth)} | ${percent(worst)} |`;
    }),
  );
  return [
    '| Error of | Half | Measurements | Median | 90th percentile | Worst |',
    '| :--- | :--- | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    coverage('Measurements', evaluated),
    ...later.map(({ list, rows: ofList }) => coverage(`${list.charAt(0).toUpperCase()}${list.slice(1)} list`, ofList)),
  ].join('\n');
}

function table(list: readonly Evaluated[]): string {
  const cell = (measured: number | undefined, error: number | undefined) =>
    measured === undefined
      ? ''
      : `${measured}${error === undefined ? '' : ` (${error > 0 ? '+' : ''}${(error * 100).toFixed(1)}%)`}`;
  const lines = list.map(({ row, half, errors, estimate }) => {
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
    return `| ${row.engine} ${version} | ${row.model} | ${row.gpu ?? '?'} | ${words.join(', ')} | ${cell(measured.weightsGiB, errors.weights)} | ${cell(measured.cacheGiB, errors.cache)} | ${cell(total === undefined ? undefined : Math.round(total * 100) / 100, errors.total)} | ${estimate === null ? 'none' : (listOf.get(row) ?? half)} |`;
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
  const blocks = {
    errors: summary(),
    measurements: table(evaluated),
    'second list': table(ofLater),
  };
  const replaced = Object.entries(blocks).reduce(
    (text, [name, written]) =>
      text.replace(blockOf(name), () => `<!-- ${name} -->\n${written}\n<!-- end of ${name} -->`),
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, replaced);
}

const stated = between(readFileSync(file, 'utf8'), 'errors');

const compared = parts.flatMap((part) =>
  halves.flatMap((half) => (errorsIn(half, part).length === 0 ? [] : [[part, half] as const])),
);

test.each(compared)('the errors of %s, %s, are not larger than docs/memory.md states', (part, half) => {
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
});

test('enough measurements have an estimate', () => {
  const [, known = '0'] = /estimate: (\d+) of/.exec(stated) ?? [];
  expect(evaluated.filter(({ estimate }) => estimate !== null).length).toBeGreaterThanOrEqual(Number(known));
  expect(Number(known) / evaluated.length).toBeGreaterThan(0.85);
});

test('no verdict is contradicted by a measurement', () => {
  const judged = [...evaluated, ...ofLater].filter(({ verdict }) => verdict !== undefined && verdict !== null);
  expect(judged.length).toBeGreaterThan(4);
  expect(judged.filter(({ verdict, row }) => verdict !== row.measured.fits).map(({ row }) => row.source)).toEqual([]);
});

test('servers that started are not said to need too much', () => {
  // Ollama starts on any card: it leaves layers to the CPU.
  const started = [...evaluated, ...ofLater].filter(
    ({ row, estimate }) => estimate !== null && row.measured.fits === undefined && row.engine !== 'ollama',
  );
  expect(started.length).toBeGreaterThan(80);
  expect(started.filter(({ starts }) => starts === false).map(({ row }) => `${row.model} ${row.source}`)).toEqual([]);
});
