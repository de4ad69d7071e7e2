import { estimateCost } from '../cost/estimate.ts';
import { missingFor } from '../cost/no-estimate.ts';
import { type PossibleCost, possibleCost } from '../cost/possible-cost.ts';
import type { CostResult } from '../cost/types.ts';
import type { FitFacts } from '../fleet/fit-question.ts';
import { mayConcernAccelerators } from '../model/concern.ts';
import { isKustomization } from '../model/kustomize/build.ts';
import { lowerDocument } from '../model/lower.ts';
import { usesParameters } from '../model/parameter-defaults.ts';
import { hasRelatedFiles, withRelatedFiles } from '../model/related-files.ts';
import type { Workload } from '../model/workload.ts';
import { type RunInput, type RunResult, runRules } from '../rules/run.ts';
import { type Lookups, lookupsOf } from '../workspace/lookups.ts';
import { isTerraform } from '../workspace/terraform.ts';
import type { FileContext, Workspace } from '../workspace/workspace.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { partialDocument } from '../yaml/partial.ts';
import { missingIn, withChartValues, withDefaults } from './chart-findings.ts';
import { fitQuestion } from './fit-question.ts';
import { withPatchFindings } from './patch-findings.ts';
import { amongPools, type PoolManifest, poolManifests } from './related-pools.ts';

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

/** What a judgement takes from the text of a document. */
interface JudgedPart {
  readonly text: string;
  readonly opened: string | undefined;
  readonly servesOthers: boolean;
  readonly document: YamlDocument;
}

type LoweredDocument = ReturnType<typeof lowerDocument>;

/** What is derived from a document and its lookups, each part on first use. */
export class Judgement {
  readonly lookups: Lookups;
  readonly costOf: (workload: Workload) => CostResult;
  readonly rangeOf: (workload: Workload) => PossibleCost | undefined;
  readonly fitOf: (workload: Workload) => FitFacts | undefined;
  readonly #part: JudgedPart;
  readonly #input: DocumentInput;
  #document: YamlDocument | undefined;
  #isConcerned: boolean | undefined;
  #lowered: LoweredDocument | undefined;
  #costed: readonly Workload[] | undefined;
  /** What the rules have found, if they have run together with those of other documents. */
  #checked: RunResult | undefined;
  #judged: RunResult | undefined;
  #isJudged = false;

  constructor(part: JudgedPart, input: DocumentInput) {
    this.#part = part;
    this.#input = input;
    const lookups = lookupsOf(input.workspace, input.uri, input.context);
    const { config, crossReferences } = lookups;
    const costOf = once((workload: Workload) =>
      estimateCost(workload, config.prices, config.training?.stepSeconds ?? null),
    );
    const questionOf = once((workload: Workload) => fitQuestion(workload, crossReferences));
    this.lookups = lookups;
    this.costOf = costOf;
    this.rangeOf = once((workload) =>
      missingFor(costOf(workload).unknown) === 'gpu' ? possibleCost(workload, config.prices) : undefined,
    );
    this.fitOf = (workload) => {
      const question = lookups.isConnected() ? questionOf(workload) : undefined;
      return question && lookups.askFit(question);
    };
  }

  get document(): YamlDocument {
    const { document } = this.#part;
    this.#document ??= this.lookups.relatedFiles().isPatch ? partialDocument(document) : document;
    return this.#document;
  }

  get lowered(): LoweredDocument {
    const { config, crossReferences } = this.lookups;
    this.#lowered ??= this.#concerned ? lowerDocument(this.document, config, crossReferences) : nothing;
    return this.#lowered;
  }

  get costed(): readonly Workload[] {
    this.#costed ??= this.#withRelated(this.lowered.workloads);
    return this.#costed;
  }

  /** The objects that may describe node pools, as related files complete them. */
  get pooled(): readonly PoolManifest[] {
    return poolManifests(this.document, this.lowered.manifests, this.lookups.relatedFiles());
  }

  get judged(): RunResult {
    this.#judged ??= this.#judge();
    return this.#judged;
  }

  unchecked(): Unchecked | undefined {
    const toRun = this.#isJudged || this.#checked !== undefined ? undefined : this.#toCheck();
    const take = (result: RunResult) => {
      this.#checked = result;
    };
    return toRun && { input: toRun, take };
  }

  get #concerned(): boolean {
    this.#isConcerned ??= this.#part.servesOthers || mayConcernAccelerators(this.#part.text) || this.#buildsWorkloads();
    return this.#isConcerned;
  }

  /** Whether this is a kustomization that only names the files of its workloads, or of which an error may hide them. */
  #buildsWorkloads(): boolean {
    if (!isKustomization(this.#input.uri)) return false;
    if (this.lookups.relatedFiles().built === undefined) return true;
    this.#costed ??= this.#withRelated([]);
    return this.#costed.length > 0;
  }

  /** Whether an error in the document, which names no accelerators itself, keeps a chart or kustomization that does from being rendered. */
  #breaksOthers(): boolean {
    const { chart, release, alongside = [] } = this.lookups.relatedFiles();
    const files = [...alongside, ...(release?.templates ?? []), release?.values].flatMap((one) => one ?? []);
    const texts = [...files.map(({ text }) => text), chart?.document.text ?? ''];
    return texts.some(mayConcernAccelerators) && this.#part.document.problems.some(({ readable }) => readable !== true);
  }

  get #rendered(): string {
    return `${this.#part.opened ?? ''}${this.#part.text}`;
  }

  #withRelated(workloads: readonly Workload[]): readonly Workload[] {
    const { config, crossReferences, relatedFiles } = this.lookups;
    const related = relatedFiles();
    if (!hasRelatedFiles(this.#rendered, related)) return workloads;
    const references = amongPools(this.document, related, config, this.#input.uri, crossReferences);
    return withRelatedFiles(this.document, workloads, related, config, references);
  }

  get #settings() {
    const { config, crossReferences } = this.lookups;
    const { rules, ruleOptions } = config;
    return { options: config, crossReferences, rules, ruleOptions, costOf: this.costOf, strict: this.#input.strict };
  }

  /** Undefined if there is nothing to check. */
  #toCheck(): RunInput | undefined {
    // What Terraform creates has a price, but its text is not that of the file.
    if (isTerraform(this.#input.uri) || !(this.#concerned || this.#breaksOthers())) return undefined;
    const { document } = this;
    const { chart } = this.lookups.relatedFiles();
    const missing = chart === undefined ? [] : missingIn(document, chart);
    const { uri } = this.#input;
    const named = isKustomization(uri) ? { ...document, kustomization: uri } : document;
    const whole = missing.length === 0 ? named : { ...named, missing };
    const judged = this.#concerned ? whole : { ...whole, breaksOthers: true as const };
    const { manifests, workloads } = this.lowered;
    return { document: judged, manifests, workloads: workloads.map((one) => one.run ?? one), ...this.#settings };
  }

  #judge(): RunResult {
    this.#isJudged = true;
    const { uri } = this.#input;
    if (isTerraform(uri)) return noFindings;
    const toRun = this.#checked === undefined ? this.#toCheck() : undefined;
    const written = this.#checked ?? (toRun === undefined ? noFindings : runRules(toRun));
    this.#checked = undefined;
    const related = this.lookups.relatedFiles();
    const { chart, built, base } = related;
    if (built !== undefined || base !== undefined)
      return {
        ...written,
        findings: withPatchFindings(this.#part.document, written.findings, related, this.#settings),
      };
    if (chart === undefined && usesParameters(this.#part.text))
      return { ...written, findings: withDefaults(this.document, written.findings, this.#settings) };
    if (chart === undefined || !hasRelatedFiles(this.#rendered, { chart })) return written;
    return { ...written, findings: withChartValues(this.document, written.findings, chart, uri, this.#settings) };
  }
}

const noFindings = { findings: [], crashes: [], suppressions: [] } as const;

const nothing = { manifests: [], workloads: [] } as const;
