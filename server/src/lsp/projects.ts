import { Analysis } from '../analysis.ts';
import { matchesAny } from '../config/globs.ts';
import {
  configName,
  configPlaceOf,
  type FolderLook,
  foldersAbove,
  isConfigUri,
  isWithin,
  nearestConfig,
  normalizeUri,
  pathBelow,
  withoutSlash,
} from '../config/places.ts';
import type { ConfigInput, ProjectConfig } from '../config.ts';
import { parseConfig, resolveConfig } from '../config.ts';
import type { ConfinedHost } from './confined-host.ts';
import type { Log } from './guard.ts';
import { guarded } from './guard.ts';
import { defaultSettings, type Settings } from './settings.ts';

/** The files of all workspace folders, each with the config that counts for it. */
export interface Projects {
  readonly analysis: Analysis;
  /** The same object while it says the same. Never rejects, and waits for a limited time. */
  configOf(uri: string): Promise<ProjectConfig>;
  /** Whether a config that was the answer for a file still is. */
  holds(uri: string, config: ProjectConfig): boolean;
  settingsOf(uri: string): Promise<Settings>;
  /** Waits until other files are read, for a limited time. @returns whether all are */
  settled(): Promise<boolean>;
  /** The URI of the config file that counts for a document, or of the one to make in its workspace folder; undefined where it has none. */
  configFileOf(uri: string): Promise<string | undefined>;
  /** Whether the config passes a file by. */
  isIgnored(uri: string): Promise<boolean>;
  setFolders(folders: readonly string[]): void;
  /** A config file changed on disk. */
  configChanged(uri: string): void;
  /** These are gone, and may have been folders with configs in them. @param uris normalised */
  deleted(uris: ReadonlySet<string>): void;
  /** A config file is open in the editor and reads as this there; undefined: it was closed, and the disk counts again. */
  configEdited(uri: string, text: string | undefined): void;
  /** The editor's settings have changed. */
  settingsChanged(): void;
  /** A document was closed: what is known of it is not needed any more. */
  forget(uri: string): void;
}

export interface ProjectsListener {
  /** A config or a setting that was known before has changed. @param folder for which it holds; undefined: all */
  configChanged(folder: string | undefined): void;
  /** What the editor is set to has changed. */
  settingsChanged(): void;
}

/** A file system or a client that does not answer must not keep diagnostics back. */
const timeoutMs = 3000;

interface LoadedConfig {
  readonly uri: string;
  readonly text: string;
  readonly told: ConfigInput;
}
type Look = FolderLook<LoadedConfig>;

/**
 * @param readSettings what the editor is set to for a workspace folder, or for files in none
 */
export function createProjects(
  host: ConfinedHost,
  log: Log,
  readSettings: (folder: string | undefined) => Promise<Settings>,
  listener: ProjectsListener,
): Projects {
  const analysis = new Analysis();
  const edited = new Map<string, string>();
  const looks = new Map<string, Promise<Look>>();
  const texts = new Map<string, string | undefined>();
  const settings = new Map<string | undefined, Promise<Settings>>();
  const configs = new Map<string, { readonly reading: Promise<ProjectConfig>; config?: ProjectConfig }>();
  const intern = internConfigs();
  let folders: readonly string[] = [];

  function changed(folder?: string): void {
    configs.clear();
    listener.configChanged(folder);
  }

  function changedSettings(): void {
    changed();
    listener.settingsChanged();
  }

  /** An answer that comes too late counts when it comes. */
  async function withTimeout<T>(answer: Promise<T>, otherwise: T, onLate: () => void): Promise<T> {
    let late = false;
    const timeout = delay(timeoutMs).then(() => {
      late = true;
      return otherwise;
    });
    void answer.then(() => {
      if (late) onLate();
    });
    return Promise.race([answer, timeout]);
  }

  function lookInto(folder: string): Promise<Look> {
    const key = normalizeUri(folder);
    const known = looks.get(key) ?? read(folder);
    looks.set(key, known);
    return withTimeout(known, { found: undefined, top: false }, changed);
  }

  async function read(folder: string): Promise<Look> {
    const uri = `${folder}/${configName}`;
    const [text, top] = await Promise.all([configText(uri), isTop(folder)]);
    texts.set(normalizeUri(uri), text);
    return { found: text === undefined ? undefined : { uri, text, told: parseConfig(text).told }, top };
  }

  async function configText(uri: string): Promise<string | undefined> {
    let text: string | undefined;
    if (!edited.has(normalizeUri(uri)) && host.reaches(uri)) {
      await guarded(log, `reading ${uri}`, async () => {
        text = await host.readFile(uri);
      });
    }
    // While the disk was read the editor may have opened the file, and what it shows counts.
    return edited.get(normalizeUri(uri)) ?? text;
  }

  /** Nothing above the workspace's folders is read, and so nothing there counts. In them a repository ends the way up, too. */
  async function isTop(folder: string): Promise<boolean> {
    const [above] = foldersAbove(folder);
    if (above === undefined || !host.reaches(above)) return true;
    if (host.home !== undefined && normalizeUri(host.home) === normalizeUri(folder)) return true;
    // On other file systems each question may be a round trip over a network.
    if (!folder.startsWith('file:')) return false;
    const marks = [`${folder}/.git/HEAD`, `${folder}/.git`].map((mark) => host.readFile(mark).catch(() => undefined));
    return (await Promise.all(marks)).some((mark) => mark !== undefined);
  }

  function folderOf(uri: string): string | undefined {
    const path = normalizeUri(uri);
    const holding = folders.filter((folder) => isUnder(path, normalizeUri(folder)));
    // Of nested workspace folders the innermost holds the file.
    return holding.reduce<string | undefined>(
      (best, one) => (one.length > (best?.length ?? -1) ? one : best),
      undefined,
    );
  }

  function settingsOf(uri: string): Promise<Settings> {
    const folder = folderOf(configPlaceOf(uri, folders) ?? uri);
    const known = settings.get(folder) ?? host.reading(() => readSettings(folder));
    settings.set(folder, known);
    return withTimeout(known, defaultSettings, changedSettings);
  }

  async function resolve(uri: string): Promise<ProjectConfig> {
    const place = configPlaceOf(uri, folders);
    const [settings, nearest] = await Promise.all([settingsOf(uri), place && nearestConfig(place, lookInto)]);
    const path = place && nearest && (pathBelow(nearest.folder, place) ?? '');
    const file = nearest && path !== undefined ? { told: nearest.found.told, path } : undefined;
    return intern(resolveConfig({ settings, file }));
  }

  function configOf(uri: string): Promise<ProjectConfig> {
    const known = configs.get(uri);
    if (known !== undefined) return known.reading;
    const made: { reading: Promise<ProjectConfig>; config?: ProjectConfig } = { reading: resolve(uri) };
    configs.set(uri, made);
    void made.reading.then((config) => {
      made.config = config;
    });
    return made.reading;
  }

  async function reread(uri: string): Promise<void> {
    const key = normalizeUri(uri);
    // A config that nobody has needed yet is read when somebody does.
    if (!texts.has(key)) return;
    const before = texts.get(key);
    const text = await configText(uri);
    if (text === before) return;
    const folder = uri.slice(0, -configName.length - 1);
    looks.delete(normalizeUri(folder));
    changed(folder);
  }

  return {
    analysis,
    settingsOf,
    settled: host.settled,
    configOf,
    holds: (uri, config) => configs.get(uri)?.config === config,
    async configFileOf(uri) {
      const place = configPlaceOf(uri, folders);
      if (place === undefined) return undefined;
      const nearest = await nearestConfig(place, lookInto);
      const folder = folderOf(place);
      return nearest?.found.uri ?? (folder && `${folder}/${configName}`);
    },
    async isIgnored(uri) {
      const { ignore } = await configOf(uri);
      const nearest = ignore.length === 0 ? undefined : await nearestConfig(uri, lookInto);
      const path = nearest && pathBelow(nearest.folder, uri);
      return path !== undefined && matchesAny(path, ignore);
    },
    setFolders(wanted) {
      folders = wanted.map(withoutSlash);
      host.setFolders(folders);
      // What could not be reached before may be now, and the other way round.
      looks.clear();
      texts.clear();
      settings.clear();
      configs.clear();
    },
    configChanged(uri) {
      void guarded(log, `reading ${uri}`, () => reread(uri));
    },
    deleted(uris) {
      const gone = [...texts].filter(([key, text]) => text !== undefined && !edited.has(key) && isWithin(key, uris));
      for (const [key] of gone) {
        const folder = key.slice(0, -configName.length - 1);
        texts.delete(key);
        looks.delete(folder);
        changed(folder);
      }
    },
    configEdited(uri, text) {
      if (text === undefined) edited.delete(normalizeUri(uri));
      else edited.set(normalizeUri(uri), text);
      void guarded(log, `reading ${uri}`, () => reread(uri));
    },
    settingsChanged() {
      settings.clear();
      changedSettings();
    },
    forget(uri) {
      configs.delete(uri);
      analysis.removeFile(uri);
    },
  };
}

export { configName, foldersAbove, isConfigUri };

/** Configs that say the same are the same object, so that nothing is analysed again where nothing has changed. */
function internConfigs(): (config: ProjectConfig) => ProjectConfig {
  const known = new Map<string, ProjectConfig>();
  return (config) => {
    const text = JSON.stringify(config);
    const same = known.get(text) ?? config;
    known.delete(text);
    known.set(text, same);
    // While a config is typed it says something else with every letter.
    const [oldest] = known.keys();
    if (known.size > mostConfigs && oldest !== undefined) known.delete(oldest);
    return same;
  };
}

const mostConfigs = 200;

function isUnder(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds);
    // A pending timer must not keep a finished process alive.
    (timer as { unref?: () => void }).unref?.();
  });
}
