import type { FileAnalysis } from '../analysis.ts';
import { changedAmount, gpusWords, increaseWords, nameOf } from '../features/cost/change-words.ts';
import {
  type ComparedCost,
  type CostChange,
  type Increase,
  increaseOf,
  isChanged,
  pairWorkloads,
} from '../features/cost/cost-changes.ts';
import { costRows } from '../features/cost/cost-rows.ts';
import { mayInstallCharts } from '../model/chart-installs.ts';
import type { ChangedFile, CostChangesParams, CostChangesResult } from './cost-protocol.ts';
import { canceled, guard, yieldOnce } from './guard.ts';
import { lineIndex } from './line-index.ts';
import { methods } from './protocol.ts';
import type { Session } from './session.ts';

interface Compared extends ComparedCost {
  readonly uri: string;
}

/** The change of the cost of several files since the last commit, whose texts the client sends. */
export function registerCostChanges(session: Session): void {
  const { connection, documents, projects, host, log } = session;
  const nothing: CostChangesResult = { title: '', changes: [] };

  connection.onRequest(
    methods.costChanges,
    guard<CostChangesParams, CostChangesResult>(log, methods.costChanges, nothing, async ({ files }, token) => {
      const before: Compared[] = [];
      const after: Compared[] = [];
      for (const file of files) {
        await yieldOnce();
        if (token.isCancellationRequested) throw canceled();
        const found = await analyze(file);
        if (found === undefined) continue;
        after.push(...compared(found, file));
        if (file.base !== null) before.push(...found.withText(file.base, (base) => compared(base, file)));
      }
      return inWords(pairWorkloads(before, after).filter(isChanged));
    }),
  );

  /** A file that is gone is empty. */
  async function analyze({ uri }: ChangedFile): Promise<FileAnalysis | undefined> {
    if (documents.get(uri) !== undefined) return (await session.update(uri))?.file;
    if (await projects.isIgnored(uri)) return undefined;
    const config = await projects.configOf(uri);
    const text = (await host.readFile(uri)) ?? '';
    const relatedFiles = await session.relatedFiles.relatedFilesOf(uri, mayInstallCharts(text));
    return projects.analysis.peek(uri, text, config, relatedFiles);
  }
}

function compared(file: FileAnalysis, { uri, path }: ChangedFile): readonly Compared[] {
  const lines = lineIndex(file.text);
  return costRows(file).map((row) => ({ ...row, uri, path, line: lines.toPosition(row.start).line }));
}

function inWords(changes: readonly CostChange<Compared>[]): CostChangesResult {
  let total: Increase = { min: 0, max: 0 };
  let unknown = 0;
  for (const change of changes) {
    const increase = increaseOf(change);
    if (increase === null) unknown += 1;
    else
      total = {
        min: total.min + increase.min,
        max: total.max + increase.max,
        ...((total.isOpen || increase.isOpen) && { isOpen: true }),
      };
  }
  const note = unknown === 0 ? '' : `, and ${unknown} without a price`;
  return {
    title:
      changes.length === 0
        ? 'GPU cost unchanged against HEAD'
        : `GPU cost against HEAD: ${increaseWords(unknown === changes.length ? null : total)}${note}`,
    changes: changes.flatMap((change) => {
      const { before, after } = change;
      const place = after ?? before;
      if (place === null) return [];
      const state = before === null ? 'new, ' : after === null ? 'removed, ' : '';
      return [
        {
          uri: place.uri,
          line: after === null ? null : place.line,
          label: `${nameOf(place)}  ${changedAmount(change)}`,
          description: `${state}${gpusWords(change)} · ${place.path}`,
        },
      ];
    }),
  };
}
