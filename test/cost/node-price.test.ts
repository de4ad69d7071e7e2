import { expect, test } from 'vitest';
import { offers } from '../../server/src/catalog/index.ts';
import { listPrices, type OwnPrices } from '../../server/src/cost/custom-prices.ts';
import { nodePricing } from '../../server/src/cost/node-price.ts';
import type { Machine } from '../../server/src/fleet/machine.ts';
import { table } from '../../server/src/yaml/table.ts';

const h100 = { id: 'h100-80gb-sxm', name: 'H100 80GB SXM', from: 'nvidia.com/gpu.product' };
const p5: Machine = {
  instanceType: 'p5.48xlarge',
  provider: 'aws',
  region: 'us-east-1',
  zone: 'us-east-1a',
  capacity: 'on-demand',
  model: h100,
  devices: 8,
};
const [listed] = offers({ instanceType: 'p5.48xlarge', region: 'us-east-1' }, listPrices.sheet);
const own = (prices: Partial<OwnPrices>): OwnPrices => ({ ...listPrices, ...prices });

test.each([
  ['on demand', {}, listed?.onDemand, /^p5\.48xlarge on demand in us-east-1 \(\d{4}-\d\d-\d\d\)$/],
  ['spot', { capacity: 'spot' }, listed?.spot, /^p5\.48xlarge spot in us-east-1 \(/],
  ['a capacity type that no label names', { capacity: null }, listed?.onDemand, /assumed on demand/],
  ['no region', { region: null }, listed?.onDemand, /\(region assumed\)/],
] as const)('a node costs the whole machine: %s', (_, change, hourly, basis) => {
  const price = nodePricing(listPrices)({ ...p5, ...change });
  expect(price).toEqual({ hourly: { min: hourly, max: hourly }, basis: expect.stringMatching(basis) });
});

test.each([
  ['a reservation', { capacity: 'reserved' }, 'reserved capacity has no list price'],
  ['a card without a label', { model: null }, 'GPU model unknown'],
  ['an unlisted card', { model: { id: null, name: 'X9', from: 'gpu' } }, 'no price for X9'],
  ['an unknown machine', { instanceType: 'p99.metal' }, 'no price of p99.metal at AWS'],
  ['an own machine', { instanceType: null, provider: null }, 'own machine, without a price in the config'],
] as const)('unknown is not free: %s', (_, change, because) => {
  expect(nodePricing(listPrices)({ ...p5, ...change })).toEqual({ hourly: null, because });
});

test('prices of the config take precedence', () => {
  const ofType = own({ instanceTypes: table({ 'gpu-box': 12 }) });
  expect(nodePricing(ofType)({ ...p5, instanceType: 'gpu-box', provider: null }).hourly).toEqual({ min: 12, max: 12 });
  const ofCard = own({ gpus: table({ 'h100-80gb-sxm': 2 }) });
  const box = { ...p5, instanceType: null, provider: null };
  expect(nodePricing(ofCard)(box)).toEqual({
    hourly: { min: 16, max: 16 },
    basis: 'H100 80GB SXM at the price in the config',
  });
  const [half] = [nodePricing(own({ discountPercent: 50 }))(p5)];
  expect(half.hourly?.min).toBeCloseTo((listed?.onDemand ?? 0) / 2);
});
