import type { CostResult } from '../cost/types.ts';
import { getsDevicesFromOverlay } from '../evidence/overlays.ts';
import { type CrossReferences, noCrossReferences } from '../model/cross-references.ts';
import type { ModelOptions } from '../model/options.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import { countWhere } from '../yaml/document-marks.ts';
import type { YamlDocument, YamlProblem } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { rules as everyRule } from './index.ts';
import { ReportedFinding } from './reported-finding.ts';
import type { DocumentContext, Finding, Report, Rule, RuleNumbers, RulesOptions, Severity } from './rule.ts';
import { applySuppressions, type SuppressionUse } from './suppressions.ts';

/** A rule that threw. The findings of other rules remain valid. */
export interface RuleCrash {
  readonly rule: string;
  readonly error: string;
}

export interface RunInput {
  readonly document: YamlDocument;
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Workload[];
  readonly options: ModelOptions;
  readonly crossReferences?: CrossReferences;
  readonly rules: RulesOptions;
  readonly ruleOptions?: RuleNumbers;
  readonly costOf: (workload: Workload) => CostResult;
  /** Rethrow what a rule throws: for tests. */
  readonly strict?: boolean;
  /** The rules to run, by id; all rules by default. */
  readonly registry?: ReadonlyMap<string, Rule>;
}

export interface RunResult {
  /** In text order. */
  readonly findings: readonly Finding[];
  readonly crashes: readonly RuleCrash[];
  readonly suppressions: readonly SuppressionUse[];
}

/** Runs every rule that is not off on a document. */
export function runRules(input: RunInput): RunResult {
  const walk = walkOf(input);
  runOn([walk]);
  return resultOf(walk);
}

/**
 * The same for several documents. Each rule checks all of them before the next rule starts: the code of all rules is larger than a processor's cache,
 * so a long file takes half the time that its documents take one after the other.
 */
export function runRulesOnAll(inputs: readonly RunInput[]): readonly RunResult[] {
  const walks = inputs.map(walkOf);
  runOn(walks);
  return walks.map(resultOf);
}

function walkOf(input: RunInput): Walk {
  const walk: Walk = {
    input,
    found: [],
    covered: new Map(),
    crashes: [],
    current: undefined,
    counted: 0,
    endless: new Set(),
    option: (name) => optionOf(walk, name),
  };
  return walk;
}

function runOn(walks: readonly Walk[]): void {
  const groups = new Map<Checks, Walk[]>();
  for (const walk of walks) {
    const checks = checksOf(walk.input.registry ?? everyRule, walk.input.rules);
    const group = groups.get(checks);
    if (group === undefined) groups.set(checks, [walk]);
    else group.push(walk);
  }
  for (const [checks, group] of groups) {
    const visits = visitsOf(group);
    runChecks(checks.document, visits.document);
    runChecks(checks.manifest, visits.manifest);
    runChecks(checks.workload, visits.workload);
    runChecks(checks.podSet, visits.podSet);
    runChecks(checks.container, visits.container);
  }
  for (const walk of walks) walk.current = undefined;
}

function resultOf(walk: Walk): RunResult {
  const { document, manifests } = walk.input;
  const { kept, uses } = applySuppressions(document, manifests, withoutYielded(walk));
  return { findings: distinct([...kept].sort(inTextOrder)), crashes: walk.crashes, suppressions: uses };
}

/** A rule that is not off, with the severity from the config. */
interface ActiveRule {
  readonly id: string;
  readonly rule: Rule;
  readonly severity: Severity | undefined;
}

interface Walk {
  readonly input: RunInput;
  readonly found: Finding[];
  /** The findings of rules that yield, with the text that each is about. */
  readonly covered: Map<Finding, Span>;
  readonly crashes: RuleCrash[];
  /** The rule that runs now. Rules run synchronously, so all rules share the context of a subject. */
  current: ActiveRule | undefined;
  /** The reports of the current check. */
  counted: number;
  /** The rules that have found more than is reported. */
  readonly endless: Set<string>;
  /** The options of the current rule. */
  readonly option: DocumentContext['option'];
}

type Level = 'document' | 'manifest' | 'workload' | 'podSet' | 'container';

type Subject<L extends Level> = Parameters<Required<Rule>[L]>[0];
type Context<L extends Level> = Parameters<Required<Rule>[L]>[1];

/** A rule's check at one level. Looking the function up in a rule is slow because rules have many shapes, so it is done once. */
interface Check<L extends Level> extends ActiveRule {
  readonly run: (subject: Subject<L>, context: Context<L>) => void;
}

/** The checks of each level. Nearly every rule checks only one level, and a long file has thousands of subjects. */
type Checks = { readonly [L in Level]: readonly Check<L>[] };

function checksOf(registry: ReadonlyMap<string, Rule>, options: RulesOptions): Checks {
  if (registry !== everyRule) return sortByLevel(registry, options);
  const checks = checksByOptions.get(options) ?? sortByLevel(registry, options);
  checksByOptions.set(options, checks);
  return checks;
}

/** Keyed by identity: config objects never change. */
const checksByOptions = new WeakMap<RulesOptions, Checks>();

function sortByLevel(registry: ReadonlyMap<string, Rule>, options: RulesOptions): Checks {
  const checks: { [L in Level]: Check<L>[] } = { document: [], manifest: [], workload: [], podSet: [], container: [] };
  for (const [id, rule] of registry) {
    const severity = options[id];
    if (severity === 'off') continue;
    const active = { id, rule, severity };
    addCheck(checks.document, active, rule.document);
    addCheck(checks.manifest, active, rule.manifest);
    addCheck(checks.workload, active, rule.workload);
    addCheck(checks.podSet, active, rule.podSet);
    addCheck(checks.container, active, rule.container);
  }
  return checks;
}

function addCheck<L extends Level>(
  checks: Check<L>[],
  { id, rule, severity }: ActiveRule,
  run: Check<L>['run'] | undefined,
): void {
  if (run !== undefined) checks.push({ id, rule, severity, run });
}

/** A subject of a document, with the context of its checks. */
interface Visit<L extends Level> {
  readonly walk: Walk;
  readonly subject: Subject<L>;
  readonly context: Context<L>;
}

type Visits = { readonly [L in Level]: Visit<L>[] };

/** Each document, its objects, the workloads among them, and their pod sets and containers (init, sidecar and app). */
function visitsOf(walks: readonly Walk[]): Visits {
  const visits: Visits = { document: [], manifest: [], workload: [], podSet: [], container: [] };
  for (const walk of walks) {
    const { document, options, costOf, crossReferences = noCrossReferences, manifests, workloads } = walk.input;
    const { option } = walk;
    // Contexts are written out because a spread is many times slower.
    const report = reporter(walk, null, null);
    const context = { document, options, crossReferences, costOf, option, report };
    visits.document.push({ walk, subject: document, context });
    for (const manifest of manifests) {
      const inManifest = { document, options, crossReferences, costOf, option, report, manifest };
      visits.manifest.push({ walk, subject: manifest, context: inManifest });
    }
    for (const workload of workloads) visitWorkload(walk, workload, visits);
  }
  return visits;
}

function visitWorkload(walk: Walk, workload: Workload, visits: Visits): void {
  const { document, options, costOf, crossReferences = noCrossReferences } = walk.input;
  const { option } = walk;
  const { manifest } = workload;
  const report = reporter(walk, workload, null);
  const context = { document, options, crossReferences, costOf, option, report, manifest, workload };
  visits.workload.push({ walk, subject: workload, context });
  for (const podSet of workload.podSets) {
    const inPodSet = { document, options, crossReferences, costOf, option, report, manifest, workload, podSet };
    visits.podSet.push({ walk, subject: podSet, context: inPodSet });
    for (const container of podSet.containers) {
      const inContainer = {
        document,
        options,
        crossReferences,
        costOf,
        option,
        report: reporter(walk, workload, container.name),
        manifest,
        workload,
        podSet,
      };
      visits.container.push({ walk, subject: container, context: inContainer });
    }
  }
}

/** A rule that throws is recorded, and the other rules still run. */
function runChecks<L extends Level>(checks: readonly Check<L>[], visits: readonly Visit<L>[]): void {
  for (const check of checks) {
    for (const { walk, subject, context } of visits) {
      walk.current = check;
      walk.counted = 0;
      try {
        check.run(subject, context);
      } catch (error) {
        recordCrash(walk, check.id, error);
      }
    }
  }
}

function optionOf({ current, input }: Walk, name: string): number {
  const option = current?.rule.options?.[name];
  if (current === undefined || option === undefined) throw new Error(`rule ${current?.id ?? ''} has no option ${name}`);
  return input.ruleOptions?.[current.id]?.[name] ?? option.default;
}

/** A rule that finds more in one subject, such as a list of 100,000 items, has said enough: nobody reads them, and each takes time. */
const mostFindings = 5_000;

function reporter(walk: Walk, workload: Workload | null, container: string | null): DocumentContext['report'] {
  return (report: Report): void => {
    const { current } = walk;
    if (current === undefined) throw new Error('a rule may report only while it runs');
    const { id, rule } = current;
    walk.counted += 1;
    if (walk.counted > mostFindings) {
      walk.endless.add(id);
      return;
    }
    // The lines after a syntax error may have the request.
    if ((rule.aboutMissingRequest || rule.aboutPlace) && walk.input.document.problems.some(isUnreadable)) return;
    if (rule.aboutMissingRequest && workload && getsDevicesFromOverlay(workload, walk.input.crossReferences)) return;
    // Fixes of some would only bring out others.
    const fixes = () => (walk.endless.has(id) ? [] : fixesOf(walk, id, report));
    const finding = new ReportedFinding(current, report, { workload, container }, fixes);
    walk.found.push(finding);
    if (rule.yields) walk.covered.set(finding, report.covers ?? report.span);
  };
}

/** Leaves out what another rule reports at the same place, or as an error inside of it: that rule knows more about it. */
function withoutYielded({ found, covered }: Walk): readonly Finding[] {
  if (covered.size === 0) return found;
  const others = found.filter((one) => !covered.has(one));
  const errors = others.filter(({ severity }) => severity === 'error').map(({ span }) => span);
  const warnings = others.filter(({ severity }) => severity === 'warning').map(({ span }) => span);
  const [atErrors, atWarnings] = [new Set(errors.map(keyOf)), new Set(warnings.map(keyOf))];
  const hasErrorIn = searchInside(errors);
  return found.filter((one) => {
    const text = covered.get(one);
    if (text === undefined) return true;
    const key = keyOf(one.span);
    // Other warnings matter only to an object that is not rejected.
    return !atErrors.has(key) && !hasErrorIn(text) && (one.severity === 'error' || !atWarnings.has(key));
  });
}

function keyOf({ start, end }: Span): string {
  return `${start} ${end}`;
}

/** Whether one of the spans is inside another span: by search, because a generated object can have thousands of findings. */
function searchInside(spans: readonly Span[]): (outer: Span) => boolean {
  const sorted = [...spans].sort((a, b) => a.start - b.start);
  // The least end of each span and those after it.
  const ends = sorted.map(({ end }) => end);
  for (let index = ends.length - 2; index >= 0; index -= 1)
    ends[index] = Math.min(ends[index] ?? 0, ends[index + 1] ?? 0);
  return ({ start, end }) => (ends[countWhere(sorted, (one) => one.start < start)] ?? Number.POSITIVE_INFINITY) <= end;
}

function isUnreadable({ readable }: YamlProblem): boolean {
  return readable !== true;
}

function fixesOf(walk: Walk, id: string, report: Report): readonly Fix[] {
  try {
    const fixes = (report.fixes?.() ?? []).filter((fix) => fix !== undefined);
    // The text that a template renders depends on its values, which are unknown here.
    return walk.input.document.template ? fixes.map((fix) => ({ ...fix, safe: false })) : fixes;
  } catch (error) {
    recordCrash(walk, id, error);
    return [];
  }
}

function recordCrash({ input, crashes }: Walk, rule: string, error: unknown): void {
  if (input.strict === true) throw error;
  crashes.push({ rule, error: error instanceof Error ? error.message : String(error) });
}

function inTextOrder(a: Finding, b: Finding): number {
  return a.span.start - b.span.start || a.span.end - b.span.end || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0);
}

/** Removes duplicates: an aliased pod template is visited once for each place that uses it. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, span, message, oncePerFile }) => {
    const key = oncePerFile ? rule : `${rule} ${span.start} ${span.end} ${message}`;
    return !seen.has(key) && seen.add(key);
  });
}
