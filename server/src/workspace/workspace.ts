import { normalizeUri } from '../config/places.ts';
import type { ProjectConfig } from '../config.ts';
import type { LiveCluster } from '../fleet/fit-question.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import type { Span } from '../yaml/span.ts';
import { type Count, createKindIndex, type KindIndex, type WordOf, type WorkspaceFile } from './kind-index.ts';
import { claimUse } from './kinds.ts';
import { type Place, placeAt } from './place.ts';
import type { PlaceIndex } from './place-index.ts';
import type { Reference } from './references.ts';
import type { DocumentSummary, ObjectSummary } from './summary.ts';

/** An object, and the file that it is in. */
export interface Found extends Place {
  readonly uri: string;
  readonly object: ObjectSummary;
}

/** A reference to an object, and the file that it is in. */
export interface FoundReference extends Place {
  readonly reference: Reference;
}

/** What applies to a file besides its text. Each value is the same object as long as its content is the same. */
export interface FileContext {
  readonly config: ProjectConfig;
  readonly relatedFiles: RelatedFiles;
}

/**
 * The files that are analyzed together, as summaries. Files open in an editor take precedence over files on disk. A summary is computed only on
 * the first lookup of a kind that occurs in the file. Results depend only on the current files, never on the order of changes.
 */
export class Workspace {
  readonly #onDisk = new Map<string, WorkspaceFile>();
  readonly #open = new Map<string, WorkspaceFile>();
  readonly #objects = new Map<string, KindIndex<Found>>();
  readonly #claimUses = createKindIndex<FoundReference>(referencesIn, ({ reference }) => reference.name);
  readonly #contexts = new Map<string, FileContext>();
  readonly #versions = new Map<string, number>();
  #cluster: LiveCluster | undefined;
  #generation = 0;
  #watch: (isUnchanged: () => boolean) => void = () => undefined;

  /** Changes whenever a result may change, so that results are compared only then. */
  get generation(): number {
    return this.#generation;
  }

  /** @param layer `open` takes precedence over `disk` */
  set(uri: string, summary: WorkspaceFile['summary'], layer: 'disk' | 'open'): void {
    const place = placeAt(normalizeUri(uri));
    this.#change(place.key, layer, { ...place, uri, summary });
  }

  delete(uri: string, layer: 'disk' | 'open'): void {
    this.#change(normalizeUri(uri), layer, undefined);
  }

  /** @param context undefined if the file is closed */
  setContext(uri: string, context: FileContext | undefined): void {
    const key = normalizeUri(uri);
    const before = this.#contexts.get(key);
    if (context === undefined) this.#contexts.delete(key);
    else if (before?.config !== context.config || before.relatedFiles !== context.relatedFiles) {
      this.#contexts.set(key, context);
      this.#generation += 1;
    }
  }

  /** The connected cluster, on which the current lookup then depends; undefined without one. */
  get cluster(): LiveCluster | undefined {
    this.dependOn([clusterKind]);
    return this.#cluster;
  }

  /** Also called when its view or an answer has changed. */
  setCluster(cluster: LiveCluster | undefined): void {
    if (cluster === undefined && this.#cluster === undefined) return;
    this.#cluster = cluster;
    this.#generation += 1;
    this.#versions.set(clusterKind, this.stampOf([clusterKind]) + 1);
  }

  contextOf(uri: string): FileContext | undefined {
    return this.#contexts.get(normalizeUri(uri));
  }

  /** Runs a function that may set the file, then restores the file. */
  restoring<T>(uri: string, work: () => T): T {
    const key = normalizeUri(uri);
    const before = this.#open.get(key);
    try {
      return work();
    } finally {
      this.#change(key, 'open', before);
    }
  }

  /** All files, sorted by name; an open file instead of the one on disk. */
  files(): readonly WorkspaceFile[] {
    const keys = new Set([...this.#open.keys(), ...this.#onDisk.keys()]);
    return [...keys].sort().flatMap((key) => this.#fileAt(key) ?? []);
  }

  file(uri: string): WorkspaceFile | undefined {
    return this.#fileAt(normalizeUri(uri));
  }

  /** Changes when an object of the kinds (without their groups) may have changed, except for its position. */
  stampOf(kinds: readonly string[]): number {
    // Versions only grow, so no sum occurs twice.
    let sum = 0;
    for (let index = 0; index < kinds.length; index++) sum += this.#versions.get(kinds[index] ?? '') ?? 0;
    return sum;
  }

  /**
   * The objects of a kind (without its group) that are indexed under a word.
   * @param name a name that must occur in a file; files known not to contain it are not read. Without a name, all files are read
   */
  objects(kind: string, wordOf: WordOf<Found>, word: string, name?: string): PlaceIndex<Found> {
    const found = this.#index(kind).find(wordOf, word, name);
    this.#watch(() => this.#index(kind).find(wordOf, word, name) === found);
    return found;
  }

  /** The only object of a kind (without its group), or two of several. */
  upToTwo(kind: string): readonly Found[] {
    this.dependOn([kind]);
    return this.#index(kind).upToTwo();
  }

  /** The names of objects of a kind that are one typo away from this one. */
  slips(kind: string, name: string): readonly string[] {
    this.dependOn([kind]);
    return this.#index(kind).slips(name);
  }

  /** The number of references to ResourceClaims under a word. */
  claimUses(wordOf: WordOf<FoundReference>, word: string, name: string): Count {
    return this.#claimUses.count(wordOf, word, name);
  }

  /** The result of a function, and whether all its lookups are unchanged. */
  watched<T>(lookUp: () => T): { readonly answer: T; readonly isUnchanged: () => boolean } {
    const checks: (() => boolean)[] = [];
    const before = this.#watch;
    this.#watch = (isUnchanged) => checks.push(isUnchanged);
    try {
      const answer = lookUp();
      const [first] = checks;
      // Most lookups are one question, and its check is kept as it is.
      const isOne = first !== undefined && checks.length === 1;
      return { answer, isUnchanged: isOne ? first : allOf(checks) };
    } finally {
      this.#watch = before;
    }
  }

  /** Records that the current lookup depends on all objects of these kinds. */
  dependOn(kinds: readonly string[]): void {
    const stamp = this.stampOf(kinds);
    this.#watch(() => this.stampOf(kinds) === stamp);
  }

  /** The current span of an object, which may have moved since it was found. */
  placeOf({ uri, object }: Found): Span {
    const now = object.origin && this.file(uri)?.summary.placeOf?.(object.origin);
    return now ?? object.span;
  }

  #index(kind: string): KindIndex<Found> {
    const index = this.#objects.get(kind) ?? createKindIndex((file) => objectsIn(file, kind), nameOf);
    this.#objects.set(kind, index);
    return index;
  }

  #fileAt(key: string): WorkspaceFile | undefined {
    return this.#open.get(key) ?? this.#onDisk.get(key);
  }

  #change(key: string, layer: 'disk' | 'open', file: WorkspaceFile | undefined): void {
    const before = this.#fileAt(key);
    const files = layer === 'open' ? this.#open : this.#onDisk;
    if (file === undefined) files.delete(key);
    else files.set(key, file);
    const after = this.#fileAt(key);
    if (before === after) return;
    for (const kind of changedKinds(before, after)) {
      this.#generation += 1;
      this.#versions.set(kind, this.stampOf([kind]) + 1);
      const index = kind === claimUse ? this.#claimUses : this.#index(kind);
      index.change(key, after?.summary.kinds.has(kind) ? after : undefined);
    }
  }
}

function allOf(checks: readonly (() => boolean)[]): () => boolean {
  return () => checks.every((isUnchanged) => isUnchanged());
}

/** The pseudo kind under which lookups depend on the connected cluster. */
export const clusterKind = ' cluster';

/** Indexes all objects of a kind under one word, the empty string. */
export function anyObject(): string {
  return '';
}

/** Indexes objects by their name alone. */
export function nameOf({ object }: Found): string {
  return object.name;
}

function objectsIn({ key, folders, fileName, uri, summary }: WorkspaceFile, kind: string): readonly Found[] {
  const objects = summary.objectsOf?.(kind) ?? summary.objects().filter((object) => object.kind === kind);
  return objects.map((object) => ({ key, folders, fileName, uri, object }));
}

function referencesIn({ key, folders, fileName, summary }: WorkspaceFile): readonly FoundReference[] {
  return summary.references().map((reference) => ({ key, folders, fileName, reference }));
}

/** The kinds whose documents differ between two summaries, or are in a different order. A document that has only moved is in both. */
function changedKinds(before: WorkspaceFile | undefined, after: WorkspaceFile | undefined): ReadonlySet<string> {
  const [old, now] = [before?.summary.parts, after?.summary.parts];
  if (old === undefined || now === undefined || before?.uri !== after?.uri) {
    return new Set([...(before?.summary.kinds ?? []), ...(after?.summary.kinds ?? [])]);
  }
  let start = 0;
  while (start < old.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const between = [old, now].map((parts) => byKind(parts.slice(start, parts.length - end)));
  const kinds = new Set(between.flatMap((parts) => [...parts.keys()]));
  return new Set([...kinds].filter((kind) => !same(between[0]?.get(kind), between[1]?.get(kind))));
}

function byKind(parts: readonly DocumentSummary[]): ReadonlyMap<string, readonly DocumentSummary[]> {
  const found = new Map<string, DocumentSummary[]>();
  for (const part of parts) {
    for (const kind of part.kinds) {
      const known = found.get(kind);
      if (known === undefined) found.set(kind, [part]);
      else known.push(part);
    }
  }
  return found;
}

function same(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
