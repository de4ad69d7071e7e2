import { at, list, text } from '../fleet/json.ts';
import type { ApiServer } from './api-server.ts';
import { parsedJson } from './parsed-json.ts';

/** The versions of each API group that a server serves; undefined if the user may not know. */
export type Served = ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** @throws {Error} if there is no connection */
export async function servedGroups(api: ApiServer, signal: AbortSignal): Promise<Served> {
  const groups = await json(api, '/apis', signal);
  if (groups === undefined) return undefined;
  return new Map(
    list(at(groups, 'groups')).map((group) => [
      text(at(group, 'name')) ?? '',
      new Set(list(at(group, 'versions')).flatMap((version) => text(at(version, 'version')) ?? [])),
    ]),
  );
}

/** `v1.32.4`; null if unknown. */
export async function serverVersion(api: ApiServer, signal: AbortSignal): Promise<string | null> {
  const version = await json(api, '/version', signal).catch(() => undefined);
  return text(at(version, 'gitVersion'))?.slice(0, 100) ?? null;
}

async function json(api: ApiServer, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await api.get(path, signal);
  const body = await response.text();
  return response.status === 200 ? parsedJson(body) : undefined;
}
