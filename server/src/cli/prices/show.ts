import process from 'node:process';
import { catalogInfo, offers, type Provider, priceSource, providerName, providers } from '../../catalog/index.ts';
import type { PricesInUse } from '../../config.ts';
import { plural } from '../../cost/money.ts';
import { daysBetween } from '../../cost/price-age.ts';
import { type ReadSheet, readSheet, sheetPath, sheetProblem } from '../../price-sources/sheet-file.ts';
import { printable, warn } from '../terminal.ts';
import { pricesOfRun } from './in-use.ts';

/** `gpulint prices`: the sheet in use, its dates and sources, and where it is stored. */
export function showPrices(): void {
  const file = sheetPath(process.env);
  process.stdout.write([...sheetLines(readSheet(file), pricesOfRun())].map((line) => `${printable(line)}\n`).join(''));
}

/** `gpulint prices reset`: removes the fetched prices, so that those of the catalog apply. */
export async function resetPrices(): Promise<void> {
  const { removeFile } = await import('./refresh.ts');
  const file = sheetPath(process.env);
  if (file === null) warn('GPULINT_PRICES=none already turns fetched prices off');
  else if (removeFile(file)) process.stdout.write(`removed ${printable(file)}: the catalog prices apply\n`);
  else process.stdout.write(`no fetched prices in ${printable(file)}: the catalog prices apply\n`);
}

function* sheetLines(read: ReadSheet, inUse: PricesInUse): Generator<string> {
  yield `Catalog   prices of ${catalogInfo.pricesAsOf} to ${catalogInfo.pricesUntil}, from ${plural(catalogInfo.sources.length, 'source')}`;
  if (read.kind === 'sheet') {
    const { updated, prices } = read.stored;
    yield `Fetched   ${plural(prices.length, 'price')}, updated ${updated.slice(0, 10)}, in ${read.file}`;
  } else if (read.kind === 'unusable') yield `Fetched   ${sheetProblem(read)}`;
  else
    yield `Fetched   none${read.file === null ? ' (GPULINT_PRICES=none)' : `; "gpulint prices refresh" writes ${read.file}`}`;
  yield '';
  yield* table([
    ['Provider', 'Machines', 'Prices', 'Fetched', 'Dates', 'Oldest'],
    ...providers.map((provider) => providerRow(provider as Provider, inUse)),
  ]);
  yield '';
  yield 'Catalog sources';
  for (const source of catalogInfo.sources) yield `  ${source}`;
  if (read.kind !== 'sheet') return;
  yield '';
  yield 'Sources of fetched prices';
  const counts = new Map<string, number>();
  for (const { date, source } of read.stored.prices) {
    const key = `${date}  ${source}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [key, count] of [...counts].sort()) yield `  ${key} (${plural(count, 'price')})`;
}

function providerRow(provider: Provider, { sheet, today }: PricesInUse): readonly string[] {
  const all = offers({ provider }, sheet);
  const prices = all.flatMap((offer) => [
    ...(offer.onDemand === null ? [] : [priceSource(offer, 'on-demand')]),
    ...(offer.spot === null ? [] : [priceSource(offer, 'spot')]),
  ]);
  const dates = prices.flatMap(({ date }) => date ?? []).sort();
  const [oldest = '', newest = dates.at(-1) ?? ''] = [dates[0], dates.at(-1)];
  const undated = prices.length - dates.length;
  const range = oldest === newest ? oldest : `${oldest} to ${newest}`;
  const fetched = [...sheet.prices.values()].flat().filter((price) => price.provider === provider).length;
  return [
    providerName(provider),
    String(new Set(all.map(({ instanceType }) => instanceType)).size),
    String(prices.length),
    String(fetched),
    [...(range === '' ? [] : [range]), ...(undated === 0 ? [] : [`${undated} undated`])].join(', '),
    oldest === '' || today === null ? '' : plural(Math.max(0, daysBetween(oldest, today)), 'day'),
  ];
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
