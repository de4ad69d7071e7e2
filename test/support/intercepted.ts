import type { ApiServer } from '../../server/src/cluster/api-server.ts';

/** An API server as seen through a network that the test controls. */
export interface Intercepted extends ApiServer {
  /** Paths with query, as they were sent. */
  readonly requests: readonly string[];
  /** Breaks all connections. */
  readonly drop: () => void;
}

/** @param rewrite gives the path to send instead; it may take its time */
export function intercepted(
  api: ApiServer,
  rewrite: (path: string) => string | Promise<string> = (path) => path,
): Intercepted {
  const requests: string[] = [];
  let connection = new AbortController();
  return {
    requests,
    reset: api.reset,
    async get(path, signal) {
      const sent = await rewrite(path);
      requests.push(sent);
      return api.get(sent, AbortSignal.any([signal, connection.signal]));
    },
    drop() {
      const broken = connection;
      connection = new AbortController();
      broken.abort();
    },
  };
}
