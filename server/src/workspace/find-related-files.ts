import { type ChartPlace, chartBeside, chartOf, chartOfRelease } from '../config/chart-places.ts';
import { foldersAbove, isLoose, isWithin, normalizeUri } from '../config/places.ts';
import { buildObjects, collectFiles, isKustomization, maxFiles, patchIn } from '../model/kustomize/build.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { kustomizationNames } from '../model/kustomize/kustomization.ts';
import { noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import { chartAround, partsOf } from './chart-parts.ts';
import { chartIn, copiesIn, partIn } from './completed-charts.ts';
import { relatedToInstalls, templatesIn, wholeChart } from './installed-charts.ts';

/** How related files are read: the only difference between the editor and the command line. */
export interface FileReader {
  /** The text of a file; undefined if it does not exist or must not be read. */
  read(uri: string): Promise<string | undefined>;
  /** The YAML files below a folder, unordered, up to a limit. Without it, releases of charts are not resolved. */
  readonly list?: (folder: string, limit: number) => Promise<readonly string[]>;
  /** Whether a file may be read at all. */
  reaches(uri: string): boolean;
  /** Says why a kustomization is not built. */
  readonly notBuilt?: (kustomization: string, reason: string) => void;
}

/** The related files of each file: a chart's values, a kustomization's base and patches. */
export interface RelatedFilesSource {
  /**
   * The same object as long as the content of the related files is the same.
   * @param installs whether the file may install charts: only then its own text is read
   */
  of(uri: string, installs?: boolean): Promise<RelatedFiles>;
  /** The URIs of the other files that contribute to the objects of a kustomization. A patch that applies to nothing does not. */
  partsOf(kustomization: string): Promise<ReadonlySet<string>>;
  /** Reports that the content of a file may have changed. @returns whether any related files depend on it */
  changed(uri: string): boolean;
  /** Reports changed files, and new or deleted folders. @param uris normalized @returns whether any related files depend on them */
  filesChanged(uris: ReadonlySet<string>): boolean;
  /** Releases everything about a file that is no longer in use. */
  forget(uri: string): void;
  /** Forgets everything, because other files are within reach. */
  clear(): void;
}

/** The related files of one file, and the sources that were read for them. */
interface Answer {
  readonly owner: Owner;
  readonly sources: ReadonlyMap<string, SourceFile | undefined>;
  readonly relatedFiles: Promise<RelatedFiles>;
  readonly installs: boolean;
  /** One of the sources may have changed. */
  isStale: boolean;
}

/** A file whose related files are in use, and the normalized URIs of the files that it depends on. */
interface Owner {
  readonly uri: string;
  readonly dependsOn: Set<string>;
  isForgotten: boolean;
}

/** A file that was read, under one spelling of its URI. */
interface KnownFile {
  reading: Promise<SourceFile | undefined> | undefined;
  /** The last content. If the text is unchanged when read again, it stays the same object. */
  source: SourceFile | undefined;
}

/** A file under all spellings of its URI, and the files that depend on it. */
interface KnownName {
  readonly spellings: Map<string, KnownFile>;
  readonly dependents: Set<string>;
}

type Read = (uri: string) => Promise<SourceFile | undefined>;

/** @param maxKept how many files to keep that no file in use depends on */
export function createRelatedFiles({ read: readText, ...reader }: FileReader, maxKept = 0): RelatedFilesSource {
  const answers = new Map<string, Answer>();
  /** By normalized URI. */
  const files = new Map<string, KnownName>();
  /** The files without dependents, the longest unused first. */
  const kept = new Set<string>();

  function fileAt(uri: string, owner: Owner): Promise<SourceFile | undefined> {
    // Its document was closed while the files were being read.
    if (owner.isForgotten) return Promise.resolve(undefined);
    const name = normalizeUri(uri);
    const { spellings, dependents } = files.get(name) ?? { spellings: new Map(), dependents: new Set() };
    files.set(name, { spellings, dependents });
    kept.delete(name);
    dependents.add(owner.uri);
    owner.dependsOn.add(name);
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

  function answerFor(uri: string, before: Answer | undefined, installs: boolean): Answer {
    const owner: Owner = before?.owner ?? { uri, dependsOn: new Set(), isForgotten: false };
    const sources = new Map<string, SourceFile | undefined>();
    const read: Read = async (file) => {
      const source = await fileAt(file, owner);
      sources.set(file, source);
      return source;
    };
    const find = async () => {
      const previous = await before?.relatedFiles.catch(() => undefined);
      if (before?.installs === installs && previous !== undefined && (await isUnchanged(before))) {
        for (const [file, source] of before.sources) sources.set(file, source);
        return previous;
      }
      const related = await relatedFilesOf(uri, read, reader);
      const found = installs && related === noRelatedFiles ? await relatedToInstalls(uri, read, reader) : related;
      const names = new Set([...sources.keys()].map(normalizeUri));
      release(
        owner,
        [...owner.dependsOn].filter((name) => !names.has(name)),
      );
      return found;
    };
    return { owner, sources, relatedFiles: find(), installs, isStale: false };
  }

  async function isUnchanged({ owner, sources }: Answer): Promise<boolean> {
    const same = await Promise.all([...sources].map(async ([file, source]) => (await fileAt(file, owner)) === source));
    return same.every(Boolean);
  }

  function invalidate(name: string): boolean {
    const { spellings, dependents } = files.get(name) ?? none;
    for (const file of spellings.values()) file.reading = undefined;
    for (const uri of dependents) {
      const answer = answers.get(uri);
      if (answer !== undefined) answer.isStale = true;
    }
    return dependents.size > 0;
  }

  function relatedFilesTo(uri: string, installs = false): Promise<RelatedFiles> {
    if (isLoose(uri) || !reader.reaches(uri)) return Promise.resolve(noRelatedFiles);
    const known = answers.get(uri);
    if (known?.installs === installs && !known.isStale) return known.relatedFiles;
    const made = answerFor(uri, known, installs);
    answers.set(uri, made);
    return made.relatedFiles;
  }

  /** Releases files that an owner no longer depends on. */
  function release(owner: Owner, names: readonly string[]): void {
    for (const name of names) {
      owner.dependsOn.delete(name);
      const dependents = files.get(name)?.dependents;
      if (dependents?.delete(owner.uri) && dependents.size === 0) kept.add(name);
    }
    for (const name of kept) {
      if (kept.size <= maxKept) break;
      kept.delete(name);
      files.delete(name);
    }
  }

  return {
    of: relatedFilesTo,
    async partsOf(kustomization) {
      return partsIn(await relatedFilesTo(kustomization, answers.get(kustomization)?.installs));
    },
    changed: (uri) => invalidate(normalizeUri(uri)),
    filesChanged: (uris) =>
      [...files.keys()].filter((name) => uris.has(name) || isWithin(name, uris)).filter(invalidate).length > 0,
    forget(uri) {
      const owner = answers.get(uri)?.owner;
      answers.delete(uri);
      if (owner === undefined) return;
      owner.isForgotten = true;
      release(owner, [...owner.dependsOn]);
    },
    clear() {
      for (const { owner } of answers.values()) owner.isForgotten = true;
      answers.clear();
      files.clear();
      kept.clear();
    },
  };
}

/** The URIs of the other files that contribute to the objects of a kustomization or of a chart's release. */
export function partsIn({
  built = [],
  included = [],
  release,
  installs,
  overridden,
}: RelatedFiles): ReadonlySet<string> {
  const objects = [...built, ...[...(overridden?.values() ?? [])].flatMap((one) => one.objects)];
  const charts = [...(release === undefined ? [] : [release, ...(release.parts ?? [])]), ...(installs?.values() ?? [])];
  const ofCharts = charts.flatMap(({ templates, values }) => [...templates, ...(values ? [values] : [])]);
  const files = [...(installs?.values() ?? [])].flatMap((one) => [...one.files.values()]);
  const maps = [...(installs?.values() ?? [])].flatMap(({ mapFiles }) => mapFiles);
  const uris = [...ofCharts, ...files].map(({ uri }) => uri);
  return new Set([...included, ...objects.flatMap(({ sources }) => sources), ...uris, ...maps]);
}

/** Whether a file counts others. */
export function hasParts({ built, release, installs, overridden }: RelatedFiles): boolean {
  return built !== undefined || release !== undefined || installs !== undefined || overridden !== undefined;
}

const none: KnownName = { spellings: new Map(), dependents: new Set() };

async function relatedFilesOf(
  uri: string,
  read: Read,
  { reaches, list, notBuilt }: Omit<FileReader, 'read'>,
): Promise<RelatedFiles> {
  const kustomized = isKustomization(uri) ? await relatedToKustomization(uri, read, notBuilt) : noRelatedFiles;
  if (kustomized !== noRelatedFiles) return kustomized;
  const place = chartOf(uri);
  // Many folders are named `templates`; only a Chart.yaml makes one part of a chart.
  if (place !== undefined && reaches(place.chart) && (await read(place.chart)) !== undefined) {
    const values = await read(place.values);
    if (values === undefined) return noRelatedFiles;
    const around = await chartAround(place.chart, values, read, reaches);
    // Like a workload that values disable, it stays as written.
    if (around?.isOff) return noRelatedFiles;
    const copies = around?.copies ?? [];
    const part = around?.values === undefined ? chartIn(values) : partIn(values)(around.values);
    const made = copies.length > 0 ? copiesIn(values)(copies) : part;
    const related = made(await read(place.helpers));
    return list === undefined ? related : await wholeChart(related, place, read, { reaches, list });
  }
  if (isKustomization(uri)) return noRelatedFiles;
  const beside = chartBeside(uri);
  if (beside !== undefined)
    return list === undefined ? noRelatedFiles : await restOfChart(uri, beside, read, { reaches, list });
  const released = list === undefined ? noRelatedFiles : await relatedToRelease(uri, read, { reaches, list });
  return released === noRelatedFiles ? relatedToPatch(uri, read, reaches) : released;
}

/** The file itself is not read, so that typing in it does not invalidate the result. */
async function restOfChart(
  uri: string,
  { chart, values, templates }: ChartPlace,
  read: Read,
  { reaches, list }: Required<Pick<FileReader, 'reaches' | 'list'>>,
): Promise<RelatedFiles> {
  if (!reaches(chart)) return noRelatedFiles;
  const other = await read(uri === chart ? values : chart);
  // A values file may be in a folder that is not a chart and has no Chart.yaml.
  if (other === undefined && uri !== chart) return noRelatedFiles;
  const found = await templatesIn(templates, read, list);
  return found.length === 0 ? noRelatedFiles : { alongside: other === undefined ? found : [other, ...found] };
}

async function relatedToRelease(
  uri: string,
  read: Read,
  { reaches, list }: Required<Pick<FileReader, 'reaches' | 'list'>>,
): Promise<RelatedFiles> {
  const place = chartOfRelease(uri);
  const chart = place !== undefined && reaches(place.chart) ? await read(place.chart) : undefined;
  if (place === undefined || chart === undefined) return noRelatedFiles;
  const templates = await templatesIn(place.templates, read, list);
  const parts = await partsOf(chart, read, list, (folder) => templatesIn(folder, read, list));
  if (templates.length === 0 && parts.length === 0) return noRelatedFiles;
  const own = { values: await read(place.values), templates, helpers: await read(place.helpers) };
  return { release: parts.length === 0 ? own : { ...own, parts } };
}

async function relatedToKustomization(
  uri: string,
  read: Read,
  notBuilt: FileReader['notBuilt'],
): Promise<RelatedFiles> {
  const files = await collectFiles(uri, read);
  // Built from a part of its files, it would have wrong totals.
  if (files === undefined) {
    notBuilt?.(uri, `it includes more than ${maxFiles.toLocaleString('en')} files`);
    return noRelatedFiles;
  }
  const { objects, included } = buildObjects(uri, files);
  return objects.length === 0 ? noRelatedFiles : { built: objects, included };
}

/** Patches are in the folder of their kustomization, or up to two folders below. */
const foldersUp = 3;

/** A patch whose base cannot be built, such as a remote one. */
const patchAlone: RelatedFiles = { isPatch: true };

async function relatedToPatch(uri: string, read: Read, reaches: FileReader['reaches']): Promise<RelatedFiles> {
  for (const folder of foldersAbove(uri).slice(0, foldersUp).filter(reaches)) {
    const candidates = await Promise.all(kustomizationNames.map((name) => read(`${folder}/${name}`)));
    const kustomization = candidates.find((file) => file !== undefined);
    const patch = kustomization && patchIn(kustomization, uri);
    if (kustomization === undefined || patch === undefined) continue;
    // The patch itself is not read here, so that typing in it does not invalidate the result.
    const own = normalizeUri(uri);
    const others: Read = async (file) => (normalizeUri(file) === own ? undefined : read(file));
    const files = await collectFiles(kustomization.uri, others);
    const objects = files === undefined ? [] : buildObjects(kustomization.uri, files, uri).objects;
    const alongside = [...(files?.values() ?? [])];
    return objects.length === 0 ? patchAlone : { base: { objects, target: patch.target }, isPatch: true, alongside };
  }
  return noRelatedFiles;
}

/**
 * The kustomizations through which each file is counted: those that include it and that no other kustomization includes.
 * @param kustomizations the normalized URIs of kustomizations, with the files that contribute to each
 * @returns the sorted URIs of kustomizations by the URI of each file
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
  // If kustomizations include each other, which kustomize rejects, only the first one is a top, and it counts itself.
  const isTop = (one: string) =>
    !(including.get(one) ?? []).some((other) => !kustomizations.get(one)?.has(other) || other < one);
  const tops = new Set([...kustomizations.keys()].filter(isTop));
  return new Map(
    [...including].map(([part, all]): [string, readonly string[]] => {
      const through = all.filter((one) => tops.has(one));
      if (tops.has(part)) return [part, []];
      return [part, through.length > 0 ? through : all];
    }),
  );
}
