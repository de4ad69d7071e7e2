import { expect, test } from 'vitest';
import { renderCostText } from '../../server/src/cli/cost/text.ts';
import type { WorkloadCost } from '../../server/src/cli/cost/workload-costs.ts';
import { warnOfOldPrices } from '../../server/src/cli/prices/in-use.ts';
import { keepingWarnings, plainStyle } from '../../server/src/cli/terminal.ts';
import { totalOf } from '../../server/src/features/cost/cost-totals.ts';

// More than a call of a function can have arguments.
const many = 200_000;

test('old prices are reported once, whatever the number of files', async () => {
  const files = Array.from({ length: many }, (_, index) => ({ oldPrices: index === 7 ? 400 : 30 }));
  const { warnings } = await keepingWarnings(async () => warnOfOldPrices(files));
  expect(warnings).toEqual([expect.stringContaining('400 days')]);
});

test('a workload is one line of the costs, whatever their number', () => {
  const amounts = {
    hourly: null,
    isOpen: false,
    monthly: null,
    possibleHourly: null,
    idleHourly: null,
    nodeHourly: null,
  };
  const after: WorkloadCost = {
    ...{ kind: 'Pod', namespace: null, name: 'train', path: 'train.yaml', line: 1, problem: 'no price' },
    ...amounts,
    gpus: { min: 1, max: 1 },
  };
  const change = { before: null, after };
  const report = {
    base: null,
    before: null,
    after: totalOf([]),
    changes: Array.from({ length: many }, () => change),
    current: { title: '.', rows: [], savings: [], basis: undefined },
    output: undefined,
    priceBasis: undefined,
    exceeded: [],
  };
  const [first, ...others] = renderCostText(report, plainStyle);
  expect(first).toContain('train.yaml:1');
  expect(others.filter((line) => line === first)).toHaveLength(many - 1);
});
