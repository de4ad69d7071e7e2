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

/** A number that a rule counts by, and that a project may know better. */
export interface RuleOption {
  readonly default: number;
  /** The smallest value that makes sense. */
  readonly least: number;
  readonly description: string;
}

/** Rule id -> option -> value; what is left out has its default. */
export type RuleNumbers = Table<Table<number>>;

/** What a rule says about one place. Spans are of the document. */
export interface Finding {
  readonly rule: string;
  readonly topic: Topic;
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span;
  readonly workload: Workload | null;
  readonly container: string | null;
  readonly fixes: readonly Fix[];
  /** US dollars an hour that following the advice would save. */
  readonly saving: number | null;
}

/** What a rule hands over; the runner adds the rest. */
export interface Report {
  readonly message: string;
  readonly span: Span;
  /** Made when somebody asks for them: diagnostics do without. Those that cannot be made are undefined. */
  readonly fixes?: () => readonly (Fix | undefined)[];
  readonly saving?: number | undefined;
  /** For the cases that are graver or milder than the rule's default. */
  readonly severity?: Severity;
}

/** What a rule may look at besides the thing it visits. */
export interface DocumentContext {
  readonly document: YamlDocument;
  readonly options: ModelOptions;
  /** What other documents say. A finding still lands in this one. */
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

/** One rule. The runner walks, the rule looks: it subscribes to the level it needs. */
export interface Rule {
  readonly topic: Topic;
  readonly severity: Severity;
  /** Whether it finds what wastes money, for the rule set cost-only; left out, the topic says so. */
  readonly wasteful?: boolean;
  /** By name, as it stands in the config under `ruleOptions`. */
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
