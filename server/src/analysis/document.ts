import type { ProjectConfig } from '../config.ts';
import { estimateCost } from '../cost/estimate.ts';
import { missingFor } from '../cost/no-estimate.ts';
import { type PossibleCost, possibleCost } from '../cost/possible-cost.ts';
import type { CostResult } from '../cost/types.ts';
import type { FitFacts } from '../fleet/fit-question.ts';
import { mayConcernAccelerators } from '../model/concern.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { lowerDocument } from '../model/lower.ts';
import { hasRelatedFiles, withRelatedFiles } from '../model/related-files.ts';
import { usesParameters } from '../model/workflow-defaults.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { Finding } from '../rules/rule.ts';
import { type RuleCrash, type RunInput, type RunResult, runRules } from '../rules/run.ts';
import type { SuppressionUse } from '../rules/suppressions.ts';
import { lookupsOf } from '../workspace/lookups.ts';
import { type DocumentSummary, summarizeDocument } from '../workspace/summary.ts';
import { isTerraform } from '../workspace/terraform.ts';
import type { FileContext, Workspace } from '../workspace/workspace.ts';
import { withEmbeddedComments } from '../yaml/embedded.ts';
import { lazy } from '../yaml/lazy.ts';
import type { YamlDocument, YamlProblem } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { type DocumentText, parsePart } from '../yaml/parse.ts';
import { partialDocument } from '../yaml/partial.ts';
import { ownCopy } from '../yaml/texts.ts';
import { missingIn, withChartValues, withDefaults } from './chart-findings.ts';
import { fitQuestion } from './fit-question.ts';
import { amongPools } from './kustomize-pools.ts';
import { withPatchFindings } from './patch-findings.ts';

/** The analysis of one document. Lazy, and memoized by the document's text. Spans are relative to `base`. */
export interface DocumentAnalysis {
  /** Where the document starts in the file. */
  readonly base: number;
  readonly text: string;
  /** The document is an item of a long `kind: List`: such items are analyzed separately. */
  readonly item: boolean;
  /** The template actions of earlier documents that apply in this one. */
  readonly opened: string | undefined;
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

/** A document that the rules have yet to check, and where the result goes. */
export interface Unchecked {
  readonly input: RunInput;
  readonly take: (result: RunResult) => void;
}

/** The context in which a document is analyzed. */
export interface DocumentInput {
  readonly uri: string;
  /** Returns the current context of the file. */
  readonly context: () => FileContext;
  readonly strict: boolean;
  readonly workspace: Workspace;
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
  const { base, item = false, opened, unbalanced } = part;
  const text = known?.text ?? ownCopy(part.text);
  const own = { ...part, text };
  const isSame = known?.config === config;
  if (isSame && known.base === base) return known;
  const source = known?.source ?? lazy(() => withEmbeddedComments(parsePart(own)));
  const document = lazy(() => atBase(source(), base));
  return {
    base,
    text,
    item,
    opened,
    unbalanced,
    servesOthers,
    source,
    summary: isSame ? known.summary : summarizeDocument(text, source, config),
    config,
    get document() {
      return document();
    },
  };
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
  const { text, base, item, opened, unbalanced, servesOthers, source, summary } = part;
  if (known?.isCurrent()) return moved(known, base);
  const lookups = lookupsOf(input.workspace, input.uri, input.context);
  const { crossReferences, config, relatedFiles, reads } = lookups;
  const document = lazy(() => (relatedFiles().isPatch ? partialDocument(part.document) : part.document));
  const rendered = `${opened ?? ''}${text}`;
  const concerned = lazy(() => servesOthers || mayConcernAccelerators(text));
  const lowered = lazy(() => (concerned() ? lowerDocument(document(), config, crossReferences) : nothing));
  const costed = lazy(() => {
    const { workloads } = lowered();
    const related = relatedFiles();
    if (!hasRelatedFiles(rendered, related)) return workloads;
    const { built } = related;
    const references = built === undefined ? crossReferences : amongPools(built, config, input.uri, crossReferences);
    return withRelatedFiles(document(), workloads, related, config, references);
  });
  const costOf = once((workload: Workload) =>
    estimateCost(workload, config.prices, config.training?.stepSeconds ?? null),
  );
  const rangeOf = once((workload: Workload) =>
    missingFor(costOf(workload).unknown) === 'gpu' ? possibleCost(workload, config.prices) : undefined,
  );
  const questionOf = once((workload: Workload) => fitQuestion(workload, crossReferences));
  const fitOf = (workload: Workload) => {
    const question = lookups.isConnected() ? questionOf(workload) : undefined;
    return question && lookups.askFit(question);
  };
  const { rules, ruleOptions } = config;
  const settings = { options: config, crossReferences, rules, ruleOptions, costOf, strict: input.strict };
  /** Undefined if there is nothing to check. */
  const toCheck = (): RunInput | undefined => {
    // What Terraform creates has a price, but its text is not that of the file.
    if (isTerraform(input.uri) || !concerned()) return undefined;
    const { chart } = relatedFiles();
    const missing = chart === undefined ? [] : missingIn(document(), chart);
    const whole = missing.length === 0 ? document() : { ...document(), missing };
    return { document: whole, ...lowered(), ...settings };
  };
  let checked: RunResult | undefined;
  let isJudged = false;
  const judged = lazy(() => {
    isJudged = true;
    if (isTerraform(input.uri)) return noFindings;
    const toRun = checked === undefined ? toCheck() : undefined;
    const written = checked ?? (toRun === undefined ? noFindings : runRules(toRun));
    checked = undefined;
    const { chart, built, base: patchBase } = relatedFiles();
    if (built !== undefined || patchBase !== undefined)
      return { ...written, findings: withPatchFindings(part.document, written.findings, relatedFiles(), settings) };
    if (chart === undefined && usesParameters(text))
      return { ...written, findings: withDefaults(document(), written.findings, settings) };
    if (chart === undefined || !hasRelatedFiles(rendered, { chart })) return written;
    return { ...written, findings: withChartValues(document(), written.findings, chart, input.uri, settings) };
  });
  return {
    base,
    text,
    item,
    opened,
    unbalanced,
    servesOthers,
    source,
    summary,
    config,
    crossReferences,
    isCurrent: reads.isCurrent,
    withText(changed) {
      const copy = { base, text: changed, ...(item && { item }), ...(opened !== undefined && { opened }) };
      return analyzeDocument(readDocument(copy, config, undefined, servesOthers), input, undefined);
    },
    unchecked() {
      const toRun = isJudged || checked !== undefined ? undefined : toCheck();
      const take = (result: RunResult) => {
        checked = result;
      };
      return toRun && { input: toRun, take };
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
    rangeOf,
    fitOf,
    clusterTime: () => input.workspace.cluster?.view.asOf,
  };
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

const noFindings = { findings: [], crashes: [], suppressions: [] } as const;

const nothing = { manifests: [], workloads: [] } as const;
