import http from 'node:http';
import https from 'node:https';
import { createInterface } from 'node:readline';
import type { KubeConfig } from '@kubernetes/client-node';
import { CredentialError, connectionWords } from './connection-words.ts';

/** A response of an API server, whose body has not been read yet. */
export interface ApiResponse {
  readonly status: number;
  /** The whole body. Rejects if it stalls. */
  readonly text: () => Promise<string>;
  /** The body as it arrives. Rejects if it stalls or breaks off. */
  readonly parts: () => AsyncIterable<unknown>;
  /** The body as it arrives, line by line; it ends with the connection, also when that drops. */
  readonly lines: () => AsyncIterable<string>;
}

/** Reads from an API server. Nothing else is possible through it: every request is a GET. */
export interface ApiServer {
  /**
   * @param path with its query, `/api/v1/nodes?limit=500`
   * @throws {CredentialError} if there are no credentials
   * @throws {Error} with a sentence for users if there is no connection, or if `signal` is aborted
   */
  readonly get: (path: string, signal: AbortSignal) => Promise<ApiResponse>;
  /** Closes all connections. Requests that wait fail, and watches end. */
  readonly reset: () => void;
}

/** An answer that takes longer to start or to continue means that the server is not there. */
const answerMilliseconds = 30_000;
/** A watch has a bookmark about every minute, and the server ends it after 290 s. */
const watchMilliseconds = 320_000;
/** Tokens in files are replaced every few minutes. */
const credentialMilliseconds = 60_000;

interface Login {
  readonly base: string;
  readonly options: https.RequestOptions;
}

/**
 * The API server of the current context. Credentials are applied again every minute, and the kubeconfig is read again after the server has rejected
 * them, because the user may have logged in meanwhile. A kubeconfig can name a program to run, so call this only for trusted workspaces.
 * @param load reads the kubeconfig. Errors that it throws are those of the request
 */
export function apiServerOf(load: () => KubeConfig, now: () => number = Date.now): ApiServer {
  let config: KubeConfig | undefined;
  let login: Promise<Login> | undefined;
  let made = 0;

  async function logIn(before: Login | undefined): Promise<Login> {
    config ??= load();
    const base = (config.getCurrentCluster()?.server ?? '').replace(/\/$/, '');
    const options: https.RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw error instanceof CredentialError ? error : new CredentialError(connectionWords(error));
    }
    const { agent } = options;
    if (agent instanceof http.Agent) (agent as { keepAlive?: boolean }).keepAlive = true;
    // The agent keeps connections, so it changes only with the certificate of the user.
    const isSame = before !== undefined && before.base === base && certificate(before) === certificate({ options });
    return { base, options: isSame ? { ...options, agent: before.options.agent } : options };
  }

  /** One login for all requests that need it at the same time. */
  function current(): Promise<Login> {
    if (login === undefined || Math.abs(now() - made) > credentialMilliseconds) {
      const before = login?.catch(() => undefined) ?? Promise.resolve(undefined);
      login = before.then(logIn);
      made = now();
    }
    return login;
  }

  async function get(path: string, signal: AbortSignal): Promise<ApiResponse> {
    const { base, options } = await current().catch((error: unknown) => {
      forget();
      throw error;
    });
    const sent = { ...options, signal, headers: { ...options.headers, accept: 'application/json' } };
    const response = await request(new URL(base + path), sent);
    if (response.status === 401) forget();
    return response;
  }

  function forget(): void {
    login = undefined;
    config = undefined;
  }

  return {
    get,
    reset() {
      void login?.then(
        ({ options }) => {
          if (options.agent instanceof http.Agent) options.agent.destroy();
        },
        () => undefined,
      );
    },
  };
}

function certificate({ options: { cert, key, ca } }: Pick<Login, 'options'>): string {
  return [cert, key, ca].map((part) => (part === undefined ? '' : String(part))).join('|');
}

function request(url: URL, options: https.RequestOptions): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const protocol = url.protocol === 'http:' ? http : https;
    const sent = protocol.request(url, options, (response) => {
      response.setEncoding('utf8');
      resolve({
        status: response.statusCode ?? 0,
        async text() {
          const parts: string[] = [];
          for await (const part of response) parts.push(String(part));
          return parts.join('');
        },
        parts: () => response,
        lines() {
          sent.setTimeout(watchMilliseconds);
          return createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY });
        },
      });
    });
    sent.setTimeout(answerMilliseconds, () => sent.destroy(new Error('the API server does not respond')));
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server has closed a connection that was kept for the next request.
      if (sent.reusedSocket && error.code === 'ECONNRESET' && options.signal?.aborted !== true)
        request(url, options).then(resolve, reject);
      else reject(new Error(connectionWords(error)));
    });
    sent.end();
  });
}
