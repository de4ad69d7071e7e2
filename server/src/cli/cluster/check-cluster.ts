import type { Analysis, FileAnalysis } from '../../analysis.ts';
import { createClusterClient } from '../../cluster/client.ts';
import { startClusterThread } from '../../cluster/thread.ts';
import { acceleratedWorkloads } from '../../features/hover/gpu-words.ts';
import type { PublishedView } from '../../fleet/cluster-view.ts';
import { warn } from '../terminal.ts';
import { lastingProblems } from './cluster.ts';
import { clusterFailure } from './failure.ts';

/** A cluster that a check asks whether workloads would run. */
export interface CheckCluster {
  /** The analysis of a file with the answers to all its questions. */
  answered(file: FileAnalysis): Promise<FileAnalysis>;
  view(): PublishedView | undefined;
  close(): void;
}

/**
 * Connects an analysis to a cluster.
 * @param context of the kubeconfig; null: the current one
 * @param prices of the project, as `ownPricesText` writes them
 * @throws UsageError if there is no connection, or if the user may not read the nodes
 */
export async function connectCheck(analysis: Analysis, context: string | null, prices: string): Promise<CheckCluster> {
  let wake: () => void = () => undefined;
  const changed = () => {
    analysis.workspace.setCluster(client.live());
    wake();
  };
  const client = createClusterClient(startClusterThread, {
    statusChanged: () => wake(),
    figuresChanged: changed,
    answersChanged: changed,
  });
  /** Resolves as soon as the condition is true. */
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      wake = () => {
        const { state, message } = client.status();
        if (state === 'failed' || (lastingProblems.has(state) && client.live() === undefined))
          reject(clusterFailure(message, 'set KUBECONFIG to the path of one'));
        else if (isTrue()) resolve();
      };
      wake();
    });
  const close = () => {
    wake = () => undefined;
    client.disconnect();
  };

  client.connect({ kubeconfig: null, context, namespace: null, prices, prometheus: null });
  try {
    await until(() => client.live() !== undefined);
  } catch (error) {
    close();
    throw error;
  }
  const { message } = client.status();
  if (message !== null) warn(message);
  return {
    async answered(file) {
      ask(file);
      if (client.isAnswered()) return file;
      await until(client.isAnswered);
      const now = analysis.file(file.uri) ?? file;
      ask(now);
      return now;
    },
    view: () => client.live()?.view,
    close,
  };
}

/** The answers arrive later, and are then recorded. */
function ask(file: FileAnalysis): void {
  for (const { workload, document } of acceleratedWorkloads(file)) document.fitOf(workload);
}
