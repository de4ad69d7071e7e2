import { normalizeUri } from '../config/places.ts';
import type { ProjectConfig } from '../config.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import type { Span } from '../yaml/span.ts';
import { claimUse } from './kinds.ts';
import { type Place, placeAt } from './place.ts';
import type { Places } from './places.ts';
import type { Reference } from './references.ts';
import { type Count, createShelf, type SeenFile, type Shelf, type WordOf } from './shelf.ts';
import type { DocumentSummary, ObjectSummary } from './summary.ts';

/** An object, and the file that it stands in. */
export interface Found extends Place {
  readonly uri: string;
  readonly object: ObjectSummary;
}

/** A place that names an object, and the file that it stands in. */
export interface FoundReference extends Place {
  readonly reference: Reference;
}

/** What holds for a file besides its text: each is the same object as long as it says the same. */
export interface FileContext {
  readonly config: ProjectConfig;
  readonly relatedFiles: RelatedFiles;
}

/**
 * The files that are seen together, as summaries. What an editor has open overrides what is on the disk. Nothing is read before somebody asks
 * for a kind: the kinds of a file are known from its text. Answers follow from the files that are there, and never from the way that led to them.
 */
export class Workspace {
  readonly #onDisk = new Map<string, SeenFile>();
  readonly #open = new Map<string, SeenFile>();
  readonly #objects = new Map<string, Shelf<Found>>();
  readonly #claimUses = createShelf<FoundReference>(referencesIn, ({ reference }) => reference.name);
  readonly #contexts = new Map<string, FileContext>();
  readonly #versions = new Map<string, number>();
  #generation = 0;
  #watch: (stands: () => boolean) => void = () => undefined;

  /** Changes whenever an answer may, so that answers are compared only then. */
  get generation(): number {
    return this.#generation;
  }

  /** @param layer `open` counts before `disk` */
  set(uri: string, summary: SeenFile['summary'], layer: 'disk' | 'open'): void {
    const place = placeAt(normalizeUri(uri));
    this.#change(place.key, layer, { ...place, uri, summary });
  }

  delete(uri: string, layer: 'disk' | 'open'): void {
    this.#change(normalizeUri(uri), layer, undefined);
  }

  /** @param context undefined: nobody looks at the file any more */
  setContext(uri: string, context: FileContext | undefined): void {
    const key = normalizeUri(uri);
    const before = this.#contexts.get(key);
    if (context === undefined) this.#contexts.delete(key);
    else if (before?.config !== context.config || before.relatedFiles !== context.relatedFiles) {
      this.#contexts.set(key, context);
      this.#generation += 1;
    }
  }

  contextOf(uri: string): FileContext | undefined {
    return this.#contexts.get(normalizeUri(uri));
  }

  /** Does something that may set the file, and sets it back afterwards to what it was. */
  restoring<T>(uri: string, work: () => T): T {
    const key = normalizeUri(uri);
    const before = this.#open.get(key);
    try {
      return work();
    } finally {
      this.#change(key, 'open', before);
    }
  }

  /** Every file that is seen, as it counts, sorted by name. */
  files(): readonly SeenFile[] {
    const keys = new Set([...this.#open.keys(), ...this.#onDisk.keys()]);
    return [...keys].sort().flatMap((key) => this.#fileAt(key) ?? []);
  }

  file(uri: string): SeenFile | undefined {
    return this.#fileAt(normalizeUri(uri));
  }

  /** Changes when something of the kinds (without their groups) may have changed, but for its place. */
  stampOf(kinds: readonly string[]): number {
    // Versions only grow, so no sum of them comes twice.
    return kinds.reduce((sum, kind) => sum + (this.#versions.get(kind) ?? 0), 0);
  }

  /**
   * The objects of a kind (without its group) that are found under a word.
   * @param name one that the files of such objects say: files that are known not to say it are not read. Left out: all are
   */
  objects(kind: string, wordOf: WordOf<Found>, word: string, name?: string): Places<Found> {
    const find = () => this.#shelf(kind).find(wordOf, word, name);
    const found = find();
    this.#watch(() => find() === found);
    return found;
  }

  /** The names of objects of a kind that are one slip of the keys away from this one. */
  slips(kind: string, name: string): readonly string[] {
    this.restOn([kind]);
    return this.#shelf(kind).slips(name);
  }

  /** How many places name a ResourceClaim. */
  claimUses(wordOf: WordOf<FoundReference>, word: string, name: string): Count {
    return this.#claimUses.count(wordOf, word, name);
  }

  /** An answer, and whether everything that it follows from is still the same. */
  watched<T>(ask: () => T): { readonly answer: T; readonly stands: () => boolean } {
    const checks: (() => boolean)[] = [];
    const before = this.#watch;
    this.#watch = (stands) => checks.push(stands);
    try {
      return { answer: ask(), stands: () => checks.every((stands) => stands()) };
    } finally {
      this.#watch = before;
    }
  }

  /** The answer rests on all there is of these kinds. */
  restOn(kinds: readonly string[]): void {
    const stamp = this.stampOf(kinds);
    this.#watch(() => this.stampOf(kinds) === stamp);
  }

  /** Where an object that was found stands now: it may have moved in its file since. */
  placeOf({ uri, object }: Found): Span {
    const now = object.origin && this.file(uri)?.summary.placeOf?.(object.origin);
    return now ?? object.span;
  }

  #shelf(kind: string): Shelf<Found> {
    const shelf = this.#objects.get(kind) ?? createShelf((file) => objectsIn(file, kind), nameOf);
    this.#objects.set(kind, shelf);
    return shelf;
  }

  #fileAt(key: string): SeenFile | undefined {
    return this.#open.get(key) ?? this.#onDisk.get(key);
  }

  #change(key: string, layer: 'disk' | 'open', file: SeenFile | undefined): void {
    const before = this.#fileAt(key);
    const files = layer === 'open' ? this.#open : this.#onDisk;
    if (file === undefined) files.delete(key);
    else files.set(key, file);
    const after = this.#fileAt(key);
    if (before === after) return;
    for (const kind of changedKinds(before, after)) {
      this.#generation += 1;
      this.#versions.set(kind, this.stampOf([kind]) + 1);
      const shelf = kind === claimUse ? this.#claimUses : this.#shelf(kind);
      shelf.change(key, after?.summary.kinds.has(kind) ? after : undefined);
    }
  }
}

/** The word of all objects of a kind is the empty one. */
export function everyOne(): string {
  return '';
}

export function nameOf({ object }: Found): string {
  return object.name;
}

function objectsIn({ key, folders, fileName, uri, summary }: SeenFile, kind: string): readonly Found[] {
  return summary
    .objects()
    .filter((object) => object.kind === kind)
    .map((object) => ({ key, folders, fileName, uri, object }));
}

function referencesIn({ key, folders, fileName, summary }: SeenFile): readonly FoundReference[] {
  return summary.references().map((reference) => ({ key, folders, fileName, reference }));
}

/** The kinds of documents that only one of two summaries has, or that stand in another order there. A document that has merely moved is in both. */
function changedKinds(before: SeenFile | undefined, after: SeenFile | undefined): ReadonlySet<string> {
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
