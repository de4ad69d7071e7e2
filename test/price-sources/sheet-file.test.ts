// The user's price sheet: where it is, what makes it unusable, and how fetched prices join it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FetchedPrice } from '../../server/src/catalog/index.ts';
import { merged } from '../../server/src/price-sources/refresh.ts';
import { pricesInUse, readSheet, sheetPath, today, writeSheet } from '../../server/src/price-sources/sheet-file.ts';
import { temporaryFolder } from '../cli/run-cli.ts';

const price: FetchedPrice = {
  provider: 'aws',
  instanceType: 'p5.48xlarge',
  region: 'us-east-1',
  pricing: 'on-demand',
  hourly: 55.04,
  basis: null,
  date: '2026-11-22',
  source: 'https://pricing.us-east-1.amazonaws.com/offers/index.csv',
};
const updated = '2026-11-22T10:00:00.000Z';

describe('the place', () => {
  const home = os.homedir();
  it.each([
    [{}, 'linux', path.join(home, '.cache/gpulint/prices.json')],
    [{ XDG_CACHE_HOME: '/cache' }, 'linux', '/cache/gpulint/prices.json'],
    [{ XDG_CACHE_HOME: 'relative' }, 'linux', path.join(home, '.cache/gpulint/prices.json')],
    [{}, 'darwin', path.join(home, 'Library/Caches/gpulint/prices.json')],
    [{ LOCALAPPDATA: '/local' }, 'win32', '/local/gpulint/prices.json'],
    [{ GPULINT_PRICES: '/pinned.json', XDG_CACHE_HOME: '/cache' }, 'linux', '/pinned.json'],
    [{ GPULINT_PRICES: 'none' }, 'linux', null],
  ])('%o on %s: %s', (env, platform, expected) => {
    expect(sheetPath(env, platform)).toBe(expected);
  });
});

describe('the file', () => {
  const file = () => path.join(temporaryFolder(), 'new', 'prices.json');

  it('reads what was written', () => {
    const name = file();
    const prices = [
      price,
      { ...price, pricing: 'spot' as const, hourly: 22.5, basis: 'published', date: '2026-11-20' },
    ];
    writeSheet(name, { updated, prices });
    expect(readSheet(name)).toEqual({ kind: 'sheet', file: name, stored: { updated, prices } });
    expect(fs.readdirSync(path.dirname(name))).toEqual(['prices.json']);
  });

  it('keeps the old sheet if the new one cannot be written', () => {
    const name = file();
    writeSheet(name, { updated, prices: [price] });
    const cyclic = { ...price, basis: 1n as unknown as string };
    expect(() => writeSheet(name, { updated, prices: [cyclic] })).toThrow();
    expect(readSheet(name)).toMatchObject({ kind: 'sheet', stored: { prices: [price] } });
  });

  it('is optional', () => {
    expect(readSheet(file()).kind).toBe('none');
    expect(readSheet(null).kind).toBe('none');
  });

  const valid = `{"version":1,"updated":"${updated}","sources":[{"url":"https://a","date":"2026-11-22"}],"prices":[`;
  it.each([
    ['', 'it is not JSON'],
    ['{"version":1,', 'it is not JSON'],
    ['{"version":2,"rows":{}}', 'another version of gpulint wrote it (format 2)'],
    ['[]', 'it is damaged at '],
    [
      `${valid}{"provider":"mars","instanceType":"a","region":"b","pricing":"spot","hourly":1,"source":0,"basis":null}]}`,
      'it is damaged at prices.0.provider',
    ],
    [
      `${valid}{"provider":"aws","instanceType":"a","region":"b","pricing":"spot","hourly":-1,"source":0,"basis":null}]}`,
      'it is damaged at prices.0.hourly',
    ],
    [
      `${valid}{"provider":"aws","instanceType":"a","region":"b","pricing":"spot","hourly":1e999,"source":0,"basis":null}]}`,
      'it is damaged at prices.0.hourly',
    ],
    [
      `${valid}{"provider":"aws","instanceType":"a","region":"b","pricing":"free","hourly":1,"source":0,"basis":null}]}`,
      'it is damaged at prices.0.pricing',
    ],
    [
      `${valid}{"provider":"aws","instanceType":"a","region":"b","pricing":"spot","hourly":1,"source":0,"basis":null},{"provider":"aws","instanceType":"a","region":"b","pricing":"spot","hourly":1,"source":7,"basis":null}]}`,
      'it is damaged at prices.1',
    ],
    [valid.replace('"2026-11-22"', '"soon"').concat(']}'), 'it is damaged at sources.0.date'],
  ])('%s is ignored, and says why', (content, reason) => {
    const name = path.join(temporaryFolder(), 'prices.json');
    fs.writeFileSync(name, content);
    expect(readSheet(name)).toEqual({ kind: 'unusable', file: name, reason });
    const { sheet, problem } = pricesInUse({ GPULINT_PRICES: name });
    expect(sheet.id).toBe('catalog');
    expect(problem).toBe(
      `the price sheet ${name} is ignored: ${reason}; run "gpulint prices refresh" or "gpulint prices reset"`,
    );
  });

  it('a folder is not a sheet', () => {
    const name = temporaryFolder();
    expect(readSheet(name)).toMatchObject({ kind: 'unusable', reason: 'it is not a regular file' });
  });
});

describe('fetched prices', () => {
  const before = { updated, prices: [price] };
  const hourlyOf = (fetched: readonly FetchedPrice[]) =>
    merged(before, fetched, updated).prices.map(({ region, hourly }) => `${region} ${hourly}`);
  const catalogOfSkypilot = 'https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/x.csv';

  it('replace those of the same machine, region and capacity type', () => {
    expect(hourlyOf([{ ...price, hourly: 50 }])).toEqual(['us-east-1 50']);
    expect(hourlyOf([{ ...price, hourly: 20, pricing: 'spot' }])).toEqual(['us-east-1 55.04', 'us-east-1 20']);
    expect(hourlyOf([{ ...price, region: 'eu-west-1' }])).toEqual(['us-east-1 55.04', 'eu-west-1 55.04']);
  });

  it('do not replace newer ones', () => {
    expect(hourlyOf([{ ...price, hourly: 50, date: '2026-11-21' }])).toEqual(['us-east-1 55.04']);
  });

  it('of a third party do not replace those of the provider from the same day', () => {
    expect(hourlyOf([{ ...price, hourly: 50, source: catalogOfSkypilot }])).toEqual(['us-east-1 55.04']);
    expect(hourlyOf([{ ...price, hourly: 50, source: catalogOfSkypilot, date: '2026-11-23' }])).toEqual([
      'us-east-1 50',
    ]);
  });
});

it('the date can be set from outside, so that a build can be repeated', () => {
  expect(today({ SOURCE_DATE_EPOCH: '1784592000' })).toBe('2026-07-21');
  for (const wrong of ['', 'soon', '1e99'])
    expect(today({ SOURCE_DATE_EPOCH: wrong })).toBe(new Date().toISOString().slice(0, 10));
});
