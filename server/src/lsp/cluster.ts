import { type ClusterClient, createClusterClient, type StartThread } from '../cluster/client.ts';
import { ownPricesText } from '../cluster/own-prices.ts';
import type { MachineSettings } from '../config/schema.ts';
import { poolChange } from '../features/actions/use-pool.ts';
import {
  type ClusterChangedParams,
  type ClusterConnectParams,
  type ClusterConnectResult,
  type ClusterContextsParams,
  type ClusterContextsResult,
  type ClusterDrawing,
  type ClusterDrawn,
  type ClusterNodesParams,
  type ClusterNodesResult,
  type ClusterUsePoolParams,
  clusterMethods,
} from './cluster-protocol.ts';
import { guard, guarded } from './guard.ts';
import { foldersOf } from './initialize.ts';
import { linesOf } from './line-index.ts';
import type { ClientOptions, EditResult } from './protocol.ts';
import type { Session } from './session.ts';
import { machineSettingsFrom } from './settings.ts';
import { editsToLsp } from './to-lsp.ts';

/** What the other parts of the server do when something about the cluster changes. */
export interface ClusterFollowers {
  /** The figures of the cluster: what is shown may be outdated. */
  figuresChanged(): void;
  /** Answers to questions of analyses, or the cluster is another one. */
  answersChanged(): void;
}

/** Connects to clusters when the client asks for it. @param start undefined if threads cannot be started */
export function registerCluster(session: Session, start: StartThread | undefined, followers: ClusterFollowers): void {
  const { connection, log } = session;
  const { workspace } = session.projects.analysis;
  let hasTrust = false;
  let hadFigures = false;
  const client: ClusterClient | undefined =
    start &&
    createClusterClient(start, {
      statusChanged(status) {
        const { view, ...others } = status;
        const params: ClusterChangedParams = {
          ...others,
          asOf: view?.asOf ?? null,
        };
        void guarded(log, 'clusterChanged', () => connection.sendNotification(clusterMethods.changed, params));
      },
      figuresChanged() {
        const cluster = client?.live();
        workspace.setCluster(cluster);
        followers.figuresChanged();
        if (hadFigures !== (cluster !== undefined)) followers.answersChanged();
        hadFigures = cluster !== undefined;
      },
      answersChanged() {
        workspace.setCluster(client?.live());
        followers.answersChanged();
      },
    });

  /** Why nothing of a kubeconfig may be read; undefined if it may. */
  function obstacle(): string | undefined {
    if (client === undefined) return 'gpulint connects to clusters only on the desktop and on remote machines';
    const options = session.params?.initializationOptions as ClientOptions | undefined;
    if (hasTrust || options?.trusted === true) return undefined;
    return 'The workspace is not trusted: a kubeconfig can name programs to run, so trust the workspace first';
  }

  async function settings(): Promise<MachineSettings['cluster']> {
    let value: unknown;
    if (session.params?.capabilities.workspace?.configuration === true)
      await guarded(log, 'workspace/configuration', async () => {
        value = await connection.workspace.getConfiguration({ section: 'gpulint' });
      });
    return machineSettingsFrom(value).cluster;
  }

  connection.onNotification(clusterMethods.trusted, () => {
    hasTrust = true;
  });
  connection.onRequest(
    clusterMethods.connect,
    guard(log, clusterMethods.connect, failed, async (params: ClusterConnectParams): Promise<ClusterConnectResult> => {
      const problem = obstacle();
      if (problem !== undefined) return { problem };
      const { kubeconfig, context, namespace, prometheusUrl: url, prometheusTokenFile: file } = await settings();
      const [folder = 'untitled:'] = session.params === undefined ? [] : foldersOf(session.params);
      client?.connect({
        kubeconfig: params.kubeconfig ?? kubeconfig,
        context: params.context ?? context,
        namespace,
        prometheus: { url, token: file === null ? null : { file } },
        prices: ownPricesText(await session.projects.configOf(`${folder}/cluster.yaml`)),
      });
      return { problem: null };
    }),
  );
  connection.onRequest(
    clusterMethods.contexts,
    guard(
      log,
      clusterMethods.contexts,
      { contexts: [], ...failed },
      async (params: ClusterContextsParams): Promise<ClusterContextsResult> => {
        const problem = obstacle() ?? null;
        if (problem !== null || client === undefined) return { contexts: [], problem };
        return client.contexts(params.kubeconfig ?? (await settings()).kubeconfig);
      },
    ),
  );
  connection.onRequest(
    clusterMethods.nodes,
    guard(
      log,
      clusterMethods.nodes,
      [],
      async ({ pool }: ClusterNodesParams): Promise<ClusterNodesResult> => (await client?.nodes(pool)) ?? [],
    ),
  );
  connection.onRequest(
    clusterMethods.draw,
    guard(
      log,
      clusterMethods.draw,
      null,
      async (drawing: ClusterDrawing): Promise<ClusterDrawn | null> => (await client?.draw(drawing)) ?? null,
    ),
  );
  connection.onRequest<EditResult, void>(
    clusterMethods.usePool,
    guard(
      log,
      clusterMethods.usePool,
      { problem: failed.problem },
      async ({ uri, position, pool: id }: ClusterUsePoolParams): Promise<EditResult> => {
        const pool = client?.live()?.view.pools.find((one) => one.id === id);
        if (pool === undefined) return { problem: 'The pool no longer exists.' };
        const found = await session.analyzed(uri);
        if (found === undefined) return { problem: 'Place the cursor in a workload that requests GPUs.' };
        const lines = linesOf(found.file);
        const change = poolChange(found.file, lines.fromPosition(position), pool);
        return 'problem' in change ? change : { edit: editsToLsp(change.edits, found.document, lines, session.client) };
      },
    ),
  );
  connection.onRequest(clusterMethods.disconnect, () => {
    client?.disconnect();
    return null;
  });
}

const failed = { problem: 'Something went wrong; the gpulint output shows the error' };
