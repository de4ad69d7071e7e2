import type { FileAnalysis } from '../analysis.ts';
import { Analysis } from '../analysis.ts';
import type { ConfigProblem } from '../config.ts';
import { defaultConfig, parseConfig } from '../config.ts';
import type { Log } from './guard.ts';
import { guarded } from './guard.ts';

/** The name of the config file, at the root of a workspace folder. */
export const configName = '.gpulint.yaml';

/** What the server needs of the machine it runs on. */
export interface Host {
  /** The text of a file; undefined where there is none. */
  readFile(uri: string): Promise<string | undefined>;
}

/** A workspace folder: its config and the files that stand under it. */
export interface Project {
  /** null for the files that are in no workspace folder. */
  readonly folder: string | null;
  readonly configUri: string | null;
  readonly analysis: Analysis;
}

/** The workspace folders, each with its own config. */
export interface Projects {
  /** Settles when every config has been read, or has kept us waiting too long; never rejects. */
  readonly ready: Promise<void>;
  /** Counts the changes of configs: with a document's version it names a result. */
  readonly generation: number;
  of(uri: string): Project;
  /** The text of a project's config as it counts now; undefined where there is none. */
  configText(project: Project): Promise<string | undefined>;
  isConfigOf(project: Project, uri: string): boolean;
  setFolders(folders: readonly string[]): void;
  /** A config file changed on disk. */
  configChanged(uri: string): void;
  /** A config file is open in the editor and reads as this there; undefined: it was closed, and the disk counts again. */
  configEdited(uri: string, text: string | undefined): void;
}

/** A file system that does not answer must not keep diagnostics back for ever. */
const patience = 3000;

/** @param onChange called when a config has changed after `ready` */
export function createProjects(host: Host, log: Log, onChange: () => void): Projects {
  const outside: Project = { folder: null, configUri: null, analysis: new Analysis() };
  const edited = new Map<string, string>();
  const texts = new Map<string, string | undefined>();
  let projects: readonly Project[] = [];
  let ready: Promise<void> = Promise.resolve();
  let generation = 0;

  function apply(project: Project, text: string | undefined): void {
    if (project.configUri === null || (texts.has(project.configUri) && texts.get(project.configUri) === text)) return;
    texts.set(project.configUri, text);
    project.analysis.setConfig(text === undefined ? defaultConfig : parseConfig(text).config);
    generation += 1;
    onChange();
  }

  async function load(project: Project): Promise<void> {
    apply(project, await configText(project));
  }

  async function configText({ configUri }: Project): Promise<string | undefined> {
    if (configUri === null) return undefined;
    const shown = () => edited.get(normalizeUri(configUri));
    const text = shown() ?? (await host.readFile(configUri));
    // While the disk was read the editor may have opened the file, and what it shows counts.
    return shown() ?? text;
  }

  function loadAll(some: readonly Project[]): Promise<void> {
    const loads = some.map((project) => guarded(log, `reading ${project.configUri}`, () => load(project)));
    return Promise.race([Promise.all(loads).then(() => undefined), delay(patience)]);
  }

  function withConfig(uri: string): readonly Project[] {
    const wanted = normalizeUri(uri);
    return projects.filter(({ configUri }) => configUri !== null && normalizeUri(configUri) === wanted);
  }

  return {
    configText,
    isConfigOf: ({ configUri }, uri) => configUri !== null && normalizeUri(configUri) === normalizeUri(uri),
    get ready() {
      return ready;
    },
    get generation() {
      return generation;
    },
    of(uri) {
      const path = normalizeUri(uri);
      const holding = projects.filter(({ folder }) => folder !== null && isUnder(path, normalizeUri(folder)));
      // Of nested workspace folders the innermost holds the file.
      return holding.reduce((best, project) => (length(project) > length(best) ? project : best), outside);
    },
    setFolders(folders) {
      const before = new Map(projects.map((project) => [project.folder, project]));
      projects = folders.map(
        (folder) =>
          before.get(folder) ?? {
            folder,
            configUri: `${folder.replace(/\/+$/, '')}/${configName}`,
            analysis: new Analysis(),
          },
      );
      ready = loadAll(projects.filter(({ folder }) => !before.has(folder)));
    },
    configChanged(uri) {
      void loadAll(withConfig(uri));
    },
    configEdited(uri, text) {
      if (text === undefined) edited.delete(normalizeUri(uri));
      else edited.set(normalizeUri(uri), text);
      if (text === undefined) void loadAll(withConfig(uri));
      else for (const project of withConfig(uri)) apply(project, text);
    },
  };
}

/** What is wrong in a config file's text. */
export function configProblems(text: string): readonly ConfigProblem[] {
  return parseConfig(text).problems;
}

export function isConfigUri(uri: string): boolean {
  return uri.endsWith(`/${configName}`);
}

/** The analysis of a text in the project it belongs to; the same object while neither text nor config changed. */
export function analysisOf(projects: Projects, uri: string, text: string, version: number): FileAnalysis {
  const { analysis } = projects.of(uri);
  const known = analysis.file(uri);
  return known !== undefined && known.version === version && known.text === text
    ? known
    : analysis.setFile(uri, text, version);
}

/** Clients differ in how they escape a colon and write a drive letter, sometimes within one session. */
function normalizeUri(uri: string): string {
  let plain = uri;
  try {
    plain = decodeURIComponent(uri);
  } catch {
    // A stray percent sign: the text itself is as good a name.
  }
  return plain.replace(
    /^(file:\/\/\/)([A-Z]):/,
    (_, scheme: string, drive: string) => `${scheme}${drive.toLowerCase()}:`,
  );
}

function isUnder(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function length({ folder }: Project): number {
  return folder?.length ?? -1;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds);
    // A pending timer must not keep a finished process alive.
    (timer as { unref?: () => void }).unref?.();
  });
}
