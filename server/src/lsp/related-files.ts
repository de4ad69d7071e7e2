import type { TextDocuments } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { chartOf } from '../config/chart-places.ts';
import { foldersAbove, isLoose, isWithin, normalizeUri } from '../config/places.ts';
import { buildObjects, collectTexts, isKustomization, patchIn } from '../model/kustomize/build.ts';
import { kustomizationNames } from '../model/kustomize/kustomization.ts';
import { chartValues, noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import type { ConfinedHost } from './confined-host.ts';
import type { Log } from './guard.ts';
import { guarded } from './guard.ts';
import { delay } from './projects.ts';

/** What other files say of the files of the editor. */
export interface Neighbours {
  /** The same object while none of the files that it was read from has changed. Never rejects. */
  relatedFilesOf(uri: string): Promise<RelatedFiles>;
  /** A file was edited, or has changed on the disk. */
  changed(uri: string): void;
  /** Other files can be reached. */
  foldersChanged(): void;
  /** These are gone, and may have been folders. @param uris normalised */
  deleted(uris: ReadonlySet<string>): void;
}

type OpenDocuments = Pick<TextDocuments<TextDocument>, 'onDidOpen' | 'onDidClose'>;

/** What was found out, and the files that were asked for to find it. */
interface Known {
  readonly relatedFiles: Promise<RelatedFiles>;
  readonly asked: ReadonlySet<string>;
  /** Once it is there. */
  answer?: RelatedFiles;
}

/** A file system that does not answer keeps nothing back for long: prices are shown without its files, and with them when they come. */
const timeoutMs = 1000;

type Read = (uri: string) => Promise<string | undefined>;

/**
 * @param documents what the editor has open counts before the disk
 * @param onChange called when something has changed that was told before
 */
export function createNeighbours(
  host: ConfinedHost,
  log: Log,
  documents: OpenDocuments,
  onChange: () => void,
): Neighbours {
  const known = new Map<string, Known>();
  /** The keys of what is known, by the files that were asked for. */
  const askers = new Map<string, Set<string>>();
  const open = new Map<string, TextDocument>();
  documents.onDidOpen(({ document }) => open.set(normalizeUri(document.uri), document));
  documents.onDidClose(({ document }) => {
    const key = normalizeUri(document.uri);
    open.delete(key);
    // Nobody looks at it any more. What several files share stays.
    drop(key);
  });

  /** What each reader of a chart's values shares is keyed by them. */
  function recall(key: string, find: (read: Read) => Promise<RelatedFiles>): Promise<RelatedFiles> {
    const before = known.get(key);
    if (before !== undefined)
      return before.answer === undefined ? withTimeout(before.relatedFiles) : Promise.resolve(before.answer);
    const asked = new Set<string>();
    const read: Read = (uri) => {
      const file = normalizeUri(uri);
      asked.add(file);
      askers.set(file, (askers.get(file) ?? new Set()).add(key));
      return textOf(uri);
    };
    let relatedFiles: RelatedFiles = noRelatedFiles;
    const finding = guarded(log, `reading what belongs to ${key}`, async () => {
      relatedFiles = await find(read);
    }).then(() => relatedFiles);
    const made: Known = { relatedFiles: finding, asked };
    known.set(key, made);
    void finding.then((answer) => {
      made.answer = answer;
    });
    return withTimeout(finding);
  }

  function withTimeout(answer: Promise<RelatedFiles>): Promise<RelatedFiles> {
    let late = false;
    const timeout = delay(timeoutMs).then(() => {
      late = true;
      return noRelatedFiles;
    });
    void answer.then((relatedFiles) => {
      if (late && relatedFiles !== noRelatedFiles) onChange();
    });
    return Promise.race([answer, timeout]);
  }

  async function textOf(uri: string): Promise<string | undefined> {
    const shown = open.get(normalizeUri(uri));
    if (shown !== undefined) return shown.getText();
    let text: string | undefined;
    await guarded(log, `reading ${uri}`, async () => {
      text = await host.readFile(uri);
    });
    return text;
  }

  function drop(key: string): boolean {
    for (const file of known.get(key)?.asked ?? []) {
      const keys = askers.get(file);
      if (keys?.delete(key) && keys.size === 0) askers.delete(file);
    }
    return known.delete(key);
  }

  function forget(keys: readonly string[]): void {
    if (keys.filter(drop).length > 0) onChange();
  }

  return {
    relatedFilesOf(uri) {
      if (isLoose(uri) || !host.reaches(uri)) return Promise.resolve(noRelatedFiles);
      const place = chartOf(uri);
      // Not the name of the values alone: they are a file of their own, too.
      if (place !== undefined && host.reaches(place.chart))
        return recall(`chart of ${normalizeUri(place.values)}`, (read) => ofChart(place, read));
      if (isKustomization(uri)) return recall(normalizeUri(uri), (read) => ofKustomization(uri, read));
      return recall(normalizeUri(uri), (read) => ofPatch(uri, read, host));
    },
    changed(uri) {
      forget([...(askers.get(normalizeUri(uri)) ?? [])]);
    },
    foldersChanged: () => known.clear(),
    deleted(uris) {
      forget([...known].filter(([, { asked }]) => [...asked].some((one) => isWithin(one, uris))).map(([key]) => key));
    },
  };
}

async function ofChart({ chart, values }: { chart: string; values: string }, read: Read): Promise<RelatedFiles> {
  const [isChart, text] = await Promise.all([read(chart), read(values)]);
  const found = isChart === undefined || text === undefined ? undefined : chartValues('values.yaml', text);
  return found === undefined ? noRelatedFiles : { chart: found };
}

async function ofKustomization(uri: string, read: Read): Promise<RelatedFiles> {
  const built = buildObjects(uri, await collectTexts(uri, read));
  return built.length === 0 ? noRelatedFiles : { built };
}

/** Patches lie beside their kustomization, or a folder below it. */
const foldersUp = 2;

async function ofPatch(uri: string, read: Read, { reaches }: ConfinedHost): Promise<RelatedFiles> {
  for (const folder of foldersAbove(uri).slice(0, foldersUp).filter(reaches)) {
    const candidates = await Promise.all(kustomizationNames.map((name) => read(`${folder}/${name}`)));
    const index = candidates.findIndex((text) => text !== undefined);
    if (index < 0) continue;
    const kustomization = `${folder}/${kustomizationNames[index]}`;
    const patch = patchIn(kustomization, candidates[index] ?? '', uri);
    if (patch === undefined) continue;
    // The patch itself is read where it is judged, so that typing in it makes nothing of this outdated.
    const own = normalizeUri(uri);
    const others: Read = async (file) => (normalizeUri(file) === own ? undefined : read(file));
    const objects = buildObjects(kustomization, await collectTexts(kustomization, others), uri);
    return objects.length === 0 ? noRelatedFiles : { base: { objects, target: patch.target } };
  }
  return noRelatedFiles;
}
