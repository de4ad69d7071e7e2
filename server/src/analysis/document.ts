import type { ProjectConfig } from '../config.ts';
import { estimateCost } from '../cost/estimate.ts';
import type { CostResult } from '../cost/types.ts';
import { mayConcernAccelerators } from '../model/concern.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { lowerDocument } from '../model/lower.ts';
import { hasRelatedFiles, withRelatedFiles } from '../model/related-files.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { Finding } from '../rules/rule.ts';
import type { RuleCrash } from '../rules/run.ts';
import { runRules } from '../rules/run.ts';
import type { SuppressionUse } from '../rules/suppressions.ts';
import { lookupsOf } from '../workspace/lookups.ts';
import { type DocumentSummary, summariseDocument } from '../workspace/summary.ts';
import type { FileContext, Workspace } from '../workspace/workspace.ts';
import { lazy } from '../yaml/lazy.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type DocumentText, parsePart } from '../yaml/parse.ts';

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
  /** What its summary and its findings rest on. */
  readonly config: ProjectConfig;
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
  /** What other documents say of what this one names. Each question is recorded. */
  readonly crossReferences: CrossReferences;
  /** Whether every answer that it rests on is still the same: of other documents and files, and the config. */
  isCurrent(): boolean;
  /** What the document would be with another text, in the same place among the same files. Nothing of it is kept. */
  withText(text: string): DocumentAnalysis;
}

/** What a document is judged with. */
export interface DocumentInput {
  readonly uri: string;
  /** What holds for the file now, each time that it is called. */
  readonly context: () => FileContext;
  readonly strict: boolean;
  readonly workspace: Workspace;
}

/** What a document's text says under a config. */
export type ReadDocument = Pick<
  DocumentAnalysis,
  'base' | 'text' | 'item' | 'source' | 'document' | 'summary' | 'config'
>;

export function readDocument(
  part: DocumentText,
  config: ProjectConfig,
  known: DocumentAnalysis | undefined,
): ReadDocument {
  const { text, base, item = false } = part;
  const isSame = known?.config === config;
  if (isSame && known.base === base) return known;
  const source = known?.source ?? lazy(() => parsePart(part));
  const document = lazy(() => ({ ...source(), base }));
  return {
    base,
    text,
    item,
    source,
    summary: isSame ? known.summary : summariseDocument(text, source, config),
    config,
    get document() {
      return document();
    },
  };
}

/** @param known what was known of a document of this text, good as long as every answer that it rests on is the same */
export function analyseDocument(
  part: ReadDocument,
  input: DocumentInput,
  known: DocumentAnalysis | undefined,
): DocumentAnalysis {
  const { text, base, item, source, summary } = part;
  if (known?.isCurrent()) return moved(known, base);
  const { crossReferences, config, relatedFiles, reads } = lookupsOf(input.workspace, input.uri, input.context);
  const document = () => part.document;
  const concerned = lazy(() => mayConcernAccelerators(text));
  const lowered = lazy(() => (concerned() ? lowerDocument(document(), config, crossReferences) : nothing));
  const costed = lazy(() => {
    const { workloads } = lowered();
    const related = relatedFiles();
    if (!hasRelatedFiles(text, related)) return workloads;
    return withRelatedFiles(document(), workloads, related, config, crossReferences);
  });
  const costs = new WeakMap<Workload, CostResult>();
  const costOf = (workload: Workload) => {
    const cost = costs.get(workload) ?? estimateCost(workload, config.prices);
    costs.set(workload, cost);
    return cost;
  };
  const judged = lazy(() => {
    if (!concerned()) return { findings: [], crashes: [], suppressions: [] };
    return runRules({
      document: document(),
      ...lowered(),
      options: config,
      crossReferences,
      rules: config.rules,
      ruleOptions: config.ruleOptions,
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
    config,
    crossReferences,
    isCurrent: () => reads.hold(),
    withText(changed) {
      const copy = item ? { base, text: changed, item } : { base, text: changed };
      return analyseDocument(readDocument(copy, config, undefined), input, undefined);
    },
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
