import type { ProjectConfig } from '../config.ts';
import type { PossibleCost } from '../cost/possible-cost.ts';
import type { CostResult } from '../cost/types.ts';
import type { FitFacts } from '../fleet/fit-question.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { Finding } from '../rules/rule.ts';
import type { RuleCrash } from '../rules/run.ts';
import type { SuppressionUse } from '../rules/suppressions.ts';
import { type DocumentSummary, summarizeDocument } from '../workspace/summary.ts';
import { withEmbeddedComments } from '../yaml/embedded.ts';
import { lazy } from '../yaml/lazy.ts';
import type { YamlDocument, YamlProblem } from '../yaml/node.ts';
import { type DocumentText, parsePart } from '../yaml/parse.ts';
import { ownCopy } from '../yaml/texts.ts';
import { type DocumentInput, Judgement, type Unchecked } from './judgement.ts';
import type { PoolManifest } from './related-pools.ts';

/** The analysis of one document. Lazy, and memoized by the document's text. Spans are relative to `base`. */
export interface DocumentAnalysis {
  /** Where the document starts in the file. */
  readonly base: number;
  readonly text: string;
  /** The document is an item of a long `kind: List`: such items are analyzed separately. */
  readonly item: boolean;
  /** The template actions of earlier documents that apply in this one. */
  readonly opened: string | undefined;
  /** An action in it that opens a block without an end, or ends none, in the whole file. */
  readonly unbalanced: YamlProblem | undefined;
  /** The document names no accelerators, but is used by pods in its file that request them. */
  readonly servesOthers: boolean;
  /** The document as first parsed; its base may differ. */
  readonly source: () => YamlDocument;
  readonly document: YamlDocument;
  readonly summary: DocumentSummary;
  /** The config of its summary and its findings. */
  readonly config: ProjectConfig;
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Workload[];
  /** The workloads with values from related files (a chart's values), for costs. Rules check only what is in this file. */
  readonly costed: readonly Workload[];
  /** The objects that may describe node pools, with values and patches from related files. */
  readonly pooled: readonly PoolManifest[];
  /** Suppressions applied, severities as configured. */
  readonly findings: readonly Finding[];
  readonly crashes: readonly RuleCrash[];
  /** Every comment and annotation that suppresses rules, and whether it has an effect. */
  readonly suppressions: readonly SuppressionUse[];
  /** What the rules have to check; undefined if that is nothing, or if they have done so. For `judge.ts`. */
  unchecked(): Unchecked | undefined;
  costOf(workload: Workload): CostResult;
  /** Without a price because nothing names the accelerator: the range over those on which the workload can run. */
  rangeOf(workload: Workload): PossibleCost | undefined;
  /** Whether the workload would run in the connected cluster; undefined without one, until it answers, and if that cannot be decided. */
  fitOf(workload: Workload): FitFacts | undefined;
  /** When the objects of the connected cluster were last known to be current, in milliseconds since the epoch: for words, not for decisions. */
  clusterTime(): number | undefined;
  /** Facts from other documents about objects that this one references. Each lookup is recorded. */
  readonly crossReferences: CrossReferences;
  /** Whether the config and all lookups in other documents and files still have the same results. */
  readonly isCurrent: () => boolean;
  /** The analysis of the document with another text, at the same position in the same workspace. Nothing is stored. */
  withText(text: string): DocumentAnalysis;
}

/** The part of an analysis that depends only on the document's text and the config. */
export type ReadDocument = Pick<
  DocumentAnalysis,
  'base' | 'text' | 'item' | 'opened' | 'unbalanced' | 'servesOthers' | 'source' | 'document' | 'summary' | 'config'
>;

export function readDocument(
  part: DocumentText,
  config: ProjectConfig,
  known: DocumentAnalysis | undefined,
  servesOthers: boolean,
): ReadDocument {
  const isSame = known?.config === config;
  if (isSame && known.base === part.base) return known;
  const own = { ...part, text: known?.text ?? ownCopy(part.text) };
  const source = known?.source ?? lazy(() => withEmbeddedComments(parsePart(own)));
  const summary = isSame ? known.summary : summarizeDocument(own.text, source, config);
  return new ReadPart(own, source, summary, config, servesOthers);
}

// Classes, because their functions are shared: a long file has thousands of documents, of which most are asked for little.

class ReadPart implements ReadDocument {
  readonly base: number;
  readonly text: string;
  readonly item: boolean;
  readonly opened: string | undefined;
  readonly unbalanced: YamlProblem | undefined;
  readonly source: () => YamlDocument;
  readonly summary: DocumentSummary;
  readonly config: ProjectConfig;
  readonly servesOthers: boolean;
  #document: YamlDocument | undefined;

  constructor(
    { text, base, item, opened, unbalanced }: DocumentText,
    source: () => YamlDocument,
    summary: DocumentSummary,
    config: ProjectConfig,
    servesOthers: boolean,
  ) {
    this.base = base;
    this.text = text;
    this.item = item === true;
    this.opened = opened;
    this.unbalanced = unbalanced;
    this.source = source;
    this.summary = summary;
    this.config = config;
    this.servesOthers = servesOthers;
  }

  get document(): YamlDocument {
    this.#document ??= atBase(this.source(), this.base);
    return this.#document;
  }
}

/** The same document, so that what its summary has read of it is not read again, unless it has moved. */
function atBase(document: YamlDocument, base: number): YamlDocument {
  return document.base === base ? document : { ...document, base };
}

/** @param known an earlier analysis of the same text, reused if it is current */
export function analyzeDocument(
  part: ReadDocument,
  input: DocumentInput,
  known: DocumentAnalysis | undefined,
): DocumentAnalysis {
  return known?.isCurrent() ? moved(known, part.base) : new AnalyzedDocument(part, new Judgement(part, input), input);
}

class AnalyzedDocument implements DocumentAnalysis {
  readonly base: number;
  readonly text: string;
  readonly item: boolean;
  readonly opened: string | undefined;
  readonly unbalanced: YamlProblem | undefined;
  readonly servesOthers: boolean;
  readonly source: () => YamlDocument;
  readonly summary: DocumentSummary;
  readonly config: ProjectConfig;
  readonly crossReferences: CrossReferences;
  readonly isCurrent: () => boolean;
  readonly costOf: (workload: Workload) => CostResult;
  readonly rangeOf: (workload: Workload) => PossibleCost | undefined;
  readonly fitOf: (workload: Workload) => FitFacts | undefined;
  /** Shared with what `moved` makes of this. */
  private readonly judgement: Judgement;
  private readonly input: DocumentInput;

  constructor(part: ReadDocument, judgement: Judgement, input: DocumentInput) {
    this.base = part.base;
    this.text = part.text;
    this.item = part.item;
    this.opened = part.opened;
    this.unbalanced = part.unbalanced;
    this.servesOthers = part.servesOthers;
    this.source = part.source;
    this.summary = part.summary;
    this.config = part.config;
    this.crossReferences = judgement.lookups.crossReferences;
    this.isCurrent = judgement.lookups.reads.isCurrent;
    this.costOf = judgement.costOf;
    this.rangeOf = judgement.rangeOf;
    this.fitOf = judgement.fitOf;
    this.judgement = judgement;
    this.input = input;
  }

  get document(): YamlDocument {
    return this.judgement.document;
  }

  get manifests(): readonly Manifest[] {
    return this.judgement.lowered.manifests;
  }

  get workloads(): readonly Workload[] {
    return this.judgement.lowered.workloads;
  }

  get costed(): readonly Workload[] {
    return this.judgement.costed;
  }

  get pooled(): readonly PoolManifest[] {
    return this.judgement.pooled;
  }

  get findings(): readonly Finding[] {
    return this.judgement.judged.findings;
  }

  get crashes(): readonly RuleCrash[] {
    return this.judgement.judged.crashes;
  }

  get suppressions(): readonly SuppressionUse[] {
    return this.judgement.judged.suppressions;
  }

  unchecked(): Unchecked | undefined {
    return this.judgement.unchecked();
  }

  clusterTime(): number | undefined {
    return this.input.workspace.cluster?.view.asOf;
  }

  withText(text: string): DocumentAnalysis {
    const { base, item, opened, servesOthers, config, input } = this;
    const copy = { base, text, ...(item && { item: true as const }), ...(opened !== undefined && { opened }) };
    return analyzeDocument(readDocument(copy, config, undefined, servesOthers), input, undefined);
  }
}

/** The same document at another offset of its file. All spans are relative to its start, so only the base changes. */
function moved(before: DocumentAnalysis, base: number): DocumentAnalysis {
  if (before.base === base) return before;
  // A document that moves repeatedly derives from the original, so prototype chains stay short.
  const made = originals.get(before) ?? before;
  const document = lazy(() => ({ ...made.document, base }));
  const now: DocumentAnalysis = Object.create(made, {
    base: { value: base, enumerable: true },
    document: { get: document, enumerable: true },
  });
  originals.set(now, made);
  return now;
}

const originals = new WeakMap<DocumentAnalysis, DocumentAnalysis>();
