// Searches for inputs that break gpulint: `npm run fuzz -- --seconds 60 --seed 7 --only texts,trees`.
// docs/robustness.md describes the inputs and the checks.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Failure, hunt } from './hunt.ts';
import { createMeasure, requestBudget } from './measure.ts';
import { readSeeds } from './seeds.ts';
import type { Target } from './target.ts';
import { targets } from './targets.ts';
import { startWatchdog } from './watchdog.ts';

/** An input that takes longer than this counts as a hang. */
const hangSeconds = 60;

// The YAML library reads a debugging variable for every token, and Node's own object is slow to read.
process.env = { ...process.env };
main().then((status) => {
  process.exitCode = status;
});

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'string') {
    console.error(`fuzz: ${options}`);
    return 2;
  }
  const { seconds, seed, chosen, budget } = options;
  const seeds = readSeeds();
  console.log(`Seeds: ${[...seeds.sources].map(([source, count]) => `${count} of ${source}`).join(', ')}`);
  const [measure, watchdog] = [createMeasure(budget), startWatchdog(Math.ceil((hangSeconds * budget) / requestBudget))];
  const failures: Failure[] = [];
  for (const [index, target] of chosen.entries()) {
    const start = performance.now();
    const before = measure.counts.get(target.unit) ?? 0;
    await hunt(target, {
      seed: seed + index,
      seeds,
      until: start + (seconds * 1000) / chosen.length,
      measure,
      watchdog,
      found: (failure) => {
        failures.push(failure);
        console.log(`\nFAILED ${failure.target}: ${failure.kind}: ${failure.message}\n  saved as ${failure.file}`);
      },
    });
    const took = (performance.now() - start) / 1000;
    const done = (measure.counts.get(target.unit) ?? 0) - before;
    console.log(
      `${target.name}: ${done} ${target.unit} in ${took.toFixed(0)} s, ${(done / took).toFixed(0)} per second`,
    );
  }
  await watchdog.end();
  summarise(chosen, seed, seconds, failures, measure);
  return failures.length === 0 ? 0 : 1;
}

function summarise(
  chosen: readonly Target<never>[],
  seed: number,
  seconds: number,
  failures: readonly Failure[],
  measure: ReturnType<typeof createMeasure>,
): void {
  const { requests, p99, worst, slowest } = measure.summary();
  const kinds = ['crash', 'crashed rule', 'slow request', 'damaged text', 'difference', 'wrong answer'];
  const figures = {
    seed,
    seconds,
    ...Object.fromEntries(chosen.map(({ unit }) => [unit, measure.counts.get(unit) ?? 0])),
    ...Object.fromEntries(kinds.map((kind) => [kind, measure.counts.get(kind) ?? 0])),
    requests,
    p99: Number(p99.toPrecision(3)),
    worst: Number(worst.toPrecision(3)),
    slowest,
    failures: failures.length,
  };
  if (failures.length > 0) console.log('\nDistinct failures, most frequent first:');
  for (const { target, sign, times, file } of [...failures].sort((a, b) => b.times - a.times)) {
    console.log(`  ${times} × ${target}: ${sign} (${file})`);
  }
  // Machine-readable, for totals over several runs.
  console.log(`\n${JSON.stringify(figures)}`);
  const failed = chosen.filter(({ name }) => failures.some(({ target }) => target === name)).length;
  console.log(`\n${chosen.length - failed} passed, ${failed} failed`);
}

function readOptions():
  | {
      readonly seconds: number;
      readonly seed: number;
      readonly chosen: readonly Target<never>[];
      readonly budget: number;
    }
  | string {
  let values: Record<string, string | undefined>;
  try {
    const text = { type: 'string' } as const;
    const options = { seconds: text, seed: text, only: text, budget: text };
    values = parseArgs({ options }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const [seconds, seed] = [Number(values.seconds ?? 60), Number(values.seed ?? 1)];
  const budget = Number(values.budget ?? requestBudget);
  if (!(budget > 0)) return '--budget must be a number of milliseconds greater than 0';
  if (!(seconds > 0)) return '--seconds must be greater than 0';
  if (!Number.isSafeInteger(seed) || seed < 0) return '--seed must be a whole number';
  const names = values.only?.split(',') ?? [...targets.keys()];
  const chosen = names.map((name) => targets.get(name));
  const known = chosen.filter((target) => target !== undefined);
  if (known.length < chosen.length) return `--only must be a comma-separated list of ${[...targets.keys()].join(', ')}`;
  return { seconds, seed, chosen: known, budget };
}
