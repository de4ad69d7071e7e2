import type { Place } from './place.ts';
import { type Places, placesOf } from './places.ts';
import { createSlips, type Slips } from './slips.ts';
import type { FileSummary } from './summary.ts';

/** A file that is seen. */
export interface SeenFile extends Place {
  readonly uri: string;
  readonly summary: FileSummary;
}

/** By what word a thing is found; undefined: by none. */
export type WordOf<T> = (one: T) => string | undefined;

/** What all files say of one kind, found by words. A change of a file costs what that file says, and the words that it changes. */
export interface Shelf<T extends Place> {
  /** @param after undefined where the file says nothing more of the kind */
  change(key: string, after: SeenFile | undefined): void;
  /** @param name one that a file must say; a file that is known not to say it is not read. Left out: every file is read */
  find(wordOf: WordOf<T>, word: string, name?: string): Places<T>;
  /** How many there are, without putting them in order. @param name as above */
  count(wordOf: WordOf<T>, word: string, name: string): Count;
  /** The names that something may have and that are one slip of the keys from this one. */
  slips(name: string): readonly string[];
}

/** How many things one word finds. It follows later changes. */
export interface Count {
  readonly all: number;
  /** By normalised URI. */
  readonly inFile: ReadonlyMap<string, number>;
  /** By the URI up to its last slash. */
  readonly inFolder: ReadonlyMap<string, number>;
}

/** @param read what a file says; @param nameOf the name that a thing has */
export function createShelf<T extends Place>(read: (file: SeenFile) => readonly T[], nameOf: WordOf<T>): Shelf<T> {
  /** What was read, by file. */
  const known = new Map<string, readonly T[]>();
  /** Files to be read with the first question. */
  const waiting = new Map<string, SeenFile>();
  /** Files to be read only for a name that they say, by their names from the first question on. */
  const unread = new Map<string, SeenFile>();
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

  function noteUnread({ key, summary }: SeenFile): void {
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

  function take(file: SeenFile): void {
    forget(file.key);
    const things = read(file);
    known.set(file.key, things);
    for (const view of views.values()) view.add(file.key, things);
  }

  function takeAll(files: Iterable<SeenFile | undefined>): void {
    for (const file of [...files]) if (file !== undefined) take(file);
  }

  function takeAllThatSay(name: string | undefined): void {
    takeAll(waiting.values());
    if (name === undefined) takeAll(unread.values());
    else if (unread.size > 0) takeAll([...(namesUnread().get(name) ?? [])].map((key) => unread.get(key)));
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
      takeAllThatSay(name);
      return viewOf(wordOf).at(word);
    },
    count(wordOf, word, name) {
      takeAllThatSay(name);
      return viewOf(wordOf).count(word);
    },
    slips(name) {
      takeAll(waiting.values());
      if (slips === undefined) {
        slips = createSlips();
        for (const one of [...viewOf(nameOf).words(), ...namesUnread().keys()]) slips.set(one, true);
      }
      return slips.near(name);
    },
  };
}

/** Things by one kind of word. */
interface View<T extends Place> {
  add(key: string, things: readonly T[]): void;
  remove(key: string, things: readonly T[]): void;
  at(word: string): Places<T>;
  count(word: string): Count;
  has(word: string): boolean;
  words(): Iterable<string>;
}

/** @param note called with each word that comes or goes */
function createView<T extends Place>(wordOf: WordOf<T>, note: (word: string) => void = () => undefined): View<T> {
  const byWord = new Map<string, Map<string, T[]>>();
  const places = new Map<string, Places<T>>();
  const nothing = placesOf<T>([]);
  /** Of the words that were counted once. */
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
        // Gone already with an earlier thing of the same word.
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
      const made = places.get(word) ?? placesOf(sorted());
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
