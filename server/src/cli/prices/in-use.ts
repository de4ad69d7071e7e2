import process from 'node:process';
import type { PricesInUse } from '../../config.ts';
import { oldPriceWords } from '../../cost/price-age.ts';
import { pricesInUse } from '../../price-sources/sheet-file.ts';
import { lazy } from '../../yaml/lazy.ts';
import type { CheckedFile } from '../reports/format.ts';
import { warn } from '../terminal.ts';

/** The prices of this run. A price sheet that cannot be used is reported once. */
export const pricesOfRun: () => PricesInUse = lazy(() => {
  const { problem, ...inUse } = pricesInUse(process.env);
  if (problem !== null) warn(problem);
  return inUse;
});

/** Says once if a price of the run is old. */
export function warnOfOldPrices(files: readonly Pick<CheckedFile, 'oldPrices'>[]): void {
  // Not as arguments of Math.max: a run can have more files than a call can have arguments.
  const oldest = files.reduce((most, { oldPrices }) => Math.max(most, oldPrices ?? 0), 0);
  if (oldest > 0) warn(oldPriceWords(oldest));
}
