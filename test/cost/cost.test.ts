import { describe, expect, test } from 'vitest';
import { assumptionLines } from '../../server/src/cost/assumption-words.ts';
import { listPrices, type OwnPrices } from '../../server/src/cost/custom-prices.ts';
import { estimateCost } from '../../server/src/cost/estimate.ts';
import { formatHourly, formatMonthly, formatNumber } from '../../server/src/cost/money.ts';
import { missingFor } from '../../server/src/cost/no-estimate.ts';
import { noEstimateWords } from '../../server/src/cost/no-estimate-words.ts';
import { type PossibleCost, possibleCost } from '../../server/src/cost/possible-cost.ts';
import { boundLines, rangeWords } from '../../server/src/cost/possible-cost-words.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import type { Workload } from '../../server/src/model/workload.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { table } from '../../server/src/yaml/table.ts';
import { configOf } from '../support/config-line.ts';
import { goldenTests } from '../support/golden.ts';

describe('the cost of a workload', () => {
  goldenTests('test/fixtures/cost', (text) => {
    const config = configOf(text);
    const workloads = parseYaml(text).documents.flatMap((document) => lowerDocument(document, config).workloads);
    return workloads.map((workload) => renderCost(workload, config.prices)).join('\n');
  });
});

function renderCost(workload: Workload, prices: OwnPrices): string {
  const { cost, unknown } = estimateCost(workload, prices);
  const title = `${workload.kind}/${workload.name}`;
  if (cost === null) {
    const reason = `${title} no price: ${noEstimateWords(unknown)} (${missingFor(unknown) ?? 'nothing missing'})\n`;
    const range = missingFor(unknown) === 'gpu' ? possibleCost(workload, prices) : undefined;
    return range === undefined ? reason : `${reason}${renderRange(range)}\n`;
  }
  const lines = [
    `${title} ${formatHourly(cost.hourly)} = ${formatMonthly(cost.hourly)}`,
    `  idle ${formatHourly(cost.idleHourly)}; spot ${cost.spotHourly === null ? 'unknown' : formatHourly(cost.spotHourly)}`,
    ...cost.basis.map(
      (basis) =>
        `  ${basis.podSet}: ${formatNumber(basis.share)} of ${basis.instanceType} at ${basis.provider ?? 'own'} ${basis.region}, ${basis.pricing} ${formatHourly(basis.instanceHourly)} (${basis.asOf ?? 'date unknown'})`,
    ),
    ...assumptionLines(cost.assumptions).map((assumption) => `  - ${assumption}`),
  ];
  return `${lines.join('\n')}\n`;
}

function renderRange(range: PossibleCost): string {
  const names = range.cards.map(({ gpu }) => gpu.name).join(', ');
  const lines = [`  ${rangeWords(range)}`, ...boundLines(range).map((line) => `  - ${line}`), `  ${names}`];
  return lines.join('\n');
}

test('a card that nobody sells is in a range only at a price of the project', () => {
  const pod = `apiVersion: v1
kind: Pod
metadata: {name: any-card}
spec:
  containers: [{name: main, image: registry.example.com/app:1, resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const [workload] = parseYaml(pod).documents.flatMap((document) => lowerDocument(document, configOf('')).workloads);
  const cheapest = (prices: OwnPrices) => workload && possibleCost(workload, prices)?.from.model;
  const cards = (prices: OwnPrices) => (workload && possibleCost(workload, prices)?.cards)?.map(({ gpu }) => gpu.id);
  expect(cards(listPrices)).not.toContain('gtx-1650');
  expect(cheapest({ ...listPrices, gpus: table({ 'gtx-1650': 0.05 }) })).toBe('gtx-1650');
  expect(cheapest({ ...listPrices, gpus: table({ 'GTX 1650': 0.05 }) })).toBe('gtx-1650');
  const machine = { gpus: 1, purchasePrice: 1, years: 1, watts: 1, pue: 1, electricityPerKwh: 0.1, staffPerYear: 0 };
  const onPrem = table({ 'gtx-1650': { ...machine, utilizationPercent: 100 } });
  expect(cheapest({ ...listPrices, onPrem })).toBe('gtx-1650');
  const rates = { onDemand: { gpu: 1, cpu: 0, memoryGiB: 0 }, spot: null };
  expect(cards({ ...listPrices, rates })).toContain('gtx-1650');
});

test('a card that ROCm does not support has no price for rent', () => {
  const range = (value: string, gpus: OwnPrices['gpus'] = listPrices.gpus) => {
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: desktop}
spec:
  containers:
    - name: main
      image: registry.example.com/app:1
      env: [{name: HSA_OVERRIDE_GFX_VERSION, value: ${value}}]
      resources: {limits: {amd.com/gpu: 1}}
`;
    const [workload] = parseYaml(pod).documents.flatMap((document) => lowerDocument(document, configOf('')).workloads);
    return workload && possibleCost(workload, { ...listPrices, gpus })?.cards.map(({ gpu }) => gpu.id);
  };
  expect(range('10.3.0')).toBeUndefined();
  expect(range('11.0.0', table({ 'radeon-rx-7600': 0.05 }))).toEqual(['radeon-rx-7600']);
  expect(range('9.0.10')).toContain('mi300x');
});

test.each(['gpus: 4', 'gpuDevices: {value: 4}', 'resources: {gpu: 4}'])(
  'the GPUs of an unknown kind may be of each vendor that sells them: %s',
  (field) => {
    const own = `apiVersion: jobs.example.com/v1
kind: Experiment
metadata: {name: any-vendor}
spec:
  image: registry.example.com/train:1
  ${field}
`;
    const [workload] = parseYaml(own).documents.flatMap((document) => lowerDocument(document, configOf('')).workloads);
    const cards = (workload && possibleCost(workload))?.cards.map(({ gpu }) => gpu.id);
    expect(cards).toEqual(expect.arrayContaining(['l4', 'mi300x']));
    expect(cards).not.toContain('tpu-v5e');
  },
);

test('amounts match the platform formatter for en-US, which is slow to start', () => {
  const amounts = [
    0, 1, 1.005, 0.125, 12, 100, 1000, 1234.5, 999.995, 999999.9995, 1e6, 1e-7, 0.0005, 0.3, 12345678.905,
  ];
  const platform = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });
  expect(amounts.map(formatNumber)).toEqual(amounts.map((amount) => platform.format(amount)));
  const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
  const large = amounts.filter((amount) => amount > 0.01);
  expect(large.map(formatHourly)).toEqual(large.map((amount) => `${dollars.format(amount)}/h`));
  expect(formatNumber(-2.5)).toBe('-2.5');
});
