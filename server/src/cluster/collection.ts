import { at, text } from '../fleet/json.ts';
import type { Change, CollectionState } from './list-watch.ts';

/** Whether the objects of a collection are known. `waiting`: the server has not answered yet. */
export type CopyState = CollectionState['kind'] | 'waiting' | 'listing';

/** The objects of a collection, each reduced to what is needed of it. */
export interface Collection<T> {
  /** An object that has not changed stays the same value, also when the collection is listed again. */
  readonly values: () => readonly T[];
  readonly state: () => CopyState;
  /** Why it is not current; an empty text if it is. */
  readonly message: () => string;
  /** All objects have been listed at least once. */
  readonly isComplete: () => boolean;
  /** How many objects have been listed so far. */
  readonly count: () => number;
  /** @returns whether a value has changed */
  readonly apply: (change: Change) => boolean;
}

interface Entry<T> {
  readonly version: string;
  /** Undefined if nothing is needed of the object. */
  readonly value: T | undefined;
}

/** @param read returns what is needed of an object; undefined if it is not needed at all */
export function createCollection<T>(read: (object: unknown) => T | undefined): Collection<T> {
  const entries = new Map<string, Entry<T>>();
  let listed: Set<string> | undefined;
  let state: CopyState = 'waiting';
  let message = '';
  let isComplete = false;
  let values: readonly T[] | undefined;

  function put(object: unknown): boolean {
    const key = keyOf(object);
    listed?.add(key);
    const version = text(at(object, 'metadata', 'resourceVersion')) ?? '';
    const before = entries.get(key);
    if (before !== undefined && version !== '' && before.version === version) return false;
    const value = read(object);
    entries.set(key, { version, value });
    return value !== undefined || before?.value !== undefined;
  }

  function endList(): boolean {
    let removed = false;
    for (const key of entries.keys()) {
      if (listed?.has(key) === true) continue;
      entries.delete(key);
      removed = true;
    }
    listed = undefined;
    isComplete = true;
    return removed;
  }

  function changes(change: Change): boolean {
    switch (change.kind) {
      case 'list-start':
        listed = new Set();
        // Trying again is not a success: the failure lasts until an object or the end of the list arrives.
        if (!isFailure(state)) state = 'listing';
        return false;
      case 'object':
        if (listed !== undefined) state = 'listing';
        return put(change.object);
      case 'list-end':
        return endList();
      case 'deleted':
        return entries.delete(keyOf(change.object));
      case 'state':
        state = change.state.kind;
        message = 'message' in change.state ? change.state.message : '';
        return false;
    }
  }

  return {
    values() {
      values ??= [...entries.values()].flatMap(({ value }) => value ?? []);
      return values;
    },
    state: () => state,
    message: () => message,
    isComplete: () => isComplete,
    count: () => entries.size,
    apply(change) {
      const changed = changes(change);
      if (changed) values = undefined;
      return changed;
    },
  };
}

function isFailure(state: CopyState): boolean {
  return state === 'unauthorized' || state === 'unreachable' || state === 'forbidden';
}

function keyOf(object: unknown): string {
  const metadata = at(object, 'metadata');
  return text(at(metadata, 'uid')) ?? `${text(at(metadata, 'namespace')) ?? ''}/${text(at(metadata, 'name')) ?? ''}`;
}
