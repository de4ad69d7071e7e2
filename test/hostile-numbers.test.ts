import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Analysis } from '../server/src/analysis.ts';
import { defaultConfig, type ProjectConfig, parseConfig } from '../server/src/config.ts';
import { formatDuration, formatHourly, formatNumber } from '../server/src/cost/money.ts';
import { allOutputOf } from './support/all-output.ts';
import { full } from './support/sample.ts';

// Whatever number stands in a manifest or a config, nothing that gpulint prints or writes has NaN, Infinity or an exponent in it.

const hostile = [
  '1Ei',
  '1e400',
  '.nan',
  '.inf',
  '-.inf',
  '1e308',
  '"1e308"',
  '-1',
  '0x7fffffffffffffff',
  '9007199254740993',
  '2147483647',
  `"${'9'.repeat(400)}"`,
  '9'.repeat(40),
  '1n',
  '1e21',
  '0.0000001',
];

const folders = ['clean', 'model', 'rules', 'training'].map((name) => path.join('test/fixtures', name));
const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('.fixed.yaml'))
    .map((name) => path.join(folder, name)),
);

describe('numbers in manifests', () => {
  test.each(files)('%s', (name) => {
    const text = readFileSync(name, 'utf8');
    const places = [...text.matchAll(/(?<=[:=\s"']|^)\d[\d.]*(?:[KMGT]i|m|s|h|%)?(?=["'\s,}\]]|$)/gm)];
    for (const [turn, { index, 0: number }] of places.entries()) {
      // 5 shares no factor with the count of hostile values, so that each of them gets its turn.
      if (!full && (turn + files.indexOf(name)) % 5 > 0) continue;
      // Inside of quotes and of commands there are no more quotes to write.
      const inside = /["'=]/.test(text.charAt(index - 1));
      const value = hostile[turn % hostile.length] ?? '';
      const changed = `${text.slice(0, index)}${inside ? value.replaceAll('"', '') : value}${text.slice(index + number.length)}`;
      const analysis = new Analysis({ strict: true });
      // Prices are told where a GPU is not, so that most requests have amounts.
      const config: ProjectConfig = { ...defaultConfig, gpu: 'h100-80gb-sxm', kubernetesVersion: '1.34' };
      const documentStart = changed.lastIndexOf('\n---', index) + 1;
      const end = changed.indexOf('\n---', index);
      const alone = changed.slice(documentStart, end < 0 ? undefined : end);
      analysis.setFile('file:///fixture.yaml', alone, 0, config);
      const line = alone.lastIndexOf('\n', index - documentStart - 1) + 1;
      const span = { start: index - documentStart, end: index - documentStart + value.length };
      const said = allOutputOf(analysis, 'file:///fixture.yaml', span).filter(isOdd);
      expect(said, `${value} for ${number} in ${alone.slice(line).split('\n', 1)[0]}`).toEqual([]);
    }
  });
});

/** An exponent or a name of no number, where it is not the text that was written. */
function isOdd(said: string): boolean {
  return /NaN|Infinity|∞|\d[eE]\+\d|undefined/.test(said);
}

describe('numbers in the config', () => {
  const manifest =
    readFileSync('test/fixtures/clean/job-spot.yaml', 'utf8') +
    '---\n' +
    readFileSync('test/fixtures/clean/deployment-vllm.yaml', 'utf8') +
    '---\n' +
    readFileSync('test/fixtures/features/hover/training-on-spot.yaml', 'utf8').replace(/^.*\n/, '').replace('$0', '');
  const keys: readonly ((value: string) => string)[] = [
    (value) => `headroom: ${value}`,
    (value) => `training: {stepSeconds: ${value}, checkpointSeconds: 60, hoursBetweenInterruptions: 24}`,
    (value) => `training: {stepSeconds: 1, checkpointSeconds: ${value}, hoursBetweenInterruptions: 24}`,
    (value) => `training: {stepSeconds: 1, checkpointSeconds: 60, hoursBetweenInterruptions: ${value}}`,
    (value) => `training: {mfu: ${value}, checkpointGiBPerSecond: 2}`,
    (value) => `training: {stepSeconds: 1, checkpointGiBPerSecond: ${value}, hoursBetweenInterruptions: 24}`,
    (value) => `serving: {idleHoursPerDay: ${value}}`,
    (value) => `sharing: {replicas: ${value}}`,
    (value) => `prices: {discountPercent: ${value}}`,
    (value) => `gpu: h100-80gb-sxm\nprices: {gpus: {h100-80gb-sxm: ${value}}}`,
    (value) => `prices: {instanceTypes: {p5.48xlarge: ${value}, a2-highgpu-1g: ${value}}}`,
    (value) => `kubernetesVersion: ${value}`,
    (value) => `ruleOptions: {checkpoint-interval: {maxHours: ${value}}}`,
    (value) => `platform: ${value}`,
    (value) => `nodePools: [{name: a, labels: {a: b}, gpu: ${value}}]`,
  ];
  test.each(keys.map((key) => [key('N'), key] as const))('%s', (_title, key) => {
    for (const value of [...hostile, '5e-324', '999999999', '1e9']) {
      const { config, problems } = parseConfig(`${key(value)}\n`);
      const analysis = new Analysis({ strict: true });
      analysis.setConfig(config);
      analysis.setFile('file:///fixture.yaml', manifest);
      const said = allOutputOf(analysis, 'file:///fixture.yaml', { start: 0, end: 0 });
      const messages = problems.map(({ message }) => message);
      expect([...said, ...messages].filter(isOdd), key(value)).toEqual([]);
    }
  });

  test.each([
    ['headroom: .nan', "'headroom' must be a number, not .nan"],
    ['headroom: .inf', "'headroom' must be a number, not .inf"],
    ['headroom: 1e400', "'headroom' must be a number, not '1e400'"],
    ['prices: {gpus: {h100-80gb-sxm: 1e300}}', "'prices.gpus.h100-80gb-sxm' must be at most 1000000000"],
    ['sharing: {replicas: 1e10}', "'sharing.replicas' must be at most 1000000000"],
  ])('%s is refused in words', (text, message) => {
    const { values, problems } = parseConfig(`${text}\n`);
    expect(problems.map((problem) => problem.message)).toEqual([message]);
    expect(JSON.stringify(values)).not.toContain('null');
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, -1e300, 5e-324, 1e15, -0])(
  'amounts of %s have no exponent',
  (value) => {
    const said = [formatNumber(value), formatHourly(value), formatDuration(value)];
    expect(said.filter((text) => isOdd(text) || /\de/.test(text))).toEqual([]);
  },
);
