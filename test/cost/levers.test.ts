import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../server/src/config.ts';
import {
  breakEven,
  cheaperMachine,
  committedPrices,
  pricedPod,
  sameGpuElsewhere,
} from '../../server/src/cost/levers.ts';
import { breakEvenMonths, ownedHourly } from '../../server/src/cost/on-prem.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

interface Asked {
  readonly type?: string;
  readonly gpus?: number;
  readonly requests?: string;
  readonly selectors?: string;
  readonly config?: string;
}

function podSetOf({ type, gpus = 1, requests = '', selectors = '', config = '' }: Asked) {
  const types = type === undefined ? '' : `node.kubernetes.io/instance-type: ${type}`;
  const text = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeSelector: {${[types, selectors].filter(Boolean).join(', ')}}
  containers:
    - name: main
      image: registry.example.com/app:1
      resources: {limits: {nvidia.com/gpu: ${gpus}${requests}}}
`;
  const { config: read, problems } = parseConfig(config);
  expect(problems).toEqual([]);
  const podSet = parseYaml(text).documents.flatMap((document) => lowerDocument(document, read).workloads)[0]
    ?.podSets[0];
  if (podSet === undefined) throw new Error('the text has no pod');
  return { podSet, prices: read.prices };
}

function leversOf(asked: Asked) {
  const { podSet, prices } = podSetOf(asked);
  const priced = pricedPod(podSet, prices);
  if (priced === undefined) return undefined;
  const machine = cheaperMachine(priced, prices);
  return {
    now: priced.now.hourly.toFixed(4),
    machine: machine && `${machine.offer.instanceType} ${machine.hourly.toFixed(4)}`,
    elsewhere: sameGpuElsewhere(priced, prices).map(
      ({ offer, hourly }) => `${offer.provider} ${offer.region} ${hourly.toFixed(2)}`,
    ),
    committed: committedPrices(priced).map(({ term, hourly }) => `${term} ${hourly.toFixed(4)}`),
  };
}

test('a part of a card is not compared with whole cards elsewhere', () => {
  // A quarter of an RTX PRO 6000 costs 1.125; a whole one 4.4999, and less elsewhere.
  expect(leversOf({ type: 'g4-standard-12' })).toMatchObject({ now: '1.1250', elsewhere: [] });
  expect(leversOf({ type: 'g4-standard-48' })?.elsewhere).not.toEqual([]);
});

describe('the cheapest machine on which a pod fits', () => {
  test('is the smallest one with the same GPU', () => {
    // A quarter of a g6.12xlarge costs 4.6016 / 4 = 1.1504; a g6.xlarge costs 0.8048.
    expect(leversOf({ type: 'g6.12xlarge' })).toMatchObject({ now: '1.1504', machine: 'g6.xlarge 0.8048' });
  });

  test('has room for the CPU and memory of the pod, and for the system', () => {
    // 6 CPUs are more than four fifths of the 4 of a g6.xlarge, but not of the 8 of a g6.2xlarge, which costs 0.9776.
    expect(leversOf({ type: 'g6.12xlarge', requests: ', cpu: 6, memory: 20Gi' })?.machine).toBe('g6.2xlarge 0.9776');
  });

  test('is not reported if the pod already runs there', () => {
    expect(leversOf({ type: 'g6.xlarge' })?.machine).toBeUndefined();
  });

  test('meets the other requirements of the selectors', () => {
    const selectors = 'karpenter.k8s.aws/instance-size: 12xlarge';
    expect(leversOf({ type: 'g6.12xlarge', selectors })?.machine).toBeUndefined();
  });

  test('is unknown on spot and for reservations', () => {
    expect(leversOf({ type: 'g6.12xlarge', selectors: 'karpenter.sh/capacity-type: spot' })).toBeUndefined();
    expect(leversOf({ type: 'g6.12xlarge', selectors: 'karpenter.sh/capacity-type: reserved' })).toBeUndefined();
  });
});

describe('the same GPU elsewhere', () => {
  test('is one place per provider, cheapest first, and only if it is cheaper', () => {
    const found = leversOf({ type: 'p5.48xlarge', gpus: 8 });
    expect(found?.now).toBe('55.0400');
    const amounts = found?.elsewhere.map((line) => Number(line.split(' ').at(-1))) ?? [];
    expect(amounts).toEqual([...amounts].sort((a, b) => a - b));
    expect(amounts.every((amount) => amount < 55.04)).toBe(true);
    const providers = found?.elsewhere.map((line) => line.split(' ')[0]) ?? [];
    expect(new Set(providers).size).toBe(providers.length);
    expect(found?.elsewhere[0]).toBe('hyperstack all 25.60');
  });
});

describe('committed use', () => {
  test('costs what the price sheet of Google Cloud says', () => {
    // a2-highgpu-1g: 3.6734 on demand.
    expect(leversOf({ type: 'a2-highgpu-1g' })?.committed).toEqual(['1-year 2.3142', '3-years 1.2857']);
    expect(leversOf({ type: 'g6.xlarge' })?.committed).toEqual([]);
  });
});

const h100 =
  'gpus: 8, purchasePrice: 300000, years: 4, watts: 8000, pue: 1.4, electricityPerKwh: 0.12, staffPerYear: 20000, utilizationPercent: 60';

describe('an own machine', () => {
  const machine = {
    gpus: 8,
    purchasePrice: 300_000,
    years: 4,
    watts: 8000,
    pue: 1.4,
    electricityPerKwh: 0.12,
    staffPerYear: 20_000,
    utilizationPercent: 60,
  };

  test('costs its depreciation, electricity and staff per hour of work', () => {
    // 300,000 / (4 x 8,760) + 8 x 1.4 x 0.12 + 20,000 / 8,760 = 8.5616 + 1.3440 + 2.2831 = 12.1888; / (8 x 0.6) = 2.5393.
    expect(ownedHourly(machine).toFixed(4)).toBe('2.5393');
  });

  test('pays off when the rent saved equals its purchase price', () => {
    // (6.88 x 4.8 - 3.6271) x 730 = 21,459.8 a month; 300,000 / 21,459.8 = 13.98 months.
    expect(breakEvenMonths(machine, 6.88)?.toFixed(2)).toBe('13.98');
    // 0.7 x 4.8 = 3.36 does not even pay for electricity and staff (3.6271).
    expect(breakEvenMonths(machine, 0.7)).toBeUndefined();
    // (2 x 4.8 - 3.6271) x 730 = 4,360; 300,000 / 4,360 = 69 months, but the machine lasts 48.
    expect(breakEvenMonths(machine, 2)).toBeUndefined();
  });

  test('is compared with the cloud of the pods', () => {
    const { podSet, prices } = podSetOf({
      gpus: 8,
      config: `{provider: aws, gpu: h100-80gb-sxm, prices: {onPrem: {h100-80gb-sxm: {${h100}}}}}`,
    });
    const found = breakEven(podSet, prices);
    expect(found?.rented.offer.instanceType).toBe('p5.48xlarge');
    expect(found?.months?.toFixed(2)).toBe('13.98');
  });

  test('sets the price of pods whose cloud is unknown', () => {
    const config = (provider: string) =>
      `{${provider}gpu: h100-80gb-sxm, prices: {onPrem: {h100-80gb-sxm: {${h100}}}}}`;
    // 2 x 2.5393.
    expect(leversOf({ gpus: 2, config: config('') })?.now).toBe('5.0786');
    expect(leversOf({ gpus: 2, config: config('provider: aws, ') })?.now).toBe('13.7600');
    expect(leversOf({ gpus: 8, type: 'p5.48xlarge', config: config('') })?.now).toBe('55.0400');
  });
});
