import { chartOf } from '../config/chart-places.ts';
import { foldersAbove, isLoose, isWithin, normalizeUri } from '../config/places.ts';
import { buildObjects, collectFiles, isKustomization, patchIn, type SourceFile } from '../model/kustomize/build.ts';
import { kustomizationNames } from '../model/kustomize/kustomization.ts';
import { once } from '../model/once.ts';
import { chartValues, noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';

/** How the files around a file are read. The editor and the command line differ in this alone. */
export interface FileReader {
  /** The text of a file; undefined where there is none or it must not be read. */
  read(uri: string): Promise<string | undefined>;
  /** Whether a file may be read at all. */
  reaches(uri: string): boolean;
}

/** What other files say of each file: a chart's values, a kustomization's base and patches. */
export interface RelatedFilesSource {
  /** The same object while the files that it was read from say the same. */
  of(uri: string): Promise<RelatedFiles>;
  /** The files that say what a kustomization makes, normalised, without itself: a patch of nothing is none of them. */
  partsOf(kustomization: string): Promise<ReadonlySet<string>>;
  /** A file may say something else now. @returns whether something was read from it */
  changed(uri: string): boolean;
  /** These are gone, and may have been folders. @param uris normalised. @returns whether something was read from them */
  deleted(uris: ReadonlySet<string>): boolean;
  /** Nobody looks at the file any more. */
  forget(uri: string): void;
  /** Other files can be reached. */
  clear(): void;
}

/** What was found for one file, and what each of the files said from which it follows. */
interface Answer {
  readonly sources: Map<string, SourceFile | undefined>;
  readonly relatedFiles: Promise<RelatedFiles>;
  /** One of the sources may say something else now. */
  isInDoubt: boolean;
}

/** A file that was read, under one spelling of its name. */
interface KnownFile {
  reading: Promise<SourceFile | undefined> | undefined;
  /** What it said last: read again with the same text it is the same object. */
  source: SourceFile | undefined;
}

/** A file under all spellings of its name, and the files for which it was read. */
interface KnownName {
  readonly spellings: Map<string, KnownFile>;
  readonly readFor: Set<string>;
}

type Read = (uri: string) => Promise<SourceFile | undefined>;

export function createRelatedFiles({ read: readText, reaches }: FileReader): RelatedFilesSource {
  const answers = new Map<string, Answer>();
  /** By normalised URI. */
  const files = new Map<string, KnownName>();

  function fileAt(uri: string, readFor?: string): Promise<SourceFile | undefined> {
    const name = normalizeUri(uri);
    const { spellings, readFor: all } = files.get(name) ?? { spellings: new Map(), readFor: new Set() };
    files.set(name, { spellings, readFor: all });
    if (readFor !== undefined) all.add(readFor);
    const known = spellings.get(uri) ?? { reading: undefined, source: undefined };
    spellings.set(uri, known);
    known.reading ??= readFile(uri, known);
    return known.reading;
  }

  async function readFile(uri: string, known: KnownFile): Promise<SourceFile | undefined> {
    const text = await readText(uri);
    if (text === undefined) known.source = undefined;
    else if (known.source?.text !== text) known.source = { uri, text };
    return known.source;
  }

  function answerFor(uri: string, before: Answer | undefined): Answer {
    const sources: Answer['sources'] = new Map();
    const read: Read = async (file) => {
      const source = await fileAt(file, uri);
      sources.set(file, source);
      return source;
    };
    const find = async () => {
      const said = await before?.relatedFiles.catch(() => undefined);
      if (before === undefined || said === undefined) return relatedFilesOf(uri, read, reaches);
      const now = await Promise.all([...before.sources].map(async ([file, source]) => (await read(file)) === source));
      return now.every(Boolean) ? said : relatedFilesOf(uri, read, reaches);
    };
    return { sources, relatedFiles: find(), isInDoubt: false };
  }

  function doubt(name: string): boolean {
    const { spellings, readFor } = files.get(name) ?? none;
    for (const file of spellings.values()) file.reading = undefined;
    for (const uri of readFor) {
      const answer = answers.get(uri);
      if (answer !== undefined) answer.isInDoubt = true;
    }
    return readFor.size > 0;
  }

  /** Lets go of files that nobody needs, but for those that each file of a folder or chart reads. */
  function release(uris: Iterable<string>): void {
    for (const uri of uris) {
      const name = normalizeUri(uri);
      if (!isKustomization(uri) && !/\/(?:Chart|values)\.yaml$/.test(uri) && files.get(name)?.readFor.size === 0)
        files.delete(name);
    }
  }

  return {
    of(uri) {
      if (isLoose(uri) || !reaches(uri)) return Promise.resolve(noRelatedFiles);
      const known = answers.get(uri);
      if (known !== undefined && !known.isInDoubt) return known.relatedFiles;
      const made = answerFor(uri, known);
      answers.set(uri, made);
      return made.relatedFiles;
    },
    async partsOf(kustomization) {
      const found = await collectFiles(kustomization, (uri) => fileAt(uri));
      const used = buildObjects(kustomization, found).flatMap(({ sources }) => sources);
      release(found.keys());
      const included = [...found.keys()].filter((uri) => isKustomization(uri) && uri !== kustomization);
      return new Set([...included, ...used].map(normalizeUri));
    },
    changed: (uri) => doubt(normalizeUri(uri)),
    deleted: (uris) => [...files.keys()].filter((name) => isWithin(name, uris)).filter(doubt).length > 0,
    forget(uri) {
      const sources = [...(answers.get(uri)?.sources.keys() ?? [])];
      answers.delete(uri);
      for (const file of sources) files.get(normalizeUri(file))?.readFor.delete(uri);
      release(sources);
    },
    clear() {
      answers.clear();
      files.clear();
    },
  };
}

const none: KnownName = { spellings: new Map(), readFor: new Set() };

async function relatedFilesOf(uri: string, read: Read, reaches: FileReader['reaches']): Promise<RelatedFiles> {
  const place = chartOf(uri);
  if (place !== undefined && reaches(place.chart)) {
    // Values without a chart are none.
    const values = (await read(place.chart)) && (await read(place.values));
    return values === undefined ? noRelatedFiles : chartIn(values);
  }
  return isKustomization(uri) ? ofKustomization(uri, read) : ofPatch(uri, read, reaches);
}

/** All templates of a chart have the same values. */
const chartIn = once(({ text }: SourceFile): RelatedFiles => {
  const chart = chartValues('values.yaml', text);
  return chart === undefined ? noRelatedFiles : { chart };
});

async function ofKustomization(uri: string, read: Read): Promise<RelatedFiles> {
  const built = buildObjects(uri, await collectFiles(uri, read));
  return built.length === 0 ? noRelatedFiles : { built };
}

/** Patches lie next to their kustomization, or a folder below it. */
const foldersUp = 2;

async function ofPatch(uri: string, read: Read, reaches: FileReader['reaches']): Promise<RelatedFiles> {
  for (const folder of foldersAbove(uri).slice(0, foldersUp).filter(reaches)) {
    const candidates = await Promise.all(kustomizationNames.map((name) => read(`${folder}/${name}`)));
    const kustomization = candidates.find((file) => file !== undefined);
    const patch = kustomization && patchIn(kustomization, uri);
    if (kustomization === undefined || patch === undefined) continue;
    // The patch itself is read where it is judged, so that typing in it makes nothing of this outdated.
    const own = normalizeUri(uri);
    const others: Read = async (file) => (normalizeUri(file) === own ? undefined : read(file));
    const objects = buildObjects(kustomization.uri, await collectFiles(kustomization.uri, others), uri);
    return objects.length === 0 ? noRelatedFiles : { base: { objects, target: patch.target } };
  }
  return noRelatedFiles;
}

/**
 * The kustomizations through which each file is counted: those of the given ones that include it and that no other one includes.
 * @param kustomizations with the files that each is made of, normalised
 * @returns the normalised URIs of kustomizations by those of files, sorted
 */
export function countedThrough(
  kustomizations: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, readonly string[]> {
  const including = new Map<string, string[]>();
  for (const [kustomization, parts] of [...kustomizations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const part of parts) {
      const known = including.get(part);
      if (known === undefined) including.set(part, [kustomization]);
      else known.push(kustomization);
    }
  }
  // Of those that include each other, which kustomize rejects, the first stands for all.
  const isTop = (one: string) =>
    !(including.get(one) ?? []).some((other) => !kustomizations.get(one)?.has(other) || other < one);
  const tops = new Set([...kustomizations.keys()].filter(isTop));
  return new Map(
    [...including].map(([part, all]): [string, readonly string[]] => {
      const through = all.filter((one) => tops.has(one));
      return [part, through.length > 0 ? through : all];
    }),
  );
}
