import { analyseDocument, type DocumentAnalysis, type DocumentInput, readDocument } from './analysis/document.ts';
import { normalizeUri } from './config/places.ts';
import type { ProjectConfig } from './config.ts';
import { defaultConfig } from './config.ts';
import { namesAccelerators } from './model/accelerators.ts';
import { noRelatedFiles } from './model/related-files.ts';
import { knownByText } from './workspace/known-texts.ts';
import { lookupsOf } from './workspace/lookups.ts';
import { joinSummaries } from './workspace/summary.ts';
import { type FileContext, Workspace } from './workspace/workspace.ts';
import { lazy } from './yaml/lazy.ts';
import type { YamlFile } from './yaml/node.ts';
import { checkLimits, type DocumentText, objectsReason, splitObjects } from './yaml/parse.ts';

export type { DocumentAnalysis } from './analysis/document.ts';
export type { RuleCrash } from './rules/run.ts';
export type { SuppressionUse } from './rules/suppressions.ts';

/** Everything that is known of one file. */
export interface FileAnalysis {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  readonly yaml: YamlFile;
  /** As in the JSON report. */
  readonly parse: 'ok' | 'template' | 'error' | 'skipped';
  /** A sentence where `parse` is error or skipped. */
  readonly problem: string | null;
  readonly documents: readonly DocumentAnalysis[];
  /** Some workload asks for an accelerator. */
  readonly hasAccelerators: boolean;
  readonly config: ProjectConfig;
  /** Whether every answer that it rests on is still the same. */
  isCurrent(): boolean;
  /** What the file would be with another text, among the same files. Its findings are there, and nothing of it is kept. */
  withText(text: string): FileAnalysis;
}

/**
 * The API boundary: the editor and the CLI both stand on it, so that they cannot disagree. Its state is the texts and the config;
 * all else is derived when it is asked for. A document whose text did not change keeps its analysis, so work is bounded by the edit.
 */
export class Analysis {
  readonly #strict: boolean;
  /** By normalised URI: clients do not always write one in the same way. */
  readonly #files = new Map<string, FileAnalysis>();
  /** Those that were set without a config of their own. */
  readonly #followers = new Set<string>();
  readonly #workspace = new Workspace();
  #config: ProjectConfig = defaultConfig;

  /** @param options.strict rethrow what a rule throws instead of keeping it as data: for tests */
  constructor(options: { readonly strict?: boolean } = {}) {
    this.#strict = options.strict ?? false;
  }

  /** The config of files that are set without one of their own, now and before. */
  setConfig(config: ProjectConfig): void {
    this.#config = config;
    for (const key of this.#followers) {
      const file = this.#files.get(key);
      const relatedFiles = this.#workspace.contextOf(key)?.relatedFiles ?? noRelatedFiles;
      if (file !== undefined) this.#set(file.uri, file.text, file.version, { config, relatedFiles });
    }
  }

  /**
   * The same analysis as before where the text and every answer that it rests on are the same.
   * @param config what holds for this file
   * @param relatedFiles what other files say of it; left out: what they said before
   */
  setFile(
    uri: string,
    text: string,
    version = 0,
    config?: ProjectConfig,
    relatedFiles = this.#workspace.contextOf(uri)?.relatedFiles ?? noRelatedFiles,
  ): FileAnalysis {
    const key = normalizeUri(uri);
    if (config === undefined) this.#followers.add(key);
    else this.#followers.delete(key);
    return this.#set(uri, text, version, { config: config ?? this.#config, relatedFiles });
  }

  #set(uri: string, text: string, version: number, context: FileContext): FileAnalysis {
    const key = normalizeUri(uri);
    const known = this.#files.get(key);
    const workspace = this.#workspace;
    workspace.setContext(uri, context);
    const isSame = known?.uri === uri && known.version === version && known.text === text;
    if (isSame && known.isCurrent()) return known;
    const now = () => workspace.contextOf(uri) ?? context;
    const input = { uri, text, version, context: now, strict: this.#strict, workspace };
    const made = analyseFile(input, known?.documents ?? []);
    this.#files.set(key, made);
    return made;
  }

  /** A file that is not set, seen together with those that are. Nothing of it is kept. */
  peek(uri: string, text: string, config: ProjectConfig): FileAnalysis {
    // Where the folder was looked through, its summary is there already; where not, its documents find at least each other.
    const seen = this.#workspace.file(uri) !== undefined;
    const workspace = seen ? this.#workspace : new Workspace();
    const context = { config, relatedFiles: noRelatedFiles };
    return analyseFile({ uri, text, version: 0, context: () => context, strict: this.#strict, workspace, seen }, []);
  }

  removeFile(uri: string): void {
    const key = normalizeUri(uri);
    this.#files.delete(key);
    this.#followers.delete(key);
    this.#workspace.delete(uri, 'open');
    this.#workspace.setContext(uri, undefined);
  }

  /** The analysis of a file that was set; a new one where an answer that it rests on is another now. */
  file(uri: string): FileAnalysis | undefined {
    const file = this.#files.get(normalizeUri(uri));
    const context = this.#workspace.contextOf(uri);
    if (file === undefined || context === undefined) return file;
    return this.#set(file.uri, file.text, file.version, context);
  }

  /** The files that are seen together: those that are set, before those that were only read for a summary. */
  get workspace(): Workspace {
    return this.#workspace;
  }
}

interface FileInput extends DocumentInput {
  readonly text: string;
  readonly version: number;
  /** The workspace knows its summary. */
  readonly seen?: boolean;
}

function analyseFile(input: FileInput, before: readonly DocumentAnalysis[]): FileAnalysis {
  const { uri, text, version, workspace } = input;
  const { config, reads } = lookupsOf(workspace, uri, input.context);
  const whole = checkLimits(text);
  const parts = whole === null ? splitObjects(text) : [];
  const skipped = whole ?? objectsReason(parts.length);
  const documents = analyseParts(skipped === null ? parts : [], input, before);
  const summary = lazy(() => summarise(text, skipped, documents));
  return {
    uri,
    version,
    text,
    config,
    documents,
    isCurrent: () => reads.hold() && documents.every((document) => document.isCurrent()),
    get yaml() {
      return summary().yaml;
    },
    get parse() {
      return summary().parse;
    },
    get problem() {
      return summary().problem;
    },
    get hasAccelerators() {
      return documents.some(({ costed }) => costed.some(namesAccelerators));
    },
    withText: (changed) =>
      workspace.restoring(uri, () => {
        // Without the documents that are known: what they have not worked out yet, they would work out among the changed ones.
        const copy = analyseFile({ ...input, text: changed, seen: false }, []);
        // While the workspace has the changed file.
        for (const document of copy.documents) void document.findings;
        return copy;
      }),
  };
}

/** Apart from the file's own analysis, so that nothing of the former documents is kept with it. */
function analyseParts(
  parts: readonly DocumentText[],
  input: FileInput,
  before: readonly DocumentAnalysis[],
): readonly DocumentAnalysis[] {
  const known = parts.map(knownByText(before));
  const { config } = input.context();
  const read = parts.map((part, index) => readDocument(part, config, known[index]));
  // Documents of a file find each other as those of other files do, so the file is seen before they are judged.
  if (input.seen !== true) input.workspace.set(input.uri, joinSummaries(read), 'open');
  return read.map((part, index) => analyseDocument(part, input, known[index]));
}

function summarise(
  text: string,
  skipped: string | null,
  documents: readonly DocumentAnalysis[],
): Pick<FileAnalysis, 'yaml' | 'parse' | 'problem'> {
  const yaml = { text, documents: documents.map(({ document }) => document), skipped };
  if (skipped !== null) return { yaml, parse: 'skipped', problem: skipped };
  const tooMuch = yaml.documents.find((document) => document.skipped !== null);
  if (tooMuch !== undefined && yaml.documents.length === 1) return { yaml, parse: 'skipped', problem: tooMuch.skipped };
  const problem = yaml.documents.flatMap(({ problems }) => problems).find(({ readable }) => readable !== true);
  if (problem !== undefined) return { yaml, parse: 'error', problem: problem.message };
  return { yaml, parse: yaml.documents.some(({ template }) => template) ? 'template' : 'ok', problem: null };
}
