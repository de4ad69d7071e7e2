import { type ClusterClient, createClusterClient, type StartThread } from '../cluster/client.ts';
import type { MachineSettings } from '../config/schema.ts';
import {
  type ClusterConnectParams,
  type ClusterConnectResult,
  type ClusterContextsParams,
  type ClusterContextsResult,
  type ClusterNodesParams,
  type ClusterNodesResult,
  clusterMethods,
} from './cluster-protocol.ts';
import { guard, guarded } from './guard.ts';
import type { ClientOptions } from './protocol.ts';
import type { Session } from './session.ts';
import { machineSettingsFrom } from './settings.ts';

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
        void guarded(log, 'clusterChanged', () => connection.sendNotification(clusterMethods.changed, status));
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
      const { kubeconfig, context, namespace } = await settings();
      client?.connect({
        kubeconfig: params.kubeconfig ?? kubeconfig,
        context: params.context ?? context,
        namespace,
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
    clusterMethods.disconnect,
    guard(log, clusterMethods.disconnect, null, () => {
      client?.disconnect();
      return null;
    }),
  );
}

const failed: ClusterConnectResult = { problem: 'gpulint has failed; the output channel has the reason' };
