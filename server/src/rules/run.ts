import type { CostResult } from '../cost/types.ts';
import type { ModelOptions } from '../model/options.ts';
import { noSurroundings, type Surroundings } from '../model/surroundings.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { rules as everyRule } from './index.ts';
import type { DocumentContext, Finding, Fix, PodSetContext, Report, Rule, RulesOptions, Severity } from './rule.ts';
import { applySuppressions, type SuppressionUse } from './suppressions.ts';

/** A rule that threw. The other findings still stand. */
export interface RuleCrash {
  readonly rule: string;
  readonly error: string;
}

export interface RunInput {
  readonly document: YamlDocument;
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Workload[];
  readonly options: ModelOptions;
  readonly surroundings?: Surroundings;
  readonly rules: RulesOptions;
  readonly costOf: (workload: Workload) => CostResult;
  /** Rethrow what a rule throws: for tests. */
  readonly strict?: boolean;
  /** The rules to run, by id; all of them when it is left out. */
  readonly registry?: ReadonlyMap<string, Rule>;
}

export interface RunResult {
  /** In the order of the text. */
  readonly findings: readonly Finding[];
  readonly crashes: readonly RuleCrash[];
  readonly suppressions: readonly SuppressionUse[];
}

/** Lets every rule that is not off look at the document. The runner walks, the rules look. */
export function runRules(input: RunInput): RunResult {
  const found: Finding[] = [];
  const crashes: RuleCrash[] = [];
  for (const [id, rule] of input.registry ?? everyRule) {
    const configured = input.rules[id];
    if (configured === 'off') continue;
    const visitor: Visitor = { id, rule, configured, input, found, crashes };
    visitDocument(visitor);
    for (const manifest of input.manifests) visitManifest(visitor, manifest);
    for (const workload of input.workloads) visitWorkload(visitor, workload);
  }
  const { kept, uses } = applySuppressions(input.document, input.manifests, found);
  return { findings: distinct([...kept].sort(inTextOrder)), crashes, suppressions: uses };
}

interface Visitor {
  readonly id: string;
  readonly rule: Rule;
  readonly configured: Severity | undefined;
  readonly input: RunInput;
  readonly found: Finding[];
  readonly crashes: RuleCrash[];
}

// A long file has many places and most rules look at few of them, so a context is made only for what a rule looks at, and written
// out: a spread costs many times as much.

function visitDocument(visitor: Visitor): void {
  const { rule, input } = visitor;
  if (rule.document === undefined) return;
  const { document, options, costOf, surroundings = noSurroundings } = input;
  const context = { document, options, surroundings, costOf, report: reporter(visitor, null, null) };
  guard(visitor, () => rule.document?.(document, context), undefined);
}

function visitManifest(visitor: Visitor, manifest: Manifest): void {
  const { rule, input } = visitor;
  if (rule.manifest === undefined) return;
  const { document, options, costOf, surroundings = noSurroundings } = input;
  const context = { document, options, surroundings, costOf, report: reporter(visitor, null, null), manifest };
  guard(visitor, () => rule.manifest?.(manifest, context), undefined);
}

/** Every pod set and every container (init, sidecar or app) is shown once. */
function visitWorkload(visitor: Visitor, workload: Workload): void {
  const { rule, input } = visitor;
  const { document, options, costOf, surroundings = noSurroundings } = input;
  const { manifest } = workload;
  if (rule.workload !== undefined) {
    const context = {
      document,
      options,
      surroundings,
      costOf,
      report: reporter(visitor, workload, null),
      manifest,
      workload,
    };
    guard(visitor, () => rule.workload?.(workload, context), undefined);
  }
  if (rule.podSet === undefined && rule.container === undefined) return;
  for (const podSet of workload.podSets) {
    const inPodSet = (container: string | null): PodSetContext => ({
      document,
      options,
      surroundings,
      costOf,
      report: reporter(visitor, workload, container),
      manifest,
      workload,
      podSet,
    });
    guard(visitor, () => rule.podSet?.(podSet, inPodSet(null)), undefined);
    if (rule.container === undefined) continue;
    for (const container of podSet.containers) {
      guard(visitor, () => rule.container?.(container, inPodSet(container.name)), undefined);
    }
  }
}

function reporter(visitor: Visitor, workload: Workload | null, container: string | null): DocumentContext['report'] {
  const { id, rule, configured, found } = visitor;
  return (report: Report): void => {
    let fixes: readonly Fix[] | undefined;
    found.push({
      rule: id,
      topic: rule.topic,
      severity: configured ?? report.severity ?? rule.severity,
      message: report.message,
      span: report.span,
      workload,
      container,
      get fixes() {
        fixes ??= guard(visitor, () => report.fixes?.() ?? [], []).filter((fix) => fix !== undefined);
        return fixes;
      },
      saving: report.saving ?? null,
    });
  };
}

/** A rule is the boundary at which a bug is caught: one line with the rule's name, and the rest goes on. */
function guard<T>({ id, input, crashes }: Visitor, look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (error) {
    if (input.strict === true) throw error;
    crashes.push({ rule: id, error: error instanceof Error ? error.message : String(error) });
    return otherwise;
  }
}

function inTextOrder(a: Finding, b: Finding): number {
  return a.span.start - b.span.start || a.span.end - b.span.end || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0);
}

/** Aliased pod templates are visited once for each place that uses them, but what is wrong in their text is wrong once. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, span, message }) => {
    const key = `${rule} ${span.start} ${span.end} ${message}`;
    return !seen.has(key) && seen.add(key);
  });
}
