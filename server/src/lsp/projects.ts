import { Analysis } from '../analysis.ts';
import type { PriceSheet } from '../catalog/index.ts';
import { matchesAny } from '../config/globs.ts';
import {
  configName,
  configPlaceOf,
  type FolderConfig,
  foldersAbove,
  isConfigUri,
  isWithin,
  nearestConfig,
  normalizeUri,
  pathBelow,
  withoutSlash,
} from '../config/places.ts';
import { isPathBelow, readPriceFile } from '../config/price-file.ts';
import type { ConfigInput, PricesInUse, ProjectConfig } from '../config.ts';
import { parseConfig, resolveConfig } from '../config.ts';
import { listPrices, type UnitRates } from '../cost/custom-prices.ts';
import type { ConfinedHost } from './confined-host.ts';
import type { Log } from './guard.ts';
import { guarded, inTime } from './guard.ts';
import { defaultSettings, type Settings } from './settings.ts';

/** The files of all workspace folders, each with its config. */
export interface Projects {
  readonly analysis: Analysis;
  /** The config of a file: the same object as long as its values are the same. Never rejects, and waits for a limited time. */
  configOf(uri: string): Promise<ProjectConfig>;
  /** Whether a config is still that of a file. */
  isCurrent(uri: string, config: ProjectConfig): boolean;
  settingsOf(uri: string): Promise<Settings>;
  /** Waits a limited time for other files. @returns whether all are read */
  settled(): Promise<boolean>;
  /** The URI of a document's config file, or of the one to create in its workspace folder; undefined if it is in no folder. */
  configFileOf(uri: string): Promise<string | undefined>;
  /** Whether the config ignores a file. */
  isIgnored(uri: string): Promise<boolean>;
  setFolders(folders: readonly string[]): void;
  /** Handles a config file that changed on disk. */
  configChanged(uri: string): void;
  /** Handles deleted files and folders, which may contain configs. @param uris normalized */
  deleted(uris: ReadonlySet<string>): void;
  /** Handles the current text of a config that is open in the editor; undefined if it was closed. */
  configEdited(uri: string, text: string | undefined): void;
  /** Handles changed settings of the editor. */
  settingsChanged(): void;
  /** The list prices in use. */
  sheet(): PriceSheet;
  /** Reads the prices of the machine again. */
  pricesChanged(): void;
  /** Releases everything about a closed document. */
  forget(uri: string): void;
}

export interface ProjectsListener {
  /** A known config or setting has changed. @param folder below which it applies; undefined: all folders */
  configChanged(folder: string | undefined): void;
  /** The editor's settings have changed. */
  settingsChanged(): void;
}

/** A file system or client that does not respond must not delay diagnostics further. */
const timeoutMs = 3000;

interface LoadedConfig {
  readonly uri: string;
  readonly text: string;
  readonly values: ConfigInput;
  readonly rates: UnitRates | undefined;
}
type Look = FolderConfig<LoadedConfig>;

/**
 * @param readSettings reads the settings of a workspace folder, or those of files in no folder
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
  /** The texts of configs by normalized URI, also of those that are being read. */
  const readings = new Map<string, Promise<string | undefined>>();
  const texts = new Map<string, string | undefined>();
  const settings = new Map<string | undefined, Promise<Settings>>();
  const configs = new Map<string, { readonly reading: Promise<ProjectConfig>; config?: ProjectConfig }>();
  /** Answers that did not arrive in time. */
  const late = new WeakSet<Promise<unknown>>();
  const intern = internConfigs();
  let folders: readonly string[] = [];
  let prices: PricesInUse | undefined;

  function changed(folder?: string): void {
    configs.clear();
    listener.configChanged(folder);
  }

  function changedSettings(): void {
    changed();
    listener.settingsChanged();
  }

  /** A result after the timeout is used when it arrives. Only the first caller waits for it. */
  function withTimeout<T>(answer: Promise<T>, otherwise: T, onLate: () => void): Promise<T> {
    if (late.has(answer)) return Promise.resolve(otherwise);
    return inTime(answer, timeoutMs, () => {
      late.add(answer);
      void answer.then(() => {
        if (late.delete(answer)) onLate();
      });
      return otherwise;
    });
  }

  function lookUpFolder(folder: string): Promise<Look> {
    const key = normalizeUri(folder);
    const known = looks.get(key) ?? read(folder);
    looks.set(key, known);
    return withTimeout(known, { found: undefined, top: false }, changed);
  }

  async function read(folder: string): Promise<Look> {
    const uri = `${folder}/${configName}`;
    const key = normalizeUri(uri);
    const reading = configText(uri);
    readings.set(key, reading);
    const [text, top] = await Promise.all([reading, isTop(folder)]);
    if (readings.get(key) === reading) texts.set(key, text);
    if (text === undefined) return { found: undefined, top };
    const { values } = parseConfig(text);
    return { found: { uri, text, values, rates: await ratesIn(folder, values.priceFile) }, top };
  }

  /** The prices of a config's price file, which is read again with the config. */
  async function ratesIn(folder: string, path: string | undefined): Promise<UnitRates | undefined> {
    if (path === undefined || !isPathBelow(path)) return undefined;
    const uri = `${folder}/${path.split('/').map(encodeURIComponent).join('/')}`;
    let rates: UnitRates | string = 'it does not exist';
    await guarded(log, `reading ${uri}`, async () => {
      const text = host.reaches(uri) ? await host.readFile(uri) : undefined;
      if (text !== undefined) rates = readPriceFile(text);
    });
    if (typeof rates !== 'string') return rates;
    log(`${uri} sets no prices: ${rates}`);
    return undefined;
  }

  async function configText(uri: string): Promise<string | undefined> {
    let text: string | undefined;
    if (!edited.has(normalizeUri(uri)) && host.reaches(uri)) {
      await guarded(log, `reading ${uri}`, async () => {
        text = await host.readFile(uri);
      });
    }
    // The editor may have opened the file in the meantime, and its text takes precedence.
    return edited.get(normalizeUri(uri)) ?? text;
  }

  /** Whether the search for a config ends at a folder: the root of the workspace or of a repository, or the user's home. */
  async function isTop(folder: string): Promise<boolean> {
    const [above] = foldersAbove(folder);
    if (above === undefined || !host.reaches(above)) return true;
    if (host.home !== undefined && normalizeUri(host.home) === normalizeUri(folder)) return true;
    // On other file systems, each read can be a round trip over a network.
    if (!folder.startsWith('file:')) return false;
    const marks = [`${folder}/.git/HEAD`, `${folder}/.git`].map((mark) => host.readFile(mark).catch(() => undefined));
    return (await Promise.all(marks)).some((mark) => mark !== undefined);
  }

  function folderOf(uri: string): string | undefined {
    const path = normalizeUri(uri);
    const holding = folders.filter((folder) => isUnder(path, normalizeUri(folder)));
    // A file in nested workspace folders belongs to the innermost one.
    return holding.reduce<string | undefined>(
      (best, one) => (one.length > (best?.length ?? -1) ? one : best),
      undefined,
    );
  }

  function settingsOf(uri: string): Promise<Settings> {
    const folder = folderOf(configPlaceOf(uri, folders) ?? uri);
    const known = settings.get(folder) ?? readSettings(folder);
    settings.set(folder, known);
    // A client may never answer; what is shown then is final.
    return host.reading(() => withTimeout(known, defaultSettings, changedSettings));
  }

  async function resolve(uri: string): Promise<ProjectConfig> {
    const place = configPlaceOf(uri, folders);
    const [settings, nearest] = await Promise.all([settingsOf(uri), place && nearestConfig(place, lookUpFolder)]);
    const path = place && nearest && (pathBelow(nearest.folder, place) ?? '');
    const file =
      nearest && path !== undefined ? { values: nearest.found.values, rates: nearest.found.rates, path } : undefined;
    return intern(resolveConfig({ settings, file, prices: pricesNow() }));
  }

  function pricesNow(): PricesInUse {
    if (prices !== undefined) return prices;
    const { problem, sheet, today } = host.prices?.() ?? { ...listPrices, problem: null };
    if (problem !== null) log(problem);
    prices = { sheet, today };
    return prices;
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
    // A config that was never read is read on demand.
    if (!readings.has(key)) return;
    const text = await configText(uri);
    if (text === (await readings.get(key))) return;
    const folder = uri.slice(0, -configName.length - 1);
    looks.delete(normalizeUri(folder));
    changed(folder);
  }

  return {
    analysis,
    settingsOf,
    settled: host.settled,
    configOf,
    isCurrent: (uri, config) => configs.get(uri)?.config === config,
    async configFileOf(uri) {
      const place = configPlaceOf(uri, folders);
      if (place === undefined) return undefined;
      const nearest = await nearestConfig(place, lookUpFolder);
      const folder = folderOf(place);
      return nearest?.found.uri ?? (folder && `${folder}/${configName}`);
    },
    async isIgnored(uri) {
      const { ignore } = await configOf(uri);
      const nearest = ignore.length === 0 ? undefined : await nearestConfig(uri, lookUpFolder);
      const path = nearest && pathBelow(nearest.folder, uri);
      return path !== undefined && matchesAny(path, ignore);
    },
    setFolders(newFolders) {
      folders = newFolders.map(withoutSlash);
      host.setFolders(folders);
      // The set of files within reach has changed.
      looks.clear();
      readings.clear();
      texts.clear();
      settings.clear();
      configs.clear();
    },
    configChanged(uri) {
      void guarded(log, `reading ${uri}`, () => reread(uri));
    },
    deleted(uris) {
      const removed = [...texts].filter(([key, text]) => text !== undefined && !edited.has(key) && isWithin(key, uris));
      for (const [key] of removed) {
        const folder = key.slice(0, -configName.length - 1);
        readings.delete(key);
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
      // Another program may have refreshed the price sheet in the meantime.
      prices = undefined;
      changedSettings();
    },
    sheet: () => pricesNow().sheet,
    pricesChanged() {
      prices = undefined;
      changedSettings();
    },
    forget(uri) {
      configs.delete(uri);
      analysis.removeFile(uri);
    },
  };
}

export { configName, foldersAbove, isConfigUri };

/** Makes configs with the same values the same object, so that nothing is analyzed again without a change. */
function internConfigs(): (config: ProjectConfig) => ProjectConfig {
  const known = new Map<string, ProjectConfig>();
  return (config) => {
    const text = JSON.stringify(config);
    const same = known.get(text) ?? config;
    known.delete(text);
    known.set(text, same);
    // While a config is edited, each keystroke creates a new one.
    const [oldest] = known.keys();
    if (known.size > maxConfigs && oldest !== undefined) known.delete(oldest);
    return same;
  };
}

const maxConfigs = 200;

function isUnder(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
