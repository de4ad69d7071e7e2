import type { BaseLanguageClient } from 'vscode-languageclient';
import { type ClusterDrawing, type ClusterDrawn, clusterMethods } from '../../server/src/lsp/cluster-protocol.ts';

/** The cluster in words; null if no objects are known. */
export async function draw(client: BaseLanguageClient, drawing: ClusterDrawing): Promise<ClusterDrawn | null> {
  if (!client.isRunning()) return null;
  try {
    return await client.sendRequest<ClusterDrawn | null>(clusterMethods.draw, drawing);
  } catch (error) {
    // The server may be restarting; it then says that it is not connected.
    if (client.isRunning()) throw error;
    return null;
  }
}
