import type { TextDocuments } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { normalizeUri } from '../config/places.ts';
import { noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import { createRelatedFiles } from '../workspace/find-related-files.ts';
import { manifestTextIn } from '../workspace/terraform-releases.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { ConfinedHost } from './confined-host.ts';
import type { Log } from './guard.ts';
import { guarded, inTime } from './guard.ts';

/** The related files of the documents in the editor. */
export interface EditorRelatedFiles {
  /**
   * The same object as long as the content of the related files is the same. Never rejects.
   * @param installs whether the file may install charts
   */
  relatedFilesOf(uri: string, installs: boolean): Promise<RelatedFiles>;
  /** Handles a file that was edited. */
  changed(uri: string): void;
  /** Handles changed workspace folders. */
  foldersChanged(): void;
  /** Handles files and folders that changed on disk. @param uris normalized */
  filesChanged(uris: readonly string[]): void;
}

type OpenDocuments = Pick<TextDocuments<TextDocument>, 'onDidOpen' | 'onDidClose'>;

/** Time in milliseconds to wait for a file system. After that, prices are shown without its files until they arrive. */
const timeoutMs = 1000;

/**
 * @param documents open documents, which take precedence over the disk
 * @param workspace states the values of Terraform's files
 * @param onChange called when a returned result may have changed
 */
export function createEditorRelatedFiles(
  host: ConfinedHost,
  log: Log,
  documents: OpenDocuments,
  workspace: Workspace,
  onChange: () => void,
): EditorRelatedFiles {
  const open = new Map<string, TextDocument>();
  /** Results that are available without waiting. */
  const found = new WeakMap<Promise<RelatedFiles>, RelatedFiles>();
  const { listFiles: list } = host;
  const notBuilt = (uri: string, reason: string) =>
    log(`${uri} is not built: ${reason}; its files are counted individually`);
  const source = createRelatedFiles({
    read: textOf,
    reaches: host.reaches,
    notBuilt,
    ...(list !== undefined && { list }),
  });
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
      const read = await host.readFile(uri);
      text = read && manifestTextIn(workspace, uri, read);
    });
    return text;
  }

  function findInTime(uri: string, finding: Promise<RelatedFiles>): Promise<RelatedFiles> {
    let relatedFiles = noRelatedFiles;
    let isLate = false;
    const finished = guarded(log, `reading files related to ${uri}`, async () => {
      relatedFiles = await finding;
    }).then(() => {
      found.set(finding, relatedFiles);
      if (isLate && relatedFiles !== noRelatedFiles) onChange();
      return relatedFiles;
    });
    return inTime(finished, timeoutMs, () => {
      isLate = true;
      return noRelatedFiles;
    });
  }

  return {
    relatedFilesOf(uri, installs) {
      const finding = source.of(uri, installs);
      const known = found.get(finding);
      return known === undefined ? findInTime(uri, finding) : Promise.resolve(known);
    },
    changed(uri) {
      if (source.changed(uri)) onChange();
    },
    foldersChanged: source.clear,
    filesChanged(uris) {
      if (source.filesChanged(new Set(uris))) onChange();
    },
  };
}
