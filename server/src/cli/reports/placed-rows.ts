import type { FileAnalysis } from '../../analysis.ts';
import { costRows } from '../../features/cost/cost-rows.ts';
import { poolRows } from '../../features/pool-lens.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CheckedFile } from './format.ts';
import { lineStartsOf, positionAt } from './position.ts';

/** The rows of a file's costs and node pools, each with the line of its object. */
export function placedRows(file: FileAnalysis, workspace?: Workspace): Pick<CheckedFile, 'rows' | 'pools'> {
  const lineStarts = lineStartsOf(file.text);
  const placed = <T extends { readonly start: number }>(row: T) => ({
    ...row,
    line: positionAt(lineStarts, row.start).line,
  });
  return { rows: costRows(file).map(placed), pools: poolRows(file, workspace).map(placed) };
}
