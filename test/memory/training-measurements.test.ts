import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { modelByName } from '../../server/src/catalog/index.ts';
import { estimateTraining, type TrainingEstimate, trainingFit } from '../../server/src/memory/training.ts';
import type { Adapter, TrainingSettings } from '../../server/src/model/training-settings.ts';
import { laterLists } from '../support/measurement-lists.ts';

/** One published measurement: facts only. Missing settings have the defaults of `settingsOf`. */
interface Measurement extends Partial<Omit<TrainingSettings, 'adapter' | 'devices'>> {
  readonly framework: string;
  readonly model: string;
  readonly gpus: number;
  readonly adapter: (Omit<Adapter, 'embeddings'> & { readonly embeddings?: boolean }) | null;
  /** Null: out of memory. */
  readonly measured: number | null;
  readonly unit: 'GB' | 'GiB';
  readonly deviceGiB?: number;
  readonly source: string;
  readonly date: string;
}

function listed(file: string): readonly Measurement[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line): Measurement => JSON.parse(line));
}

const first = listed('training-measurements.jsonl');
const later = laterLists.map((list) => ({ list, rows: listed(`training-measurements-${list}.jsonl`) }));
const measurements = [...first, ...later.flatMap(({ rows }) => rows)];

function settingsOf({ adapter, gpus, ...given }: Measurement): TrainingSettings {
  return {
    batch: null,
    sequence: null,
    precision: 'half',
    engine: 'torch',
    sharded: 'nothing',
    offload: 'nothing',
    recomputation: 'none',
    optimizer: 'adamw',
    tensor: 1,
    sequenceParallel: false,
    pipeline: 1,
    context: 1,
    expert: 1,
    attention: 'fused',
    loss: 'whole',
    stepInBackward: false,
    ...given,
    devices: gpus,
    adapter: adapter === null ? null : { embeddings: false, ...adapter },
  };
}

function estimateOf(row: Measurement): TrainingEstimate | undefined {
  const shape = modelByName(row.model)?.shape;
  return shape && estimateTraining(shape, settingsOf(row));
}

/** FNV-1a of framework and model: all rows of a table about one model are in the same half. */
function isHeldOut({ framework, model }: Measurement): boolean {
  let hash = 0x811c9dc5;
  for (const char of `${framework} ${model}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return hash % 2 === 1;
}

interface Compared {
  readonly row: Measurement;
  /** Undefined without an estimate. */
  readonly error: number | undefined;
}

const compare = (rows: readonly Measurement[]) => rows.flatMap(comparedRow);
const compared = compare(measurements);

function comparedRow(row: Measurement): Compared[] {
  if (row.measured === null) return [];
  const gib = row.unit === 'GB' ? (row.measured * 1e9) / 2 ** 30 : row.measured;
  const total = estimateOf(row)?.totalGiB ?? null;
  return [{ row, error: total === null ? undefined : total / gib - 1 }];
}

function summary(rows: readonly Compared[]) {
  const errors = rows.flatMap(({ error }) => (error === undefined ? [] : Math.abs(error))).sort((a, b) => a - b);
  const at = (share: number) => Math.round((errors[Math.floor(errors.length * share)] ?? 1) * 1000) / 10;
  return { rows: rows.length, estimated: errors.length, median: at(0.5), ninth: at(0.9) };
}

const docs = readFileSync(new URL('../../docs/memory-training.md', import.meta.url), 'utf8');

/** | half | rows | estimated | median | 90th percentile | */
function stated(half: string): readonly number[] {
  const row = docs.split('\n').find((line) => line.startsWith(`| ${half} |`)) ?? '';
  return [...row.matchAll(/(\d+(?:\.\d+)?)(?=%? \|)/g)].map(([number]) => Number(number));
}

describe('docs/memory-training.md states the errors', () => {
  test.each([
    { half: 'tuned', rows: first.filter((row) => !isHeldOut(row)) },
    { half: 'held out', rows: first.filter(isHeldOut) },
    ...later.map(({ list, rows }) => ({ half: `${list} list`, rows })),
  ])('$half', ({ half, rows }) => {
    const { rows: count, estimated, median, ninth } = summary(compare(rows));
    expect(stated(half)).toEqual([count, estimated, median, ninth]);
    expect(median).toBeLessThanOrEqual(
      half === 'tenth list' ? 22 : ['seventh list', 'eighth list', 'ninth list'].includes(half) ? 20 : 15,
    );
    expect(estimated / count).toBeGreaterThanOrEqual(0.65);
  });
});

test('there are at least 60 measurements of at least four frameworks, each with a source and a date', () => {
  expect(compared.length).toBeGreaterThanOrEqual(60);
  expect(new Set(compared.map(({ row }) => row.framework)).size).toBeGreaterThanOrEqual(4);
  for (const { source, date } of measurements) {
    expect(source).toMatch(/^https:\/\//);
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});

test('no run that a source shows to fit is called too large, and none that ran out of memory is called fitting', () => {
  const wrong = measurements.filter((row) => {
    const estimate = estimateOf(row);
    if (estimate === undefined || row.deviceGiB === undefined) return false;
    return trainingFit(estimate, row.deviceGiB) === (row.measured === null ? 'fits' : 'too-large');
  });
  expect(wrong.map(({ framework, model, batch }) => `${framework} ${model} ${batch}`)).toEqual([]);
});

/** The devices on which runs of unknown places can have been. */
const sizes = [16, 24, 40, 48, 80, 96, 141, 192];

test('no peak is on a device that the estimate calls too small', () => {
  const wrong = compared.filter(({ row }) => {
    const estimate = estimateOf(row);
    const smallest = row.deviceGiB ?? sizes.find((size) => size >= (row.measured ?? 0));
    return estimate !== undefined && smallest !== undefined && trainingFit(estimate, smallest) === 'too-large';
  });
  expect(wrong).toEqual([]);
});
