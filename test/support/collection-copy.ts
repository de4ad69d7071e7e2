import type { ApiServer } from '../../server/src/cluster/api-server.ts';
import { type CollectionState, follow } from '../../server/src/cluster/list-watch.ts';
import { at, text } from '../../server/src/fleet/json.ts';

/** A copy of a collection that the code under test keeps current. */
export interface CollectionCopy {
  /** By name, with the namespace in front if there is one: `team/pod`. */
  readonly objects: ReadonlyMap<string, unknown>;
  readonly states: readonly CollectionState['kind'][];
  /** How often the collection has been listed. */
  readonly lists: () => number;
  /** Resolves when a change makes the condition true. */
  readonly until: (condition: () => boolean) => Promise<void>;
  /** The same, but gives false if that does not happen within 10 seconds. */
  readonly settles: (condition: () => boolean) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

/** Follows a collection, and tries again at once after a failure. */
export function copyOf(api: ApiServer, path: string): CollectionCopy {
  const objects = new Map<string, unknown>();
  const states: CollectionState['kind'][] = [];
  const stop = new AbortController();
  const checks = new Set<() => void>();
  let lists = 0;
  let listed = new Set<string>();
  const clock = { wait: () => new Promise<void>((resolve) => setImmediate(resolve)), random: () => 0.5, now: Date.now };
  const done = follow(api, path, clock, stop.signal, (change) => {
    if (change.kind === 'state') states.push(change.state.kind);
    else if (change.kind === 'list-start') {
      lists += 1;
      listed = new Set();
    } else if (change.kind === 'object') {
      objects.set(keyOf(change.object), change.object);
      listed.add(keyOf(change.object));
    } else if (change.kind === 'deleted') objects.delete(keyOf(change.object));
    else for (const key of objects.keys()) if (!listed.has(key)) objects.delete(key);
    for (const check of checks) check();
  });
  const until = (condition: () => boolean, signal?: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      const end = (met: boolean) => {
        checks.delete(check);
        resolve(met);
      };
      const check = () => {
        if (condition()) end(true);
      };
      checks.add(check);
      signal?.addEventListener('abort', () => end(false));
      check();
    });
  return {
    objects,
    states,
    lists: () => lists,
    async until(condition) {
      await until(condition);
    },
    settles: (condition) => until(condition, AbortSignal.timeout(10_000)),
    async stop() {
      stop.abort();
      await done;
    },
  };
}

function keyOf(object: unknown): string {
  const namespace = text(at(object, 'metadata', 'namespace'));
  return `${namespace === undefined ? '' : `${namespace}/`}${text(at(object, 'metadata', 'name'))}`;
}
