import https from 'node:https';
import { createInterface } from 'node:readline';
import type { KubeConfig } from '@kubernetes/client-node';

/** A response of an API server, whose body has not been read yet. */
export interface ApiResponse {
  readonly status: number;
  /** The whole body. */
  readonly text: () => Promise<string>;
  /** The body as it arrives, line by line; it ends with the connection, also when that drops. */
  readonly lines: () => AsyncIterable<string>;
}

/** Reads from an API server. Nothing else is possible through it: every request is a GET. */
export interface ApiServer {
  /**
   * @param path with its query, `/api/v1/nodes?limit=500`
   * @throws {Error} if there is no connection or `signal` is aborted
   */
  readonly get: (path: string, signal: AbortSignal) => Promise<ApiResponse>;
}

/** An answer that takes longer to start means that the server is not there. */
const answerMilliseconds = 30_000;

/**
 * The API server of the current context. Credentials are applied to each request, so tokens that a plugin renews are always fresh; a plugin is
 * a program that the kubeconfig names, so call this only for trusted workspaces.
 */
export function apiServerOf(config: KubeConfig): ApiServer {
  const base = config.getCurrentCluster()?.server ?? '';
  return {
    async get(path, signal) {
      const options: https.RequestOptions = { headers: { accept: 'application/json' }, signal };
      await config.applyToHTTPSOptions(options);
      return request(new URL(base.replace(/\/$/, '') + path), options);
    },
  };
}

function request(url: URL, options: https.RequestOptions): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const sent = https.request(url, options, (response) => {
      sent.setTimeout(0);
      response.setEncoding('utf8');
      resolve({
        status: response.statusCode ?? 0,
        async text() {
          const parts: string[] = [];
          for await (const part of response) parts.push(String(part));
          return parts.join('');
        },
        lines: () => createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY }),
      });
    });
    sent.setTimeout(answerMilliseconds, () => sent.destroy(new Error('the API server does not answer')));
    sent.on('error', reject);
    sent.end();
  });
}
