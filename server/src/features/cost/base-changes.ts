import type { FileAnalysis } from '../../analysis.ts';
import { nothing } from '../../cost/range.ts';
import { changedAmount, increaseWords } from './change-words.ts';
import { increaseOf, isChanged, pairWorkloads } from './cost-changes.ts';
import { type CostRow, costRows } from './cost-rows.ts';

// What a file costs compared with an earlier text of it, such as the one of the last commit.

/** The rows of an earlier text, which stay valid as long as what the text refers to does. */
export interface BaseCosts {
  readonly rows: readonly CostRow[];
  readonly isCurrent: () => boolean;
}

/** @param text the earlier text of the file */
export function baseCosts(file: FileAnalysis, text: string): BaseCosts {
  const { rows, isCurrent } = file.withText(text, (base) => ({ rows: costRows(base), isCurrent: base.isCurrent }));
  return { rows, isCurrent };
}

/**
 * For each changed workload, by the start of its object, how its price changed: `+$41.28/h against HEAD`.
 * @param name of the earlier state
 */
export function changeWords(file: FileAnalysis, base: readonly CostRow[], name: string): ReadonlyMap<number, string> {
  const words = new Map<number, string>();
  for (const change of pairWorkloads(base.map(compared), costRows(file).map(compared))) {
    const increase = increaseOf(change);
    if (change.after === null || increase === null || !isChanged(change)) continue;
    const amount = changedAmount(change);
    if (amount !== increaseWords(nothing)) words.set(change.after.start, `${amount} against ${name}`);
  }
  return words;
}

/** Within one file, the place decides only the order. */
function compared(row: CostRow) {
  return { ...row, path: '', line: row.start };
}
