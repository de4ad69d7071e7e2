import { normalizeUri } from '../config/places.ts';
import type { Span } from '../yaml/span.ts';
import type { Reference } from './references.ts';
import type { FileSummary, ObjectSummary } from './summary.ts';

/** An object, and the file that it stands in. */
export interface Found {
  readonly uri: string;
  /** The folders of the file's path, from the root. */
  readonly folders: readonly string[];
  readonly fileName: string;
  readonly object: ObjectSummary;
}

/** A place that names an object, and the file that it stands in. */
export interface FoundReference extends Pick<Found, 'folders' | 'fileName'> {
  readonly reference: Reference;
}

interface File {
  readonly uri: string;
  readonly key: string;
  readonly folders: readonly string[];
  readonly fileName: string;
  readonly summary: FileSummary;
}

/**
 * The files that are seen together, as summaries. What an editor has open overrides what is on the disk. Nothing is read before somebody asks
 * for a kind: the kinds of a file are known from its text.
 */
export class Workspace {
  readonly #onDisk = new Map<string, File>();
  readonly #open = new Map<string, File>();
  /** Files by the kinds that they name. */
  readonly #byKind = new Map<string, Set<string>>();
  /** What was found of each kind; dropped when a document that names the kind changes. Places in it may be old. */
  readonly #answers = new Map<string, Map<string, readonly Found[]>>();
  readonly #versions = new Map<string, number>();
  #generation = 0;

  /** Changes whenever an answer may: what was found in one generation is as good as long as it lasts. */
  get generation(): number {
    return this.#generation;
  }

  /** @param layer `open` counts before `disk` */
  set(uri: string, summary: FileSummary, layer: 'disk' | 'open'): void {
    const key = normalizeUri(uri);
    const names = key.split('/');
    const fileName = names.pop() ?? '';
    const file = { uri, key, folders: names, fileName, summary };
    this.#change(key, () => (layer === 'open' ? this.#open : this.#onDisk).set(key, file));
  }

  delete(uri: string, layer: 'disk' | 'open'): void {
    const key = normalizeUri(uri);
    this.#change(key, () => (layer === 'open' ? this.#open : this.#onDisk).delete(key));
  }

  /** Every file that is seen, as it counts. */
  *files(): Generator<{ readonly uri: string; readonly summary: FileSummary }> {
    yield* this.#open.values();
    for (const file of this.#onDisk.values()) if (!this.#open.has(file.key)) yield file;
  }

  file(uri: string): { readonly uri: string; readonly summary: FileSummary } | undefined {
    return this.#fileAt(normalizeUri(uri));
  }

  /** Changes when something of a kind (without its group) may have changed, but for its place. */
  versionOf(kind: string): number {
    return this.#versions.get(kind) ?? 0;
  }

  /**
   * The objects of a kind (without its group) that `nameOf` finds under a name. Files that are known not to say the name are not read.
   * @param nameOf a named function: its name tells the answers apart
   */
  named(kind: string, name: string, nameOf: NameOf = ownName): readonly Found[] {
    return this.#remembered(kind, `${nameOf.name} ${name}`, (file) =>
      file.summary.names?.has(name) === false ? [] : (byName(file, kind, nameOf).get(name) ?? []),
    );
  }

  /** All objects of a kind (without its group). */
  all(kind: string): readonly Found[] {
    return this.#remembered(kind, '', (file) => file.summary.objects().filter((object) => object.kind === kind));
  }

  /**
   * The objects of a kind (without its group) in a folder and the folders above it. No other file is read for it.
   * @param isWanted by their names: a file that is known to say none of them is not read either
   */
  above(kind: string, folders: readonly string[], isWanted: (name: string) => boolean = () => true): readonly Found[] {
    const found: Found[] = [];
    for (const key of this.#byKind.get(kind) ?? []) {
      const file = this.#fileAt(key);
      if (file === undefined || !file.folders.every((folder, index) => folders[index] === folder)) continue;
      const { uri, fileName, summary } = file;
      if (summary.names !== undefined && ![...summary.names].some(isWanted)) continue;
      for (const object of summary.objects())
        if (object.kind === kind && isWanted(object.name)) found.push({ uri, folders: file.folders, fileName, object });
    }
    return found;
  }

  /** The places in files that name a kind (without its group) at which an object of some name is named. */
  naming(kind: string, name: string): readonly FoundReference[] {
    return [...(this.#byKind.get(kind) ?? [])].flatMap((key) => {
      const file = this.#fileAt(key);
      if (file === undefined || file.summary.names?.has(name) === false) return [];
      const { folders, fileName, summary } = file;
      return summary
        .references()
        .filter((reference) => reference.name === name)
        .map((reference) => ({ folders, fileName, reference }));
    });
  }

  /** An object that was found where it stands now: it may have moved in its file since. */
  placeOf({ uri, object }: Found): Span {
    const { origin } = object;
    const now =
      origin &&
      this.file(uri)
        ?.summary.objects()
        .find((one) => one.origin === origin);
    return (now ?? object).span;
  }

  #remembered(kind: string, question: string, find: (file: File) => readonly ObjectSummary[]): readonly Found[] {
    const answers = this.#answers.get(kind) ?? new Map<string, readonly Found[]>();
    this.#answers.set(kind, answers);
    const known = answers.get(question);
    if (known !== undefined) return known;
    const found = [...(this.#byKind.get(kind) ?? [])].flatMap((key) => {
      const file = this.#fileAt(key);
      if (file === undefined) return [];
      const { uri, folders, fileName } = file;
      return find(file).map((object) => ({ uri, folders, fileName, object }));
    });
    answers.set(question, found);
    return found;
  }

  #fileAt(key: string): File | undefined {
    return this.#open.get(key) ?? this.#onDisk.get(key);
  }

  #change(key: string, change: () => void): void {
    const before = this.#fileAt(key);
    change();
    const after = this.#fileAt(key);
    if (before === after) return;
    this.#generation += 1;
    for (const kind of before?.summary.kinds ?? []) this.#byKind.get(kind)?.delete(key);
    for (const kind of after?.summary.kinds ?? []) {
      const keys = this.#byKind.get(kind) ?? new Set();
      this.#byKind.set(kind, keys.add(key));
    }
    for (const kind of changedKinds(before?.summary, after?.summary)) {
      this.#answers.delete(kind);
      this.#versions.set(kind, this.versionOf(kind) + 1);
    }
  }
}

/** The kinds in documents that only one of two summaries has. A document that has merely moved is in both. */
function changedKinds(before: FileSummary | undefined, after: FileSummary | undefined): ReadonlySet<string> {
  const old = new Set(before?.parts);
  const now = new Set(after?.parts);
  const kindsOf = (summary: FileSummary | undefined, others: ReadonlySet<unknown>) =>
    summary?.parts === undefined
      ? [...(summary?.kinds ?? [])]
      : summary.parts.filter((part) => !others.has(part)).flatMap(({ kinds }) => [...kinds]);
  return new Set([...kindsOf(before, now), ...kindsOf(after, old)]);
}

const indexes = new WeakMap<FileSummary, Map<string, ReadonlyMap<string, readonly ObjectSummary[]>>>();

/** The objects of a kind in a file by name. */
function byName({ summary }: File, kind: string, nameOf: NameOf): ReadonlyMap<string, readonly ObjectSummary[]> {
  const ofFile = indexes.get(summary) ?? new Map<string, ReadonlyMap<string, readonly ObjectSummary[]>>();
  indexes.set(summary, ofFile);
  const question = `${kind} ${nameOf.name}`;
  const known = ofFile.get(question);
  if (known !== undefined) return known;
  const made = new Map<string, ObjectSummary[]>();
  for (const object of summary.objects()) {
    const name = object.kind === kind ? nameOf(object) : undefined;
    if (name === undefined) continue;
    const same = made.get(name) ?? [];
    made.set(name, same);
    same.push(object);
  }
  ofFile.set(question, made);
  return made;
}

/** By what name an object is found; undefined: by none. */
export type NameOf = (object: ObjectSummary) => string | undefined;

function ownName({ name }: ObjectSummary): string {
  return name;
}
