import { type Connection, connect, type Surroundings, sentence } from './connection.ts';
import { listContexts, type Machine } from './kubeconfig.ts';
import type { ClusterContexts, FromCluster, ToCluster } from './messages.ts';

/** The other end of the thread. */
export interface Port {
  readonly post: (message: FromCluster) => void;
  readonly receive: (handle: (message: ToCluster) => void) => void;
  /** Ends the thread. */
  readonly close: () => void;
}

/** Serves one cluster after another, until it is disconnected. Before the first `connect` or `contexts`, nothing is read. */
export function serve(port: Port, surroundings: Surroundings): void {
  let stop = new AbortController();
  let connection: Connection | undefined;
  port.receive((message) => {
    switch (message.kind) {
      case 'connect':
        stop.abort();
        stop = new AbortController();
        connection = connect(message.settings, surroundings, stop.signal, port.post);
        return;
      case 'disconnect':
        stop.abort();
        port.close();
        return;
      case 'contexts':
        port.post({ kind: 'contexts', id: message.id, result: contextsIn(message.kubeconfig, surroundings.machine) });
        return;
      case 'nodes':
        port.post({ kind: 'nodes', id: message.id, nodes: connection?.nodes(message.pool) ?? [] });
        return;
      case 'draw':
        port.post({ kind: 'drawn', id: message.id, drawn: connection?.draw(message.drawing) ?? null });
        return;
      case 'ask':
        connection?.ask(message);
        return;
      case 'forget':
        connection?.forget(message.key);
    }
  });
}

function contextsIn(kubeconfig: string | null, machine: Machine): ClusterContexts {
  try {
    const contexts = listContexts(kubeconfig, machine);
    return { contexts, problem: contexts.length === 0 ? 'The kubeconfig has no contexts' : null };
  } catch (error) {
    return { contexts: [], problem: sentence(error) };
  }
}
