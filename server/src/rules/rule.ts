import type { CostResult } from '../cost/types.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import type { ModelOptions } from '../model/options.ts';
import type { Container, Manifest, PodSet, Workload } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import type { Table } from '../yaml/table.ts';

/** SARIF has error, warning and note; LSP's four levels are used here. */
export type Severity = 'error' | 'warning' | 'info' | 'hint';

export const topics = [
  'gpu-request',
  'sharing',
  'mig',
  'toleration',
  'placement',
  'spot',
  'checkpoint',
  'scale-to-zero',
  'autoscaling',
  'cost',
  'memory-fit',
  'parallelism',
  'shm',
  'gang',
  'network',
  'image-pin',
  'training',
  'quota',
  'cluster',
  'syntax',
  'other',
] as const;
export type Topic = (typeof topics)[number];

/** Rule id -> the severity to use instead of the rule's own; `off` silences it. */
export type RulesOptions = Table<Severity | 'off'>;

/** A threshold or other number of a rule that a project can change. */
export interface RuleOption {
  readonly default: number;
  /** The smallest valid value. */
  readonly least: number;
  readonly description: string;
}

/** Rule id -> option -> value. Missing options have their defaults. */
export type RuleNumbers = Table<Table<number>>;

/** What a rule reports at one place. Spans are relative to the document. */
export interface Finding {
  readonly rule: string;
  readonly topic: Topic;
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span;
  readonly workload: Workload | null;
  readonly container: string | null;
  readonly fixes: readonly Fix[];
  /** US dollars per hour that a fix would save. */
  readonly saving: number | null;
  /** One finding of the rule says enough about a whole file. */
  readonly oncePerFile: boolean;
}

/** What a rule passes to the runner, which adds the rest of the finding. */
export interface Report {
  readonly message: string;
  readonly span: Span;
  /** Made on demand: diagnostics do not need them. A fix that cannot be made is undefined. */
  readonly fixes?: () => readonly (Fix | undefined)[];
  readonly saving?: number | undefined;
  /** Set if the case is about something narrower than the rule's topic. */
  readonly topic?: Topic;
  /** Set if the case is more or less severe than the rule's default. */
  readonly severity?: Severity;
  /** Set if the same in another place of the file would be said twice. */
  readonly oncePerFile?: boolean;
  /** For a rule that yields: the text that the problem is about. */
  readonly covers?: Span;
}

/** What a rule may use in addition to the subject that it checks. */
export interface DocumentContext {
  readonly document: YamlDocument;
  readonly options: ModelOptions;
  /** What other documents say. A finding is still reported in this one. */
  readonly crossReferences: CrossReferences;
  costOf(workload: Workload): CostResult;
  /** The value of one of the rule's own options. */
  option(name: string): number;
  report(report: Report): void;
}

export interface RuleContext extends DocumentContext {
  readonly manifest: Manifest;
}

export interface WorkloadContext extends RuleContext {
  readonly workload: Workload;
}
export interface PodSetContext extends WorkloadContext {
  readonly podSet: PodSet;
}

/** One rule. The runner walks the document and calls the rule at the levels that it subscribes to. */
export interface Rule {
  readonly topic: Topic;
  readonly severity: Severity;
  /** Whether it finds wasted money, for the rule set cost-only; by default, the topic decides. */
  readonly wasteful?: boolean;
  /** It is about pods that request no accelerator: what an overlay adds, or a syntax error hides, is not missing. */
  readonly aboutMissingRequest?: true;
  /** It is about things in the wrong place: after a syntax error, the place of a key is a guess. */
  readonly aboutPlace?: true;
  /** A general rule: it leaves a place to the errors and warnings of other rules. */
  readonly yields?: true;
  /** It judges single words and numbers, most of which are wrong until they are complete: editors wait until their line is. */
  readonly judgesWords?: true;
  /** By name, as in the config under `ruleOptions`. */
  readonly options?: Readonly<Record<string, RuleOption>>;
  readonly document?: (document: YamlDocument, context: DocumentContext) => void;
  readonly manifest?: (manifest: Manifest, context: RuleContext) => void;
  readonly workload?: (workload: Workload, context: WorkloadContext) => void;
  readonly podSet?: (podSet: PodSet, context: PodSetContext) => void;
  readonly container?: (container: Container, context: PodSetContext) => void;
}

/** Gives a rule its type. The id is the file's name. */
export function defineRule(rule: Rule): Rule {
  return rule;
}
