import type { FileEvent } from 'vscode-languageserver';
import { configName, isWithin, normalizeUri, withoutSlash } from '../config/places.ts';
import { maxListed } from '../config/schema.ts';
import type { ProjectConfig } from '../config.ts';
import { isModelConfig } from '../workspace/model-configs.ts';
import { kindsOfFile, summarizeFile } from '../workspace/terraform.ts';
import { manifestText, mayHaveManifests } from '../workspace/terraform-releases.ts';
import type { ConfinedHost } from './confined-host.ts';
import { createSlices, guarded, yieldOnce } from './guard.ts';
import { indexLimitMessage, isBelow, isIndexable, isWithinLimit, release, type Share, shareOf } from './index-limit.ts';
import { FileChangeType, MessageType, ShowMessageNotification } from './library.ts';
import { createPendingSummaries } from './pending-summaries.ts';
import type { Session } from './session.ts';
import type { WorkspaceAnalyses } from './workspace-analyses.ts';

/** Keeps the workspace in sync with the files on disk. If the host cannot list files, only open files are known. */
export interface Indexing {
  /** Replaces the folders and reads them again. */
  setFolders(folders: readonly string[]): void;
  /** Reads files that changed on disk, each once, however often it is reported. */
  filesChanged(changes: readonly FileEvent[]): void;
  /** Removes deleted files and folders. @param uris normalized */
  deleted(uris: ReadonlySet<string>): void;
  /** Reads the files below a folder, or all files, again if their config changed: prices, node pools, ignored files. */
  configChanged(folder: string | undefined): void;
  /** The workspace folders. */
  folders(): readonly string[];
  /** Resolves when the files of the folders have been read. */
  indexed(): Promise<void>;
  isIndexed(): boolean;
  /** The number of YAML files in the largest workspace folder that contains a file. */
  totalAround(uri: string): number;
}

/** Larger files are generated. */
const maxCharacters = 1_000_000;
/** More lines would hide the rest of the log. */
const maxNoted = 20;
/** Reads at the same time, so that none waits for another. */
const atOnce = 16;
/** Fewer files are read before a thread has started. */
const bulkThreshold = 200;
/** Minimum number of files to show progress for. */
const progressThreshold = 400;

/**
 * @param analyses gets the text of each file that is read
 * @param onChange called when files, or lookups of other documents, may have changed
 * @param idle resolves when nothing is running that somebody waits for
 */
export function createIndexing(
  session: Session,
  host: ConfinedHost,
  analyses: Pick<WorkspaceAnalyses, 'read' | 'deleted' | 'clear'>,
  onChange: () => void,
  idle: () => Promise<void>,
): Indexing {
  const { projects, log, note, connection } = session;
  const { workspace } = projects.analysis;
  const indexed = new Set<string>();
  /** The files with relevant objects, including ignored ones, with the config that they were read with. */
  const known = new Map<string, { readonly uri: string; readonly config: ProjectConfig }>();
  /** The latest read of each file that is being read. */
  const tickets = new Map<string, symbol>();
  const pending = createPendingSummaries(log, idle);
  const toReread = new Set<string>();
  let rereading = false;
  const toRead = new Map<string, FileEvent>();
  let reading = false;
  let folders: readonly string[] = [];
  let shares: readonly Share[] = [];
  let isReported = false;
  let run = 0;
  let looking: Promise<void> = Promise.resolve();
  let isLooking = false;

  /** The limit, which is a setting of the folder. */
  async function mostOf(folder: string): Promise<number> {
    return (await projects.settingsOf(`${folder}/.`)).index.maxFiles;
  }

  async function list(folder: string): Promise<Share> {
    return shareOf(folder, (await host.listFiles?.(folder, maxListed)) ?? [], await mostOf(folder));
  }

  /** Shows the message once per session. */
  function reportIndexLimit(): void {
    const message = isReported ? undefined : indexLimitMessage(shares);
    if (message === undefined) return;
    isReported = true;
    void guarded(log, 'showMessage', () =>
      connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Info, message }),
    );
  }

  async function index({ uris }: Share, isCurrent: () => boolean): Promise<void> {
    if (!isCurrent() || uris.length === 0) return;
    const progress = uris.length >= progressThreshold && session.client.progress ? await createProgress() : undefined;
    const slice = createSlices();
    const remaining = uris.entries();
    const readOn = async () => {
      for (const [done, uri] of remaining) {
        if (!isCurrent()) break;
        await guarded(log, `reading ${uri}`, () => read(uri));
        await slice(() => progress?.report(Math.round((100 * done) / uris.length)));
      }
    };
    const readAll = () => Promise.all(Array.from({ length: atOnce }, readOn));
    await (uris.length < bulkThreshold ? readAll() : host.inBulk(readAll));
    progress?.done();
    if (isCurrent()) noteRead(uris);
  }

  /** Says once per run what was read. */
  function noteRead(uris: readonly string[]): void {
    const keys = uris.map(normalizeUri);
    const used = keys.filter((key) => indexed.has(key)).length;
    const ignored = uris.filter((_, place) => !indexed.has(keys[place] ?? '') && known.has(keys[place] ?? ''));
    note(`YAML files read: ${uris.length}, with objects that matter to other files: ${used}`);
    for (const uri of ignored.slice(0, maxNoted)) note(`${uri} is not checked: ${configName} ignores it`);
    if (ignored.length > maxNoted) note(`and ${ignored.length - maxNoted} more ignored files`);
  }

  async function createProgress() {
    const progress = await connection.window.createWorkDoneProgress();
    progress.begin('gpulint', 0, 'indexing YAML files', false);
    return progress;
  }

  async function read(uri: string): Promise<void> {
    const key = normalizeUri(uri);
    const own = run;
    const ticket = Symbol(key);
    tickets.set(key, ticket);
    const text = await host.readFile(uri);
    const isLarge = text !== undefined && text.length > maxCharacters;
    if (isLarge) note(`${uri} is not indexed: it has more than ${maxCharacters.toLocaleString('en')} characters`);
    const found = text === undefined || isLarge ? undefined : kindsOfFile(key, text);
    const useful = text !== undefined && found !== undefined && found.kinds.size > 0;
    const config = useful ? await projects.configOf(uri) : undefined;
    const ignored = config !== undefined && (await projects.isIgnored(uri));
    // The folders have changed. The new run reads the files that are still in them.
    if (own !== run) return;
    // A later read, or the deletion of the file, takes precedence over this read.
    if (tickets.get(key) !== ticket) return;
    // The config has changed in the meantime, and the file is not yet known, so it would not be read again.
    if (config !== undefined && !projects.isCurrent(uri, config)) return read(uri);
    tickets.delete(key);
    const isManifest = text !== undefined && text.length <= maxCharacters && !isModelConfig(key);
    analyses.read(
      uri,
      isManifest ? (manifestText(key, text) ?? (mayHaveManifests(text) ? text : undefined)) : undefined,
    );
    if (!useful || config === undefined) {
      remove(key);
      return;
    }
    known.set(key, { uri, config });
    pending.drop(key);
    if (ignored) {
      if (indexed.delete(key)) workspace.delete(uri, 'disk');
      return;
    }
    indexed.add(key);
    const summarize = () => summarizeFile(key, text, config);
    workspace.set(uri, isLooking ? pending.defer(key, text, found, summarize) : summarize(), 'disk');
  }

  /** Files that are added in the meantime are read in the same run. */
  async function reread(): Promise<void> {
    if (rereading) return;
    rereading = true;
    let changed = false;
    const slice = createSlices();
    try {
      for (const key of toReread) {
        toReread.delete(key);
        const file = known.get(key);
        if (file === undefined || (await projects.configOf(file.uri)) === file.config) continue;
        await guarded(log, `reading ${file.uri}`, () => read(file.uri));
        changed = true;
        await slice();
      }
    } finally {
      rereading = false;
    }
    if (changed) onChange();
  }

  /** Reads files one by one: switching branches can change more files than a process may have open. */
  async function readChanged(): Promise<void> {
    if (reading) return;
    reading = true;
    const slice = createSlices();
    try {
      for (const [key, { uri, type }] of toRead) {
        toRead.delete(key);
        if (type === FileChangeType.Deleted) {
          remove(key);
          analyses.read(uri, undefined);
        } else await guarded(log, `reading ${uri}`, () => read(uri));
        await slice();
      }
    } finally {
      reading = false;
    }
    onChange();
  }

  function remove(key: string): void {
    tickets.delete(key);
    pending.drop(key);
    const uri = known.get(key)?.uri;
    known.delete(key);
    if (indexed.delete(key) && uri !== undefined) workspace.delete(uri, 'disk');
  }

  function setFolders(newFolders: readonly string[]): void {
    folders = newFolders.map(withoutSlash);
    run += 1;
    shares = [];
    analyses.clear();
    const own = run;
    const isCurrent = () => own === run;
    if (host.listFiles === undefined) return;
    for (const key of [...known.keys()]) remove(key);
    const look = async (): Promise<void> => {
      await yieldOnce();
      const found: Share[] = [];
      for (const folder of folders)
        await guarded(log, `indexing ${folder}`, async () => found.push(await list(folder)));
      if (!isCurrent()) return;
      shares = found;
      reportIndexLimit();
      for (const share of found) await index(share, isCurrent);
    };
    isLooking = true;
    looking = guarded(log, 'indexing the workspace', () => host.reading(look)).then(() => {
      if (!isCurrent()) return;
      isLooking = false;
      onChange();
      void pending.finish();
    });
  }

  async function relimit(): Promise<void> {
    const before = shares;
    const limits = await Promise.all(before.map(({ folder }) => mostOf(folder)));
    if (before === shares && limits.some((limit, index) => limit !== before[index]?.limit)) setFolders(folders);
  }

  return {
    setFolders,
    filesChanged(changes) {
      if (host.listFiles === undefined) return;
      for (const change of changes) {
        const { uri } = change;
        if (!isIndexable(uri) || !folders.some((folder) => isBelow(folder, uri))) continue;
        if (change.type === FileChangeType.Deleted)
          for (const { indexedKeys } of shares) indexedKeys.delete(normalizeUri(uri));
        else if (!isWithinLimit(shares, uri)) continue;
        toRead.set(normalizeUri(uri), change);
      }
      if (toRead.size > 0) void guarded(log, 'reading changed files', () => host.reading(readChanged));
    },
    deleted(uris) {
      release(shares, uris);
      const below = [...known.keys()].filter((key) => isWithin(key, uris));
      for (const key of [...below, ...[...tickets.keys()].filter((one) => isWithin(one, uris))]) remove(key);
      if (analyses.deleted(uris) || below.length > 0) onChange();
    },
    configChanged(folder) {
      // A change for all folders can be a change of the limit.
      if (folder === undefined) void guarded(log, 'reading gpulint.index.maxFiles', relimit);
      const below = folder === undefined ? '' : `${normalizeUri(folder)}/`;
      for (const key of known.keys()) if (key.startsWith(below)) toReread.add(key);
      if (toReread.size > 0) void guarded(log, 'reading files with a changed config', () => host.reading(reread));
    },
    folders: () => folders,
    async indexed() {
      for (let seen: Promise<void> | undefined; seen !== looking; ) {
        seen = looking;
        await seen;
      }
    },
    isIndexed: () => !isLooking,
    totalAround: (uri) => Math.max(0, ...shares.filter(({ folder }) => isBelow(folder, uri)).map(({ total }) => total)),
  };
}
