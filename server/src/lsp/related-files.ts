import type { TextDocuments } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { normalizeUri } from '../config/places.ts';
import { noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import { createRelatedFiles } from '../workspace/related-files.ts';
import type { ConfinedHost } from './confined-host.ts';
import type { Log } from './guard.ts';
import { guarded } from './guard.ts';
import { delay } from './projects.ts';

/** What other files say of the files of the editor. */
export interface EditorRelatedFiles {
  /** The same object while the files that it was read from say the same. Never rejects. */
  relatedFilesOf(uri: string): Promise<RelatedFiles>;
  /** A file was edited, or has changed on the disk. */
  changed(uri: string): void;
  /** Other files can be reached. */
  foldersChanged(): void;
  /** These are gone, and may have been folders. @param uris normalised */
  deleted(uris: ReadonlySet<string>): void;
}

type OpenDocuments = Pick<TextDocuments<TextDocument>, 'onDidOpen' | 'onDidClose'>;

/** A file system that does not answer keeps nothing back for long: prices are shown without its files, and with them when they come. */
const timeoutMs = 1000;

/**
 * @param documents what the editor has open counts before the disk
 * @param onChange called when an answer that was given may be another now
 */
export function createEditorRelatedFiles(
  host: ConfinedHost,
  log: Log,
  documents: OpenDocuments,
  onChange: () => void,
): EditorRelatedFiles {
  const open = new Map<string, TextDocument>();
  /** Answers that are there: nobody waits for them. */
  const found = new WeakMap<Promise<RelatedFiles>, RelatedFiles>();
  const source = createRelatedFiles({ read: textOf, reaches: host.reaches });
  documents.onDidOpen(({ document }) => open.set(normalizeUri(document.uri), document));
  documents.onDidClose(({ document }) => {
    open.delete(normalizeUri(document.uri));
    source.forget(document.uri);
  });

  async function textOf(uri: string): Promise<string | undefined> {
    const shown = open.get(normalizeUri(uri));
    if (shown !== undefined) return shown.getText();
    let text: string | undefined;
    await guarded(log, `reading ${uri}`, async () => {
      text = await host.readFile(uri);
    });
    return text;
  }

  async function inTime(uri: string, finding: Promise<RelatedFiles>): Promise<RelatedFiles> {
    let relatedFiles = noRelatedFiles;
    let isLate = false;
    const finished = guarded(log, `reading what belongs to ${uri}`, async () => {
      relatedFiles = await finding;
    }).then(() => {
      found.set(finding, relatedFiles);
      if (isLate && relatedFiles !== noRelatedFiles) onChange();
      return relatedFiles;
    });
    const timeout = delay(timeoutMs).then(() => {
      isLate = true;
      return noRelatedFiles;
    });
    return Promise.race([finished, timeout]);
  }

  return {
    relatedFilesOf(uri) {
      const finding = source.of(uri);
      const known = found.get(finding);
      return known === undefined ? inTime(uri, finding) : Promise.resolve(known);
    },
    changed(uri) {
      if (source.changed(uri)) onChange();
    },
    foldersChanged: source.clear,
    deleted(uris) {
      if (source.deleted(uris)) onChange();
    },
  };
}
