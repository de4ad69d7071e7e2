import { normalizeUri } from './config/places.ts';
import type { ProjectConfig } from './config.ts';
import { defaultConfig } from './config.ts';
import { estimateCost } from './cost/estimate.ts';
import type { CostResult } from './cost/types.ts';
import { type Beside, hasBeside, nothingBeside, withBeside } from './model/beside.ts';
import type { Claims } from './model/claims.ts';
import { mayConcernAccelerators } from './model/concern.ts';
import { lowerDocument } from './model/lower.ts';
import type { Surroundings } from './model/surroundings.ts';
import type { Manifest, Workload } from './model/workload.ts';
import type { Finding } from './rules/rule.ts';
import type { RuleCrash } from './rules/run.ts';
import { runRules } from './rules/run.ts';
import type { SuppressionUse } from './rules/suppressions.ts';
import { knownByText } from './workspace/known-texts.ts';
import { lazy } from './workspace/lazy.ts';
import { surroundingsOf } from './workspace/lookups.ts';
import { claimsOf, recordClaims } from './workspace/reads.ts';
import { type DocumentSummary, joinSummaries, summariseDocument } from './workspace/summary.ts';
import { Workspace } from './workspace/workspace.ts';
import type { YamlDocument, YamlFile } from './yaml/node.ts';
import { checkLimits, type DocumentText, objectsReason, parsePart, splitObjects } from './yaml/parse.ts';

export type { RuleCrash } from './rules/run.ts';
export type { SuppressionUse } from './rules/suppressions.ts';

/** Everything that is known of one document. Lazy, and memoised by the document's text. Spans are relative to `base`. */
export interface DocumentAnalysis {
  /** Where the document starts in the file. */
  readonly base: number;
  readonly text: string;
  /** It is an item of a long `kind: List`: those are known one by one. */
  readonly item: boolean;
  /** The document as it was first read; its base may be another. */
  readonly source: () => YamlDocument;
  readonly document: YamlDocument;
  readonly summary: DocumentSummary;
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Workload[];
  /** The same with what other files say (a chart's values), for what they cost. Rules judge only what this file says. */
  readonly costed: readonly Workload[];
  /** Suppressions applied, severities as configured. */
  readonly findings: readonly Finding[];
  readonly crashes: readonly RuleCrash[];
  /** Every comment and annotation that silences rules, and whether it does. */
  readonly suppressions: readonly SuppressionUse[];
  costOf(workload: Workload): CostResult;
  /** What other documents say of what this one names. What is asked here counts as read. */
  readonly surroundings: Surroundings;
  /** Whether all that it took from other documents and files still stands there. */
  isCurrent(): boolean;
  /** What the document would be with another text, in the same place among the same files. Nothing of it is kept. */
  withText(text: string): DocumentAnalysis;
  /** Whether these claims of its file say what it read of those before; if so, it reads these from now on. */
  goesWith(claims: Claims): boolean;
}

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
  readonly beside: Beside;
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
      if (file !== undefined) this.#set(file, config);
    }
  }

  /**
   * @param config what holds for this file
   * @param beside what other files say of it; left out: what they said before. What was known of its documents stands only as long as both
   * are the same objects.
   */
  setFile(uri: string, text: string, version = 0, config?: ProjectConfig, told?: Beside): FileAnalysis {
    const key = normalizeUri(uri);
    if (config === undefined) this.#followers.add(key);
    else this.#followers.delete(key);
    const beside = told ?? this.#files.get(key)?.beside ?? nothingBeside;
    return this.#set({ uri, text, version, beside }, config ?? this.#config);
  }

  #set(file: Pick<FileAnalysis, 'uri' | 'text' | 'version' | 'beside'>, config: ProjectConfig): FileAnalysis {
    const { uri, text, version, beside } = file;
    const key = normalizeUri(uri);
    const before = this.#files.get(key);
    const known = before?.config === config && before.beside === beside ? before.documents : [];
    const workspace = this.#workspace;
    const made = analyseFile({ uri, text, version, config, beside, strict: this.#strict, workspace }, known);
    this.#files.set(key, made);
    return made;
  }

  /** A file that is not set, seen together with those that are. Nothing of it is kept. */
  peek(uri: string, text: string, config: ProjectConfig): FileAnalysis {
    // Where the folder was looked through, its summary is there already; where not, its documents find at least each other.
    const seen = this.#workspace.file(uri) !== undefined;
    const workspace = seen ? this.#workspace : new Workspace();
    const input = { uri, text, version: 0, config, beside: nothingBeside, strict: this.#strict, workspace, seen };
    return analyseFile(input, []);
  }

  removeFile(uri: string): void {
    const key = normalizeUri(uri);
    this.#files.delete(key);
    this.#followers.delete(key);
    this.#workspace.delete(uri, 'open');
  }

  /** The analysis of a file that was set; a new one where another file now says otherwise what it took from there. */
  file(uri: string): FileAnalysis | undefined {
    const file = this.#files.get(normalizeUri(uri));
    if (file === undefined || this.stale(uri) === undefined) return file;
    return this.#set(file, file.config);
  }

  /** What is known of a file, if it took something from another file that now says otherwise. */
  stale(uri: string): FileAnalysis | undefined {
    const file = this.#files.get(normalizeUri(uri));
    return file?.documents.every((document) => document.isCurrent()) === false ? file : undefined;
  }

  /** The files that are seen together: those that are set, before those that were only read for a summary. */
  get workspace(): Workspace {
    return this.#workspace;
  }
}

interface FileInput {
  readonly uri: string;
  readonly text: string;
  readonly version: number;
  readonly config: ProjectConfig;
  readonly beside: Beside;
  readonly strict: boolean;
  readonly workspace: Workspace;
  /** The workspace knows its summary. */
  readonly seen?: boolean;
}

function analyseFile(input: FileInput, before: readonly DocumentAnalysis[]): FileAnalysis {
  const { uri, text, version, config, beside } = input;
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
    beside,
    documents,
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
      return documents.some(({ costed }) => costed.some(asksForAccelerators));
    },
  };
}

/** Apart from the file's own analysis, so that nothing of the former documents is kept with it. */
function analyseParts(
  parts: readonly DocumentText[],
  input: FileInput,
  before: readonly DocumentAnalysis[],
): readonly DocumentAnalysis[] {
  const known = parts.map(knownByText(before));
  const read = parts.map((part, index) => readDocument(part, input.config, known[index]));
  // Documents of a file find each other as those of other files do, so the file is seen before they are judged.
  if (input.seen !== true) input.workspace.set(input.uri, joinSummaries(read), 'open');
  const claims = claimsOf(read.map(({ summary }) => summary));
  return read.map((part, index) => analyseDocument(part, input, claims, known[index]));
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

/** What a document's text alone tells. */
type ReadDocument = Pick<DocumentAnalysis, 'base' | 'text' | 'item' | 'source' | 'document' | 'summary'>;

function readDocument(part: DocumentText, config: ProjectConfig, known: DocumentAnalysis | undefined): ReadDocument {
  const { text, base, item = false } = part;
  if (known?.base === base) return known;
  const source = known?.source ?? lazy(() => parsePart(part));
  const document = lazy(() => ({ ...source(), base }));
  return {
    base,
    text,
    item,
    source,
    summary: known?.summary ?? summariseDocument(text, source, config),
    get document() {
      return document();
    },
  };
}

function analyseDocument(
  part: ReadDocument,
  input: Omit<FileInput, 'text' | 'version'>,
  claims: Claims,
  known: DocumentAnalysis | undefined,
): DocumentAnalysis {
  const { text, base, item, source, summary } = part;
  if (known?.goesWith(claims) && known.isCurrent()) return moved(known, base);
  const ofFile = recordClaims(claims);
  const { surroundings, reads } = surroundingsOf(input.workspace, input.uri);
  const document = () => part.document;
  const concerned = lazy(() => mayConcernAccelerators(text));
  const lowered = lazy(() =>
    concerned() ? lowerDocument(document(), input.config, ofFile.claims, surroundings) : nothing,
  );
  const costed = lazy(() => {
    const { workloads } = lowered();
    if (!hasBeside(text, input.beside)) return workloads;
    return withBeside(document(), workloads, input.beside, input.config, ofFile.claims, surroundings);
  });
  const costs = new WeakMap<Workload, CostResult>();
  const costOf = (workload: Workload) => {
    const cost = costs.get(workload) ?? estimateCost(workload, input.config.prices);
    costs.set(workload, cost);
    return cost;
  };
  const judged = lazy(() => {
    if (!concerned()) return { findings: [], crashes: [], suppressions: [] };
    return runRules({
      document: document(),
      ...lowered(),
      options: input.config,
      surroundings,
      rules: input.config.rules,
      ruleOptions: input.config.ruleOptions,
      costOf,
      strict: input.strict,
    });
  });
  return {
    base,
    text,
    item,
    source,
    summary,
    surroundings,
    isCurrent: () => reads.hold(),
    withText(changed) {
      const copy = item ? { base, text: changed, item } : { base, text: changed };
      return analyseDocument(readDocument(copy, input.config, undefined), input, ofFile.claims, undefined);
    },
    goesWith: ofFile.goesWith,
    get document() {
      return document();
    },
    get manifests() {
      return lowered().manifests;
    },
    get workloads() {
      return lowered().workloads;
    },
    get costed() {
      return costed();
    },
    get findings() {
      return judged().findings;
    },
    get crashes() {
      return judged().crashes;
    },
    get suppressions() {
      return judged().suppressions;
    },
    costOf,
  };
}

/** The same document further up or down in its file. Everything in it is relative to its start, so only the base changes. */
function moved(before: DocumentAnalysis, base: number): DocumentAnalysis {
  if (before.base === base) return before;
  // What moves again and again stays one step from what was made.
  const made = originals.get(before) ?? before;
  const document = lazy(() => ({ ...made.source(), base }));
  const now: DocumentAnalysis = Object.create(made, {
    base: { value: base, enumerable: true },
    document: { get: document, enumerable: true },
  });
  originals.set(now, made);
  return now;
}

const originals = new WeakMap<DocumentAnalysis, DocumentAnalysis>();

const nothing = { manifests: [], workloads: [] } as const;

function asksForAccelerators(workload: Workload): boolean {
  return workload.podSets.some(({ accelerators }) => accelerators.length > 0);
}
