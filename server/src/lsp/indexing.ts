import { FileChangeType, type FileEvent, MessageType, ShowMessageNotification } from 'vscode-languageserver';
import { isWithin, normalizeUri, withoutSlash } from '../config/places.ts';
import { maxListed } from '../config/schema.ts';
import type { ProjectConfig } from '../config.ts';
import { kindsIn } from '../workspace/kinds.ts';
import { summariseText } from '../workspace/summary.ts';
import type { ConfinedHost } from './confined-host.ts';
import { guarded, yieldOnce } from './guard.ts';
import { isBelow, isManifest, leftOutMessage, release, type Share, shareOf, takes } from './index-limit.ts';
import type { Session } from './session.ts';

/** Keeps the workspace's picture of the files on the disk. Without a host that can list files there is none, and nothing else changes. */
export interface Indexing {
  /** Reads the folders again. */
  setFolders(folders: readonly string[]): void;
  /** Files changed on the disk: each is read once, however often it is reported. */
  filesChanged(changes: readonly FileEvent[]): void;
  /** These are gone, and may have been folders. @param uris normalised */
  deleted(uris: ReadonlySet<string>): void;
  /** What holds for the files below a folder, or for all, may have changed: prices, node pools, ignored files. */
  configChanged(folder: string | undefined): void;
}

/** Larger files are machine-made. */
const mostCharacters = 1_000_000;
/** Work between two breaths, in milliseconds. */
const slice = 4;
/** Progress is shown from so many files on. */
const many = 400;

/** @param onChange called when what other documents rest on may have changed */
export function createIndexing(session: Session, host: ConfinedHost, onChange: () => void): Indexing {
  const { projects, log, connection } = session;
  const { workspace } = projects.analysis;
  const seen = new Set<string>();
  /** The files that say something of use, with the config that they were read with: ignored ones too. */
  const known = new Map<string, { readonly uri: string; readonly config: ProjectConfig }>();
  /** The newest read of each file that is being read. */
  const tickets = new Map<string, symbol>();
  const toReread = new Set<string>();
  let rereading = false;
  const toRead = new Map<string, FileEvent>();
  let reading = false;
  let folders: readonly string[] = [];
  let shares: readonly Share[] = [];
  let isReported = false;
  let run = 0;

  /** The limit is a setting of the folder. */
  async function mostOf(folder: string): Promise<number> {
    return (await projects.settingsOf(`${folder}/.`)).index.maxFiles;
  }

  async function list(folder: string): Promise<Share> {
    return shareOf(folder, (await host.listFiles?.(folder, maxListed)) ?? [], await mostOf(folder));
  }

  /** Once: whoever has read it has raised the limit, or does not want to. */
  function reportLeftOut(): void {
    const message = isReported ? undefined : leftOutMessage(shares);
    if (message === undefined) return;
    isReported = true;
    void guarded(log, 'showMessage', () =>
      connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Info, message }),
    );
  }

  async function index({ uris }: Share, isCurrent: () => boolean): Promise<void> {
    if (!isCurrent() || uris.length === 0) return;
    const progress = uris.length >= many && session.client.progress ? await createProgress() : undefined;
    let breath = Date.now();
    for (const [done, uri] of uris.entries()) {
      if (!isCurrent()) break;
      await guarded(log, `reading ${uri}`, () => read(uri));
      if (Date.now() - breath < slice) continue;
      progress?.report(Math.round((100 * done) / uris.length));
      await yieldOnce();
      breath = Date.now();
    }
    progress?.done();
  }

  async function createProgress() {
    const progress = await connection.window.createWorkDoneProgress();
    progress.begin('gpulint', 0, 'looking through the YAML files', false);
    return progress;
  }

  async function read(uri: string): Promise<void> {
    const key = normalizeUri(uri);
    const own = run;
    const ticket = Symbol(key);
    tickets.set(key, ticket);
    const text = await host.readFile(uri);
    const kinds = text === undefined || text.length > mostCharacters ? undefined : kindsIn(text);
    const useful = text !== undefined && kinds !== undefined && kinds.size > 0;
    const config = useful ? await projects.configOf(uri) : undefined;
    const ignored = config !== undefined && (await projects.isIgnored(uri));
    // Other folders are looked through now. What still belongs to them is read there.
    if (own !== run) return;
    // A read that was begun later, or the end of the file, counts before this one, whichever is answered first.
    if (tickets.get(key) !== ticket) return;
    // With a config that has changed meanwhile it would be read wrongly, and is not known yet to be read again.
    if (config !== undefined && !projects.holds(uri, config)) return read(uri);
    tickets.delete(key);
    if (!useful || config === undefined) {
      remove(key);
      return;
    }
    known.set(key, { uri, config });
    if (ignored) {
      if (seen.delete(key)) workspace.delete(uri, 'disk');
      return;
    }
    seen.add(key);
    workspace.set(uri, summariseText(text, config), 'disk');
  }

  /** What is added meanwhile is read in the same run. */
  async function reread(): Promise<void> {
    if (rereading) return;
    rereading = true;
    let changed = false;
    let breath = Date.now();
    for (const key of toReread) {
      toReread.delete(key);
      const file = known.get(key);
      if (file === undefined || (await projects.configOf(file.uri)) === file.config) continue;
      await guarded(log, `reading ${file.uri}`, () => read(file.uri));
      changed = true;
      if (Date.now() - breath < slice) continue;
      await yieldOnce();
      breath = Date.now();
    }
    rereading = false;
    if (changed) onChange();
  }

  /** One after the other, as at first: a change of branches can touch more files than may be open at once. */
  async function readChanged(): Promise<void> {
    if (reading) return;
    reading = true;
    let breath = Date.now();
    for (const [key, { uri, type }] of toRead) {
      toRead.delete(key);
      if (type === FileChangeType.Deleted) remove(key);
      else await guarded(log, `reading ${uri}`, () => read(uri));
      if (Date.now() - breath < slice) continue;
      await yieldOnce();
      breath = Date.now();
    }
    reading = false;
    onChange();
  }

  function remove(key: string): void {
    tickets.delete(key);
    const uri = known.get(key)?.uri;
    known.delete(key);
    if (seen.delete(key) && uri !== undefined) workspace.delete(uri, 'disk');
  }

  function setFolders(wanted: readonly string[]): void {
    folders = wanted.map(withoutSlash);
    run += 1;
    shares = [];
    const own = run;
    const isCurrent = () => own === run;
    if (host.listFiles === undefined) return;
    for (const key of [...known.keys()]) remove(key);
    const look = async (): Promise<void> => {
      await yieldOnce();
      const found: Share[] = [];
      for (const folder of folders)
        await guarded(log, `looking through ${folder}`, async () => found.push(await list(folder)));
      if (!isCurrent()) return;
      shares = found;
      reportLeftOut();
      for (const share of found) await index(share, isCurrent);
      if (isCurrent()) onChange();
    };
    void guarded(log, 'looking through the workspace', () => host.reading(look));
  }

  async function relimit(): Promise<void> {
    const before = shares;
    const limits = await Promise.all(before.map(({ folder }) => mostOf(folder)));
    if (before === shares && limits.some((most, index) => most !== before[index]?.most)) setFolders(folders);
  }

  return {
    setFolders,
    filesChanged(changes) {
      if (host.listFiles === undefined) return;
      for (const change of changes) {
        const { uri } = change;
        if (!isManifest(uri) || !folders.some((folder) => isBelow(folder, uri))) continue;
        if (change.type === FileChangeType.Deleted) for (const { taken } of shares) taken.delete(normalizeUri(uri));
        else if (!takes(shares, uri)) continue;
        toRead.set(normalizeUri(uri), change);
      }
      if (toRead.size > 0) void guarded(log, 'reading what changed', () => host.reading(readChanged));
    },
    deleted(uris) {
      release(shares, uris);
      const below = [...known.keys()].filter((key) => isWithin(key, uris));
      for (const key of [...below, ...[...tickets.keys()].filter((one) => isWithin(one, uris))]) remove(key);
      if (below.length > 0) onChange();
    },
    configChanged(folder) {
      // Of all folders: it may be the limit that changed.
      if (folder === undefined) void guarded(log, 'reading the limit', relimit);
      const below = folder === undefined ? '' : `${normalizeUri(folder)}/`;
      for (const key of known.keys()) if (key.startsWith(below)) toReread.add(key);
      if (toReread.size > 0) void guarded(log, 'reading with another config', () => host.reading(reread));
    },
  };
}

/** What the client is to watch. kustomize reads a third name, which has no ending. */
export const watchedFiles = ['**/*.yaml', '**/*.yml', '**/Kustomization'] as const;
