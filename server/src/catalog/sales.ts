import { lazy } from '../yaml/lazy.ts';
import { instanceType } from './instances.ts';
import { sourceText, storedSales } from './stored.ts';
import type { Sale } from './types.ts';

/** How an instance type is sold that cannot be had on demand; undefined for all others. Azure's names are written with and without their prefix. */
export function saleOf(machine: string): Sale | undefined {
  const name = (instanceType(machine)?.name ?? machine).toLowerCase();
  return byLowerName().get(name) ?? byLowerName().get(`standard_${name}`);
}

const byLowerName = lazy(
  () =>
    new Map(
      storedSales.sales.flatMap((sale) => {
        const { source, ...rest } = sale;
        const known: Sale = { ...rest, source: sourceText(storedSales.sources, source) };
        return sale.types.map((type) => [type.toLowerCase(), known] as const);
      }),
    ),
);
