import type { CostResult } from '../cost/types.ts';
import { type CrossReferences, noCrossReferences } from '../model/cross-references.ts';
import type { ModelOptions } from '../model/options.ts';
import type { Manifest, Workload } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { rules as everyRule } from './index.ts';
import type { DocumentContext, Finding, Report, Rule, RuleNumbers, RulesOptions, Severity } from './rule.ts';
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
  readonly crossReferences?: CrossReferences;
  readonly rules: RulesOptions;
  readonly ruleOptions?: RuleNumbers;
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
  const { document, manifests, options, costOf, crossReferences = noCrossReferences } = input;
  const looking = lookingOf(input.registry ?? everyRule, input.rules);
  const walk: Walk = { input, found: [], crashes: [], asked: undefined, option: (name) => optionOf(walk, name) };
  const { option } = walk;
  const context = { document, options, crossReferences, costOf, option, report: reporter(walk, null, null) };
  ask(walk, looking.document, document, context);
  for (const manifest of manifests) {
    const inManifest = { document, options, crossReferences, costOf, option, report: context.report, manifest };
    ask(walk, looking.manifest, manifest, inManifest);
  }
  for (const workload of input.workloads) visitWorkload(walk, looking, workload);
  const { kept, uses } = applySuppressions(document, manifests, walk.found);
  return { findings: distinct([...kept].sort(inTextOrder)), crashes: walk.crashes, suppressions: uses };
}

/** A rule with what is told of it. */
interface Told {
  readonly id: string;
  readonly rule: Rule;
  readonly severity: Severity | undefined;
}

interface Walk {
  readonly input: RunInput;
  readonly found: Finding[];
  readonly crashes: RuleCrash[];
  /** The rule that is looking. It looks at once and never later, so all rules that look at one thing share a context. */
  asked: Told | undefined;
  /** Of the rule that is looking. */
  readonly option: DocumentContext['option'];
}

type Level = 'document' | 'manifest' | 'workload' | 'podSet' | 'container';

type Subject<L extends Level> = Parameters<Required<Rule>[L]>[0];
type Context<L extends Level> = Parameters<Required<Rule>[L]>[1];

/** A rule that looks at a level. Its function is taken out of it once: rules have many shapes, and looking it up costs as much as most looks. */
interface Looker<L extends Level> extends Told {
  readonly look: (subject: Subject<L>, context: Context<L>) => void;
}

/** The rules that look at each level. Nearly every rule looks at one level only, and a long file has thousands of things to look at. */
type Looking = { readonly [L in Level]: readonly Looker<L>[] };

function lookingOf(registry: ReadonlyMap<string, Rule>, options: RulesOptions): Looking {
  if (registry !== everyRule) return sortByLevel(registry, options);
  const known = lookingByOptions.get(options) ?? sortByLevel(registry, options);
  lookingByOptions.set(options, known);
  return known;
}

/** A config object stands for its values. */
const lookingByOptions = new WeakMap<RulesOptions, Looking>();

function sortByLevel(registry: ReadonlyMap<string, Rule>, options: RulesOptions): Looking {
  const told = [...registry].flatMap(([id, rule]): readonly Told[] => {
    const severity = options[id];
    return severity === 'off' ? [] : [{ id, rule, severity }];
  });
  const at = <L extends Level>(level: L) =>
    told.flatMap(({ id, rule, severity }): Looker<L>[] => {
      const look = rule[level] as Looker<L>['look'] | undefined;
      return look === undefined ? [] : [{ id, rule, severity, look }];
    });
  return {
    document: at('document'),
    manifest: at('manifest'),
    workload: at('workload'),
    podSet: at('podSet'),
    container: at('container'),
  };
}

/** Every pod set and every container (init, sidecar or app) is shown once. */
function visitWorkload(walk: Walk, looking: Looking, workload: Workload): void {
  const { document, options, costOf, crossReferences = noCrossReferences } = walk.input;
  const { option } = walk;
  const { manifest } = workload;
  // Contexts are written out: a spread costs many times as much.
  const report = reporter(walk, workload, null);
  const context = { document, options, crossReferences, costOf, option, report, manifest, workload };
  ask(walk, looking.workload, workload, context);
  for (const podSet of workload.podSets) {
    const inPodSet = { document, options, crossReferences, costOf, option, report, manifest, workload, podSet };
    ask(walk, looking.podSet, podSet, inPodSet);
    for (const container of podSet.containers) {
      const reportOf = reporter(walk, workload, container.name);
      const inContainer = {
        document,
        options,
        crossReferences,
        costOf,
        option,
        report: reportOf,
        manifest,
        workload,
        podSet,
      };
      ask(walk, looking.container, container, inContainer);
    }
  }
}

/** A rule is the boundary at which a bug is caught: one line with the rule's name, and the rest goes on. */
function ask<L extends Level>(
  walk: Walk,
  lookers: readonly Looker<L>[],
  subject: Subject<L>,
  context: Context<L>,
): void {
  for (const one of lookers) {
    walk.asked = one;
    try {
      one.look(subject, context);
    } catch (error) {
      crashed(walk, one.id, error);
    }
  }
  walk.asked = undefined;
}

function optionOf({ asked, input }: Walk, name: string): number {
  const known = asked?.rule.options?.[name];
  if (asked === undefined || known === undefined) throw new Error(`${asked?.id ?? 'no rule'} has no option ${name}`);
  return input.ruleOptions?.[asked.id]?.[name] ?? known.default;
}

function reporter(walk: Walk, workload: Workload | null, container: string | null): DocumentContext['report'] {
  return (report: Report): void => {
    const { asked } = walk;
    if (asked === undefined) throw new Error('a rule reports while it looks, and not later');
    const { id, rule, severity } = asked;
    let fixes: readonly Fix[] | undefined;
    walk.found.push({
      rule: id,
      topic: rule.topic,
      severity: severity ?? report.severity ?? rule.severity,
      message: report.message,
      span: report.span,
      workload,
      container,
      get fixes() {
        fixes ??= fixesOf(walk, id, report);
        return fixes;
      },
      saving: report.saving ?? null,
    });
  };
}

function fixesOf(walk: Walk, id: string, report: Report): readonly Fix[] {
  try {
    const fixes = (report.fixes?.() ?? []).filter((fix) => fix !== undefined);
    // Which text a template renders depends on its values, which are unknown here.
    return walk.input.document.template ? fixes.map((fix) => ({ ...fix, safe: false })) : fixes;
  } catch (error) {
    crashed(walk, id, error);
    return [];
  }
}

function crashed({ input, crashes }: Walk, rule: string, error: unknown): void {
  if (input.strict === true) throw error;
  crashes.push({ rule, error: error instanceof Error ? error.message : String(error) });
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
