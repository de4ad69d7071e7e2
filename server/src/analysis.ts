import { analyzeDocument, type DocumentAnalysis, readDocument } from './analysis/document.ts';
import { judgeTogether } from './analysis/judge.ts';
import type { DocumentInput } from './analysis/judgement.ts';
import { normalizeUri } from './config/places.ts';
import type { ProjectConfig } from './config.ts';
import { defaultConfig } from './config.ts';
import { namesAccelerators } from './model/accelerators.ts';
import { mayRouteToModels, mayServePods, namesAcceleratorResources } from './model/concern.ts';
import { noRelatedFiles, type RelatedFiles } from './model/related-files.ts';
import { knownByText } from './workspace/known-texts.ts';
import { lookupsOf } from './workspace/lookups.ts';
import { isModelConfig, summarizeModelConfig } from './workspace/model-configs.ts';
import { joinSummaries } from './workspace/summary.ts';
import { type FileContext, Workspace } from './workspace/workspace.ts';
import { lazy } from './yaml/lazy.ts';
import type { YamlFile } from './yaml/node.ts';
import { checkLimits, type DocumentText, objectsReason, splitObjects, withOpenBlocks } from './yaml/parse.ts';

export type { DocumentAnalysis } from './analysis/document.ts';
export type { RuleCrash } from './rules/run.ts';
export type { SuppressionUse } from './rules/suppressions.ts';

/** The analysis of one file. */
export interface FileAnalysis {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  readonly yaml: YamlFile;
  /** As in the JSON report. */
  readonly parse: 'ok' | 'template' | 'error' | 'skipped';
  /** A sentence if `parse` is `error` or `skipped`. */
  readonly problem: string | null;
  readonly documents: readonly DocumentAnalysis[];
  /** At least one workload requests an accelerator. */
  readonly hasAccelerators: boolean;
  readonly config: ProjectConfig;
  /** Whether all lookups that the analysis depends on still have the same results. May be kept without the analysis. */
  readonly isCurrent: () => boolean;
  /** The analysis of the file with another text in the same workspace. Its findings are computed; nothing is stored. */
  withText(text: string): FileAnalysis;
  /** The same, with only what `compute` takes from the analysis, which is not valid afterwards. */
  withText<T>(text: string, compute: (file: FileAnalysis) => T): T;
}

/**
 * The API boundary. The editor and the CLI both use it, so their results are the same. Its state is the texts and the config; everything
 * else is derived on demand. A document whose text has not changed keeps its analysis: the work is proportional to the edit.
 */
export class Analysis {
  readonly #strict: boolean;
  /** By normalized URI, because clients spell the same URI differently. */
  readonly #files = new Map<string, FileAnalysis>();
  /** Keys of the files that were set without their own config. */
  readonly #followers = new Set<string>();
  readonly #workspace = new Workspace();
  #config: ProjectConfig = defaultConfig;

  /** @param options.strict rethrow the errors of rules instead of recording them, for tests */
  constructor(options: { readonly strict?: boolean } = {}) {
    this.#strict = options.strict ?? false;
  }

  /** Sets the config of all files without their own config, including files that are already set. */
  setConfig(config: ProjectConfig): void {
    if (config === this.#config) return;
    this.#config = config;
    for (const key of this.#followers) {
      const file = this.#files.get(key);
      const relatedFiles = this.#workspace.contextOf(key)?.relatedFiles ?? noRelatedFiles;
      if (file !== undefined) this.#set(file.uri, file.text, file.version, { config, relatedFiles });
    }
  }

  /**
   * Analyzes a file. Returns the existing analysis if the text and all lookups that it depends on are unchanged.
   * @param config of this file; by default, the shared one
   * @param relatedFiles the chart values or kustomize objects that apply to the file; by default, the previous ones
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
    const made = analyzeFile(input, known?.documents ?? []);
    this.#files.set(key, made);
    return made;
  }

  /**
   * Analyzes a file that is not set, together with those that are. Nothing is stored.
   * @param isIndexed whether the workspace has a summary of the file, if it has objects that others can refer to
   */
  peek(
    uri: string,
    text: string,
    config: ProjectConfig,
    relatedFiles: RelatedFiles = noRelatedFiles,
    isIndexed = this.#workspace.file(uri) !== undefined,
  ): FileAnalysis {
    // Without a summary, the documents of the file find at least each other.
    const workspace = isIndexed ? this.#workspace : new Workspace();
    const context = { config, relatedFiles };
    return analyzeFile(
      { uri, text, version: 0, context: () => context, strict: this.#strict, workspace, isIndexed },
      [],
    );
  }

  removeFile(uri: string): void {
    const key = normalizeUri(uri);
    this.#files.delete(key);
    this.#followers.delete(key);
    this.#workspace.delete(uri, 'open');
    this.#workspace.setContext(uri, undefined);
  }

  /** The analysis of a file that was set, renewed if a lookup that it depends on has a new result. */
  file(uri: string): FileAnalysis | undefined {
    const file = this.#files.get(normalizeUri(uri));
    const context = this.#workspace.contextOf(uri);
    if (file === undefined || context === undefined) return file;
    return this.#set(file.uri, file.text, file.version, context);
  }

  /** The files that are analyzed together. Files that are set take precedence over files that are only summarized. */
  get workspace(): Workspace {
    return this.#workspace;
  }
}

interface FileInput extends DocumentInput {
  readonly text: string;
  readonly version: number;
  /** The workspace already has a summary of the file. */
  readonly isIndexed?: boolean;
}

function analyzeFile(input: FileInput, before: readonly DocumentAnalysis[]): FileAnalysis {
  const { uri, text, version, workspace } = input;
  const { config, reads } = lookupsOf(workspace, uri, input.context);
  const whole = checkLimits(text);
  const parts = whole === null ? withOpenBlocks(splitObjects(text), isValues.test(uri) ? '' : text) : [];
  const skipped = whole ?? objectsReason(parts.length);
  const documents = analyzeParts(skipped === null ? parts : [], input, before);
  const summary = lazy(() => summarizeParts(text, skipped, documents));
  const file: FileAnalysis = {
    uri,
    version,
    text,
    config,
    documents,
    isCurrent: allCurrent([reads, ...documents]),
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
    withText: <T>(changed: string, compute: (file: FileAnalysis) => T | FileAnalysis = withFindings) => {
      // The lazy parts of known documents would be computed in the changed workspace. Of those with findings, none is left.
      const settled = compute === withFindings ? withFindings(file).documents : [];
      return workspace.restoring(uri, () =>
        compute(analyzeFile({ ...input, text: changed, isIndexed: false }, settled)),
      );
    },
  };
  return file;
}

/** Values of a chart: Helm does not read them as a template, though comments and texts in them may quote parts of one. */
const isValues = /values[^/]*\.ya?ml$/i;

/** Computes the findings of all documents, while the workspace contains the file as it is. */
export function withFindings(file: FileAnalysis): FileAnalysis {
  judgeTogether([file]);
  for (const document of file.documents) void document.findings;
  return file;
}

/** Keeps only the checks alive, not the documents: callers keep this much longer than the analysis. */
function allCurrent(all: readonly Pick<FileAnalysis, 'isCurrent'>[]): () => boolean {
  const checks = all.map(({ isCurrent }) => isCurrent);
  return () => checks.every((isCurrent) => isCurrent());
}

/** A separate function, so that the analysis does not keep the previous documents alive. */
function analyzeParts(
  parts: readonly DocumentText[],
  input: FileInput,
  before: readonly DocumentAnalysis[],
): readonly DocumentAnalysis[] {
  const find = knownByText(before);
  const { config } = input.context();
  const requests = lazy(() => namesAcceleratorResources(input.text));
  const serves = parts.map(
    ({ text, item = false }) => mayRouteToModels(text, item) || (mayServePods(text, item) && requests()),
  );
  const known = parts.map((part, index) => {
    const found = find(part);
    return found?.servesOthers === serves[index] ? found : undefined;
  });
  const read = parts.map((part, index) => readDocument(part, config, known[index], serves[index] === true));
  // Documents of one file find each other through the workspace, so the file is added before they are analyzed.
  const { uri, text, workspace, context, strict } = input;
  const summary = () => (isModelConfig(uri) ? summarizeModelConfig(uri, text) : joinSummaries(read));
  if (input.isIndexed !== true) workspace.set(uri, summary(), 'open');
  // Without the text: a document is kept much longer than this version of its file.
  const kept = { uri, context, strict, workspace };
  return read.map((part, index) => analyzeDocument(part, kept, known[index]));
}

function summarizeParts(
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
