import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import { methods } from '../../server/src/lsp/protocol.ts';
import { showInformation, showWarning } from './show-notice.ts';

/** Runs `gpulint prices refresh` in a process. */
export type PriceRefresh = (run: {
  readonly sources: readonly string[];
  /** Whose config decides about regions; undefined without a folder. */
  readonly folder: string | undefined;
  readonly token: vscode.CancellationToken;
  /** Is called with each line of the progress, a JSON document. */
  readonly onLine: (line: string) => void;
}) => Promise<{ readonly isComplete: boolean; readonly errors: readonly string[] }>;

/** A line of `gpulint prices refresh --progress json`. */
interface PriceProgress {
  /** A step on the way, the result of a source, or how it ended. */
  readonly kind: 'step' | 'result' | 'end';
  readonly text: string;
  /** Sentences, of a result. */
  readonly problems?: readonly string[];
}

interface SourceItem extends vscode.QuickPickItem {
  readonly id: string;
}

const sources: readonly SourceItem[] = [
  { id: 'azure', label: 'Azure Retail Prices', description: 'prices.azure.com', picked: true },
  { id: 'skypilot', label: "SkyPilot's catalog", description: 'raw.githubusercontent.com', picked: true },
  {
    id: 'aws',
    label: 'AWS price list',
    description: 'pricing.us-east-1.amazonaws.com, spot-bid-advisor.s3.amazonaws.com; about 300 MB',
  },
  {
    id: 'gcp',
    label: 'Google Cloud Billing Catalog',
    description: 'cloudbilling.googleapis.com; with the key in GPULINT_GCP_API_KEY',
  },
];

/**
 * Fetches current list prices from the sources that the user selects, with progress. Nothing is fetched without this command, and nothing in a
 * workspace that is not trusted.
 * @param refresh undefined in a browser, which has no processes
 */
export async function refreshPrices(
  client: BaseLanguageClient,
  refresh: PriceRefresh | undefined,
  output: vscode.LogOutputChannel,
): Promise<void> {
  if (refresh === undefined) {
    void showInformation('Prices can be refreshed only in VS Code on the desktop, not in a browser.');
    return;
  }
  if (!vscode.workspace.isTrusted) {
    void showInformation('Prices can be refreshed only in a trusted workspace.');
    return;
  }
  const chosen = await vscode.window.showQuickPick(sources, {
    title: 'Refresh prices from public sources',
    placeHolder: 'gpulint connects only to the hosts selected here',
    canPickMany: true,
  });
  if (chosen === undefined || chosen.length === 0) return;
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath;
  const seen: PriceProgress[] = [];
  const progressAt = { location: vscode.ProgressLocation.Notification, title: 'Prices', cancellable: true };
  const { isComplete, errors } = await vscode.window.withProgress(progressAt, (progress, token) =>
    refresh({
      sources: chosen.map(({ id }) => id),
      folder,
      token,
      onLine(line) {
        const step = progressIn(line);
        if (step === undefined) return;
        if (step.kind === 'step') progress.report({ message: step.text });
        else seen.push(step);
      },
    }),
  );
  for (const { text, problems = [] } of seen) {
    output.info(text);
    for (const problem of problems) output.warn(problem);
  }
  for (const error of errors) output.warn(error);
  if (client.isRunning()) await client.sendNotification(methods.pricesChanged);
  await report(seen, isComplete, output);
}

/** A process that was ended may leave a part of a line. */
function progressIn(line: string): PriceProgress | undefined {
  try {
    return JSON.parse(line) as PriceProgress;
  } catch {
    return undefined;
  }
}

async function report(
  seen: readonly PriceProgress[],
  isComplete: boolean,
  output: vscode.LogOutputChannel,
): Promise<void> {
  if (isComplete) {
    const results = seen.filter(({ kind }) => kind === 'result').map(({ text }) => text);
    void showInformation(`${results.join('; ')}.`);
    return;
  }
  const end = seen.find(({ kind }) => kind === 'end')?.text ?? 'the prices could not be refreshed';
  const choice = await showWarning(`Prices: ${end}`, 'Show Output');
  if (choice !== undefined) output.show();
}
