import https from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { type ApiServer, apiServerOf } from '../../../server/src/cluster/api-server.ts';
import { at, text as textOf } from '../../../server/src/fleet/json.ts';

/** Full access to an API server, for tests. */
export interface Admin {
  /** The body is undefined if it is not JSON. */
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ readonly status: number; readonly body: unknown }>;
  /**
   * Creates an object in a collection, `/api/v1/nodes`, and gives it as stored.
   * @throws {Error} with the server's message
   */
  readonly create: (collection: string, object: unknown) => Promise<unknown>;
  /** Merges fields into an object, or into its status with `…/status`. */
  readonly patch: (path: string, change: unknown) => Promise<unknown>;
  /** Deletes an object at once; one that is not there is deleted. */
  readonly remove: (path: string) => Promise<void>;
  /**
   * Resolves when the condition is true, which is tried again and again.
   * @throws {Error} if it is not within a minute
   */
  readonly until: (condition: () => Promise<boolean>) => Promise<void>;
  /** The reading side, as the product uses it; with a token, as another user. */
  readonly reader: (token?: string) => ApiServer;
}

export function adminOf(config: KubeConfig): Admin {
  const request: Admin['request'] = async (method, path, body) => {
    const options: https.RequestOptions = {
      method,
      headers: {
        accept: 'application/json',
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
    };
    await config.applyToHTTPSOptions(options);
    return send(new URL((config.getCurrentCluster()?.server ?? '').replace(/\/$/, '') + path), options, body);
  };
  const checked = async (...args: Parameters<typeof request>) => {
    const { status, body } = await request(...args);
    if (status >= 300) throw new Error(`${args[0]} ${args[1]}: ${status} ${textOf(at(body, 'message')) ?? ''}`);
    return body;
  };
  const readers = new Map<string, ApiServer>();
  const reader = (token: string): ApiServer => {
    const cluster = config.getCurrentCluster();
    const other = new KubeConfig();
    if (cluster !== null) other.loadFromClusterAndUser(cluster, { name: 'other', token });
    return apiServerOf(() => (token === '' ? config : other));
  };
  return {
    request,
    create: (collection, object) => checked('POST', collection, object),
    patch: (path, change) => checked('PATCH', path, change),
    async remove(path) {
      const { status, body } = await request('DELETE', path, {
        gracePeriodSeconds: 0,
        propagationPolicy: 'Background',
      });
      if (status >= 300 && status !== 404) throw new Error(`DELETE ${path}: ${textOf(at(body, 'message')) ?? status}`);
    },
    async until(condition) {
      const bound = Date.now() + 60_000;
      while (!(await condition())) {
        if (Date.now() > bound) throw new Error(`not within a minute: ${condition}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    reader(token = '') {
      const known = readers.get(token) ?? reader(token);
      readers.set(token, known);
      return known;
    },
  };
}

function send(
  url: URL,
  options: https.RequestOptions,
  body: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = https.request(url, options, async (response) => {
      const parts: string[] = [];
      for await (const part of response.setEncoding('utf8')) parts.push(String(part));
      resolve({ status: response.statusCode ?? 0, body: parsed(parts.join('')) });
    });
    sent.on('error', reject);
    const text = body === undefined ? '' : JSON.stringify(body);
    // Node sends no body with DELETE unless its length is known.
    if (text !== '') sent.setHeader('content-length', Buffer.byteLength(text));
    sent.end(text);
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
