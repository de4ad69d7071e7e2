import type { CancellationToken, WorkDoneProgressReporter } from 'vscode-languageserver';
import { normalizeUri, pathBelow } from '../config/places.ts';
import { isListed } from '../features/cost/cost-rows.ts';
import { totalOf } from '../features/cost/cost-totals.ts';
import { amountWords, costTree, type TreeNode, totalWords } from '../features/cost/cost-tree.ts';
import { type CountedFile, countedElsewhere } from '../features/cost/counted-elsewhere.ts';
import { priceBasis, priceDates } from '../features/cost/price-basis.ts';
import type {
  CostNode,
  CostTreeParams,
  CostTreeResult,
  WorkspaceCostsParams,
  WorkspaceCostsResult,
} from './cost-protocol.ts';
import { canceled, createSlices, guard, guarded } from './guard.ts';
import type { Indexing } from './indexing.ts';
import { methods } from './protocol.ts';
import type { Session } from './session.ts';
import type { KeptAnalysis, PlacedRow, PlacedSaving, WorkspaceAnalyses } from './workspace-analyses.ts';

/** The costs of all files of the workspace. */
export interface WorkspaceCosts {
  /** Handles any change that can change a cost: tells the client once that its last answer may be outdated. */
  changed(): void;
  /** The current costs, with savings. Rejects if the request is canceled. */
  withSavings(params: WorkspaceCostsParams, token: CancellationToken): Promise<Costs>;
  /** Resolves when no costs are being computed, which take precedence over work that nobody waits for. */
  idle(): Promise<void>;
}

interface InFile {
  readonly uri: string;
  readonly path: string;
}
type FileRow = PlacedRow & InFile;

/** What the files of the workspace cost. */
export interface Costs {
  readonly rows: readonly FileRow[];
  /** Empty if they were not requested. */
  readonly savings: readonly (PlacedSaving & InFile)[];
  readonly priceBasis: string | undefined;
  readonly priceDates: string | undefined;
}

export function registerWorkspaceCosts(
  session: Session,
  analyses: WorkspaceAnalyses,
  indexing: Pick<Indexing, 'folders' | 'indexed'>,
): WorkspaceCosts {
  const { connection, log } = session;
  /** The client has an answer, and does not know yet that it may be outdated. */
  let isAnswered = false;
  let changes = 0;
  let running = 0;
  const waiting = new Set<() => void>();

  async function costsOf(params: WorkspaceCostsParams, token: CancellationToken, savings = false): Promise<Costs> {
    const progress = progressOf(params);
    running += 1;
    progress?.begin('GPU cost', 0, undefined, true);
    try {
      const before = changes;
      await Promise.race([indexing.indexed(), new Promise((resolve) => token.onCancellationRequested(resolve))]);
      const found = await analyzeAll(token, progress, savings);
      isAnswered = true;
      if (changes !== before) changed();
      return costsIn(found);
    } finally {
      progress?.done();
      running -= 1;
      if (running === 0) for (const wake of waiting) wake();
      if (running === 0) waiting.clear();
    }
  }

  function progressOf({ workDoneToken }: WorkspaceCostsParams): WorkDoneProgressReporter | undefined {
    if (workDoneToken === undefined || workDoneToken === null) return undefined;
    return connection.window.attachWorkDoneProgress(workDoneToken);
  }

  async function analyzeAll(
    token: CancellationToken,
    progress: WorkDoneProgressReporter | undefined,
    savings: boolean,
  ): Promise<readonly KeptAnalysis[]> {
    const files = analyses.files();
    const found: KeptAnalysis[] = [];
    const slice = createSlices();
    let shown = 0;
    for (const [done, file] of files.entries()) {
      if (token.isCancellationRequested) throw canceled();
      await guarded(log, `reading ${file.uri}`, async () => {
        const one = await analyses.update(file, undefined, savings);
        if (one !== undefined) found.push(one);
      });
      const percent = Math.floor((100 * done) / files.length);
      if (percent > shown) progress?.report(percent);
      shown = percent;
      await slice();
    }
    return found;
  }

  function costsIn(found: readonly KeptAnalysis[]): Costs {
    const folders = indexing.folders();
    const files = found.map((one): CountedFile & { readonly kept: KeptAnalysis } => {
      const { uri, hasAccelerators, rows, parts, installed } = one;
      const name = normalizeUri(uri);
      const own = {
        ...{ name, kept: one, hasAccelerators, rows: rows.map(({ row }) => row) },
        ...(installed && { installed: installed.map(normalizeUri) }),
      };
      return parts === undefined ? own : { ...own, parts: new Set([...parts].map(normalizeUri)) };
    });
    const elsewhere = countedElsewhere(files);
    const counted = files.filter(({ name }) => !elsewhere.has(name)).map(({ kept }) => kept);
    const rows = counted.flatMap(({ uri, rows: all }) => {
      const path = shownPath(uri, folders);
      return all.filter(({ row }) => isListed(row)).map((one) => ({ ...one, uri, path }));
    });
    rows.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.row.start - b.row.start));
    const savings = found.flatMap(({ uri, savings: some = [] }) => {
      const path = shownPath(uri, folders);
      return some.map((one) => ({ ...one, uri, path }));
    });
    const estimates = counted.flatMap((one) => one.estimates);
    return { rows, savings, priceBasis: priceBasis(estimates), priceDates: priceDates(estimates) };
  }

  function changed(): void {
    changes += 1;
    if (!isAnswered) return;
    isAnswered = false;
    void guarded(log, methods.costsChanged, () => connection.sendNotification(methods.costsChanged));
  }

  const nothing: Costs = { rows: [], savings: [], priceBasis: undefined, priceDates: undefined };

  connection.onRequest(
    methods.workspaceCosts,
    guard<WorkspaceCostsParams, WorkspaceCostsResult>(
      log,
      methods.workspaceCosts,
      toResult(nothing),
      async (params, token) => toResult(await costsOf(params, token)),
    ),
  );
  connection.onRequest(
    methods.costTree,
    guard<CostTreeParams, CostTreeResult>(log, methods.costTree, toTree(nothing), async (params, token) =>
      toTree(await costsOf(params, token), params),
    ),
  );

  return {
    changed,
    withSavings: (params, token) => costsOf(params, token, true),
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
  };
}

function toResult({ rows, priceBasis: basis }: Costs): WorkspaceCostsResult {
  return {
    rows: rows.map(({ row: { span: _, start: __, readWith: ___, ...row }, uri, path, range }) => ({
      ...row,
      uri,
      path,
      range,
    })),
    total: totalOf(rows.map(({ row }) => row)),
    priceBasis: basis ?? null,
  };
}

function toTree(
  { rows, priceDates: dates }: Costs,
  how: Pick<CostTreeParams, 'sort' | 'group'> = byCost,
): CostTreeResult {
  if (rows.length === 0) return { nodes: [], total: '', message: '' };
  const total = totalOf(rows.map(({ row }) => row));
  return {
    nodes: costTree(rows, how.sort, how.group).map(toNode),
    total: amountWords(total),
    message: `${totalWords(total)}.${dates === undefined ? '' : ` Prices ${dates}; 730 h per month.`}`,
  };
}

const byCost = { sort: 'cost', group: 'none' } as const;

function toNode({ leaf, children, ...texts }: TreeNode<FileRow>): CostNode {
  return {
    ...texts,
    ...(children && { children: children.map(toNode) }),
    ...(leaf && { place: { uri: leaf.uri, range: leaf.range } }),
  };
}

/** The path below the folder of the file; with several folders, it starts with the name of the folder. */
function shownPath(uri: string, folders: readonly string[]): string {
  for (const folder of folders) {
    const path = pathBelow(folder, uri);
    if (path === undefined) continue;
    const name = normalizeUri(folder.slice(folder.lastIndexOf('/') + 1));
    return folders.length > 1 ? `${name}/${path}` : path;
  }
  return normalizeUri(uri);
}
