import type { Workload } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import type { Span } from '../yaml/span.ts';
import type { Finding, Report, Rule, Severity } from './rule.ts';

/** The rule that reports, with the severity from the config. */
interface Reporter {
  readonly id: string;
  readonly rule: Rule;
  readonly severity: Severity | undefined;
}

/** What a rule has reported, with fixes made on first use. A class, because a getter of its own would make each finding a slow object. */
export class ReportedFinding implements Finding {
  readonly rule: string;
  readonly topic: Finding['topic'];
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span;
  readonly workload: Workload | null;
  readonly container: string | null;
  readonly saving: number | null;
  readonly oncePerFile: boolean;
  readonly #makeFixes: () => readonly Fix[];
  #fixes: readonly Fix[] | undefined;

  constructor(
    { id, rule, severity }: Reporter,
    report: Report,
    { workload, container }: Pick<Finding, 'workload' | 'container'>,
    makeFixes: () => readonly Fix[],
  ) {
    this.rule = id;
    this.topic = report.topic ?? rule.topic;
    this.severity = severity ?? report.severity ?? rule.severity;
    this.message = report.message;
    this.span = report.span;
    this.workload = workload;
    this.container = container;
    this.saving = report.saving ?? null;
    this.oncePerFile = report.oncePerFile ?? false;
    this.#makeFixes = makeFixes;
  }

  get fixes(): readonly Fix[] {
    this.#fixes ??= this.#makeFixes();
    return this.#fixes;
  }
}
