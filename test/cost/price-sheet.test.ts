// Fetched prices in the estimate: the newest applies, each amount names its own source and date, and the project's own prices come first.
import { describe, expect, it } from 'vitest';
import {
  allInstanceTypes,
  catalogPrices,
  type FetchedPrice,
  gpus,
  offers,
  priceSheet,
  regionsOf,
  soldModels,
} from '../../server/src/catalog/index.ts';
import { type PricesInUse, parseConfig, resolveConfig } from '../../server/src/config.ts';
import { oldPriceAge } from '../../server/src/cost/price-age.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { summarize } from '../../server/src/features/report.ts';
import { analyse } from '../support/analyse.ts';
import { p5Pod, p5Price } from '../support/p5.ts';

const fetched = { ...p5Price, date: '2026-11-01' };

function fileWith(prices: readonly FetchedPrice[], config = '', today: string | null = null, text = p5Pod) {
  const inUse: PricesInUse = { sheet: priceSheet('test', prices), today };
  const file = { values: parseConfig(config).values, path: 'a.yaml' };
  return analyse(text, resolveConfig({ settings: undefined, file, prices: inUse }));
}

function costOf(...args: Parameters<typeof fileWith>) {
  const [document] = fileWith(...args).documents;
  const [workload] = document?.workloads ?? [];
  const cost = workload && document?.costOf(workload).cost;
  if (!cost) throw new Error('no price');
  const [basis] = cost.basis;
  return { hourly: cost.hourly.max, spot: cost.spotHourly?.max, asOf: basis?.asOf, source: basis?.source };
}

describe('an estimate', () => {
  it('takes the fetched price, with its date and source', () => {
    expect(costOf([])).toMatchObject({ hourly: 55.04, asOf: '2026-07-20' });
    expect(costOf([fetched])).toMatchObject({ hourly: 50, asOf: '2026-11-01', source: fetched.source });
  });

  it('takes a newer price of the catalog', () => {
    expect(costOf([{ ...fetched, date: '2026-07-19' }])).toMatchObject({ hourly: 55.04, asOf: '2026-07-20' });
  });

  it('takes spot and on-demand prices each with their own date', () => {
    const before = costOf([]);
    const spot = { ...fetched, pricing: 'spot' as const, hourly: 12.5, date: '2026-11-02' };
    expect(costOf([fetched])).toMatchObject({ spot: before.spot });
    expect(costOf([spot])).toMatchObject({ hourly: 55.04, spot: 12.5, asOf: '2026-07-20' });
    expect(costOf([spot], 'capacity: spot\n')).toMatchObject({ hourly: 12.5, asOf: '2026-11-02' });
  });

  it("takes the project's own price first", () => {
    const own = costOf([fetched], 'prices: {instanceTypes: {p5.48xlarge: 40}}\n');
    expect(own).toMatchObject({ hourly: 40, asOf: null, source: null });
    expect(costOf([fetched], 'prices: {discountPercent: 10}\n')).toMatchObject({ hourly: 45 });
  });

  it('ignores prices of other regions and other machines', () => {
    const others = [
      { ...fetched, region: 'mars-1' },
      { ...fetched, instanceType: 'p99.large' },
      { ...fetched, instanceType: '__proto__' },
    ];
    expect(costOf(others)).toEqual(costOf([]));
  });
});

describe('the offers of a sheet', () => {
  it('include regions that the catalog has no price for', () => {
    const sheet = priceSheet('test', [{ ...fetched, region: 'new-region-1' }]);
    const query = { instanceType: 'p5.48xlarge', region: 'new-region-1' };
    expect(offers(query, catalogPrices)).toEqual([]);
    expect(offers(query, sheet)).toMatchObject([{ gpu: 'h100-80gb-sxm', gpuCount: 8, onDemand: 50, spot: null }]);
  });

  it('include machines that the catalog knows without a price', () => {
    const priced = new Set(
      offers({}, catalogPrices).map(({ provider, instanceType }) => `${provider} ${instanceType}`),
    );
    const machine = allInstanceTypes().find(
      ({ provider, name, gpu, gpuCount }) => gpu !== null && gpuCount !== null && !priced.has(`${provider} ${name}`),
    );
    if (machine === undefined) throw new Error('every machine has a price');
    const { provider, name: instanceType, gpu, gpuCount } = machine;
    const sheet = priceSheet('test', [{ ...fetched, provider, instanceType }]);
    expect(offers({ instanceType }, sheet)).toMatchObject([{ provider, gpu, gpuCount, onDemand: 50 }]);
  });

  it('decide which models are sold', () => {
    const unsold = allInstanceTypes().find(
      ({ gpu, gpuCount }) => gpu && gpuCount && !soldModels(catalogPrices).has(gpu),
    );
    const added = unsold && { ...fetched, provider: unsold.provider, instanceType: unsold.name };
    for (const sheet of [catalogPrices, priceSheet('test', added === undefined ? [fetched] : [fetched, added])]) {
      const ids = [...gpus.keys(), 'no-such'].filter((gpu) => offers({ gpu }, sheet).length > 0);
      expect([...soldModels(sheet)].sort()).toEqual(ids.sort());
    }
  });

  it('of Oracle Cloud are for all regions, also if they were read for one', () => {
    const instanceType = 'BM.GPU4.8';
    const [listed, ...others] = offers({ instanceType }, catalogPrices);
    expect([listed?.region, listed?.onDemand, others]).toEqual(['all', 24.4, []]);
    const sheet = priceSheet('test', [{ ...fetched, provider: 'oci', instanceType, region: 'us-ashburn-1' }]);
    expect(offers({ instanceType }, sheet)).toMatchObject([{ region: 'all', onDemand: 50 }]);
    expect(regionsOf('oci', sheet)).toEqual([]);
    expect(parseConfig('provider: oci\nregion: us-ashburn-1\n').problems).toEqual([]);
    const text = p5Pod.replace('p5.48xlarge', instanceType);
    const assumptions = analyse(text, resolveConfig({ settings: undefined, file: undefined })).documents.flatMap(
      ({ workloads, costOf }) => workloads.flatMap((one) => costOf(one).cost?.assumptions ?? []),
    );
    expect(assumptions.map(({ kind }) => kind)).toEqual(['capacity']);
  });

  it('leave the catalog as it is', () => {
    const before = offers({ provider: 'aws' }, catalogPrices);
    offers({ provider: 'aws' }, priceSheet('test', [fetched]));
    expect(offers({ provider: 'aws' }, catalogPrices)).toEqual(before);
  });
});

describe('old prices', () => {
  const words = 'Prices are up to 125 days old: "gpulint prices refresh" updates them';
  // 2026-07-20 + 125 days.
  const later = '2026-11-22';

  function hoverText(...args: Parameters<typeof fileWith>): string {
    return JSON.stringify(hover(fileWith(...args), p5Pod.indexOf('nvidia.com/gpu'))).replaceAll('\\"', '"');
  }

  it('are reported once, at the basis of the hover and in the status bar', () => {
    expect(hoverText([], '', later).replaceAll('\\', '').split('125 days old')).toHaveLength(2);
    expect(
      summarize(fileWith([], '', later))
        ?.tooltip.split('\n')
        .at(-1),
    ).toBe(`${words}.`);
    expect(fileWith([], '', later).documents.flatMap(({ findings }) => findings)).toEqual(
      fileWith([]).documents.flatMap(({ findings }) => findings),
    );
  });

  it.each([
    ['without a date', [], '', null],
    ['when they are not old', [], '', '2026-10-18'],
    ['after a refresh', [fetched], '', later],
    ['at a limit of the config', [], 'prices: {maxAgeDays: 125}\n', later],
    ['if the config turns it off', [], 'prices: {maxAgeDays: 0}\n', later],
    ['for prices of the project', [], 'prices: {instanceTypes: {p5.48xlarge: 40}}\n', later],
  ])('are not reported %s', (_, prices, config, today) => {
    expect(hoverText(prices, config, today)).not.toContain('days old');
    expect(summarize(fileWith(prices, config, today))?.tooltip).not.toContain('days old');
  });

  it('have an age in whole days', () => {
    const age = (asOf: string | null, today: string, maxAgeDays = 90) => oldPriceAge([{ asOf }], { today, maxAgeDays });
    expect([age('2026-01-01', '2026-04-01'), age('2026-01-01', '2026-04-02')]).toEqual([null, 91]);
    // Over a leap day, and over the end of a year.
    expect([age('2027-12-01', '2028-03-01', 1), age(null, '2028-03-01')]).toEqual([91, null]);
    expect(age('2030-01-01', '2026-01-01')).toBeNull();
  });
});
