import { expect, test } from 'vitest';
import { quote } from '../../server/src/cost/offers.ts';
import type { Placement } from '../../server/src/model/workload.ts';

const anywhere: Placement = {
  capacity: 'unknown',
  capacityAt: undefined,
  provider: null,
  region: null,
  instanceType: null,
  nodeGpus: [],
  terms: [],
  needs: { cpu: 1.25, memoryGiB: 3, efa: 0, storageGiB: 0 },
  nodePool: null,
  providerFrom: null,
};

test('the price of a request does not depend on requests before it', () => {
  const unpriced = { ...anywhere, ownMachine: { name: 'rack-7', devices: null } };
  expect(quote('a100-80gb-sxm', 1, unpriced, 'on-demand').prices).toEqual([]);
  expect(quote('a100-80gb-sxm', 1, anywhere, 'on-demand').prices).not.toEqual([]);
});
