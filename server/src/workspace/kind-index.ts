import type { Place } from './place.ts';
import { indexByPlace, type PlaceIndex } from './place-index.ts';
import { createSlips, type Slips } from './slips.ts';
import type { FileSummary } from './summary.ts';

/** A file of the workspace. */
export interface WorkspaceFile extends Place {
  readonly uri: string;
  readonly summary: FileSummary;
}

/** The word under which an item is indexed; undefined for no word. */
export type WordOf<T> = (one: T) => string | undefined;

/** The items of one kind in all files, indexed by words. The cost of a change is proportional to the items of the changed file. */
export interface KindIndex<T extends Place> {
  /** @param after undefined if the file no longer has items of the kind */
  change(key: string, after: WorkspaceFile | undefined): void;
  /** @param name a name that must occur in a file; files known not to contain it are not read. Without a name, all files are read */
  find(wordOf: WordOf<T>, word: string, name?: string): PlaceIndex<T>;
  /** The number of items, without sorting them. @param name as above */
  count(wordOf: WordOf<T>, word: string, name: string): Count;
  /** All items if there are fewer than two, else any two of them: not all files are read for that. */
  upToTwo(): readonly T[];
  /** The names of possible items that are one typo away from this one. */
  slips(name: string): readonly string[];
}

/** The number of items under one word, updated with later changes. */
export interface Count {
  readonly all: number;
  /** By normalized URI. */
  readonly inFile: ReadonlyMap<string, number>;
  /** By the URI up to its last slash. */
  readonly inFolder: ReadonlyMap<string, number>;
}

/** @param read the items of a file @param nameOf the name of an item */
export function createKindIndex<T extends Place>(
  read: (file: WorkspaceFile) => readonly T[],
  nameOf: WordOf<T>,
): KindIndex<T> {
  /** The items that were read, by file. */
  const known = new Map<string, readonly T[]>();
  /** Files to read on the next lookup. */
  const waiting = new Map<string, WorkspaceFile>();
  /** Files to read only on a lookup of a name that they contain. They are indexed by name from the first such lookup on. */
  const unread = new Map<string, WorkspaceFile>();
  let unreadByName: Map<string, Set<string>> | undefined;
  const views = new Map<WordOf<T>, View<T>>();
  let slips: Slips | undefined;

  function noteName(name: string): void {
    slips?.set(name, viewOf(nameOf).has(name) || unreadByName?.has(name) === true);
  }

  function viewOf(wordOf: WordOf<T>): View<T> {
    const before = views.get(wordOf);
    if (before !== undefined) return before;
    const view = createView(wordOf, wordOf === nameOf ? noteName : undefined);
    views.set(wordOf, view);
    for (const [key, things] of known) view.add(key, things);
    return view;
  }

  function noteUnread({ key, summary }: WorkspaceFile): void {
    for (const name of summary.names ?? []) {
      const keys = unreadByName?.get(name) ?? new Set();
      unreadByName?.set(name, keys.add(key));
      noteName(name);
    }
  }

  function namesUnread(): ReadonlyMap<string, ReadonlySet<string>> {
    if (unreadByName === undefined) {
      unreadByName = new Map();
      for (const file of unread.values()) noteUnread(file);
    }
    return unreadByName;
  }

  function forget(key: string): void {
    waiting.delete(key);
    const things = known.get(key) ?? [];
    for (const view of views.values()) view.remove(key, things);
    known.delete(key);
    const names = unread.get(key)?.summary.names ?? [];
    unread.delete(key);
    if (unreadByName === undefined) return;
    for (const name of names) {
      const keys = unreadByName.get(name);
      if (keys?.delete(key) && keys.size === 0) unreadByName.delete(name);
      noteName(name);
    }
  }

  function load(file: WorkspaceFile): void {
    forget(file.key);
    const things = read(file);
    known.set(file.key, things);
    for (const view of views.values()) view.add(file.key, things);
  }

  function loadAll(files: Iterable<WorkspaceFile | undefined>): void {
    for (const file of [...files]) if (file !== undefined) load(file);
  }

  function loadNaming(name: string | undefined): void {
    if (waiting.size > 0) loadAll(waiting.values());
    if (unread.size === 0) return;
    if (name === undefined) loadAll(unread.values());
    else loadAll([...(namesUnread().get(name) ?? [])].map((key) => unread.get(key)));
  }

  return {
    change(key, after) {
      forget(key);
      if (after === undefined) return;
      const isDeferred = after.summary.names !== undefined;
      (isDeferred ? unread : waiting).set(key, after);
      if (isDeferred && unreadByName !== undefined) noteUnread(after);
    },
    find(wordOf, word, name) {
      loadNaming(name);
      return viewOf(wordOf).at(word);
    },
    count(wordOf, word, name) {
      loadNaming(name);
      return viewOf(wordOf).count(word);
    },
    upToTwo() {
      const found: T[] = [];
      for (const things of known.values()) {
        found.push(...things.slice(0, 2));
        if (found.length > 1) return found.slice(0, 2);
      }
      for (const file of [...waiting.values(), ...unread.values()]) {
        load(file);
        found.push(...(known.get(file.key) ?? []));
        if (found.length > 1) return found.slice(0, 2);
      }
      return found;
    },
    slips(name) {
      loadAll(waiting.values());
      if (slips === undefined) {
        slips = createSlips();
        for (const one of [...viewOf(nameOf).words(), ...namesUnread().keys()]) slips.set(one, true);
      }
      return slips.near(name);
    },
  };
}

/** Items by one kind of word. */
interface View<T extends Place> {
  add(key: string, things: readonly T[]): void;
  remove(key: string, things: readonly T[]): void;
  at(word: string): PlaceIndex<T>;
  count(word: string): Count;
  has(word: string): boolean;
  words(): Iterable<string>;
}

/** @param note called with each word that is added or removed */
function createView<T extends Place>(wordOf: WordOf<T>, note: (word: string) => void = () => undefined): View<T> {
  const byWord = new Map<string, Map<string, T[]>>();
  const places = new Map<string, PlaceIndex<T>>();
  const nothing = indexByPlace<T>([]);
  /** Counts of words that were requested before. */
  const counts = new Map<string, ReturnType<typeof countOf>>();
  return {
    add(key, things) {
      for (const thing of things) {
        const word = wordOf(thing);
        if (word === undefined) continue;
        const files = byWord.get(word) ?? new Map<string, T[]>();
        const here = files.get(key);
        if (here !== undefined) here.push(thing);
        else files.set(key, [thing]);
        places.delete(word);
        counts.get(word)?.add(key, 1);
        if (byWord.get(word) === files) continue;
        byWord.set(word, files);
        note(word);
      }
    },
    remove(key, things) {
      for (const thing of things) {
        const word = wordOf(thing);
        if (word === undefined) continue;
        counts.get(word)?.add(key, -1);
        // Already removed with an earlier item of the same word.
        const files = byWord.get(word);
        if (files === undefined) continue;
        places.delete(word);
        if (!files.delete(key) || files.size > 0) continue;
        byWord.delete(word);
        note(word);
      }
    },
    at(word) {
      const files = byWord.get(word);
      if (files === undefined) return nothing;
      const sorted = () => [...files.keys()].sort().flatMap((key) => files.get(key) ?? []);
      const made = places.get(word) ?? indexByPlace(sorted());
      places.set(word, made);
      return made;
    },
    count(word) {
      const made = counts.get(word) ?? countOf(byWord.get(word) ?? new Map());
      counts.set(word, made);
      return made;
    },
    has: (word) => byWord.has(word),
    words: () => byWord.keys(),
  };
}

function countOf(files: ReadonlyMap<string, readonly unknown[]>): Count & { add(key: string, more: number): void } {
  const [inFile, inFolder] = [new Map<string, number>(), new Map<string, number>()];
  const count = {
    all: 0,
    inFile,
    inFolder,
    add(key: string, more: number) {
      count.all += more;
      addTo(inFile, key, more);
      addTo(inFolder, key.slice(0, key.lastIndexOf('/') + 1), more);
    },
  };
  for (const [key, things] of files) count.add(key, things.length);
  return count;
}

function addTo(counts: Map<string, number>, key: string, more: number): void {
  const now = (counts.get(key) ?? 0) + more;
  if (now === 0) counts.delete(key);
  else counts.set(key, now);
}
