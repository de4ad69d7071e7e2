import type { ProjectConfig } from './config.ts';
import type { CostResult } from './cost/types.ts';
import type { Manifest, Workload } from './model/workload.ts';
import type { Finding } from './rules/rule.ts';
import type { YamlDocument, YamlFile } from './yaml/node.ts';

/** A rule that threw. The other findings still stand. */
export interface RuleCrash { readonly rule: string; readonly error: string }

/** Everything that is known of one document. Lazy and memoised by the document's text. Spans are relative to `document.base`. */
export interface DocumentAnalysis {
  readonly document: YamlDocument;
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Workload[];
  /** Suppressions applied, severities as configured. */
  readonly findings: readonly Finding[];
  readonly crashes: readonly RuleCrash[];
  costOf(workload: Workload): CostResult;
}

/** Everything that is known of one file. */
export interface FileAnalysis {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  readonly yaml: YamlFile;
  /** As in the JSON report. */
  readonly parse: 'ok' | 'template' | 'error' | 'skipped';
  readonly problem: string | null;
  readonly documents: readonly DocumentAnalysis[];
  /** Some document asks for an accelerator. */
  readonly hasAccelerators: boolean;
  readonly config: ProjectConfig;
}

/** The API boundary: the editor and the CLI both stand on it, so that they cannot disagree. */
export declare class Analysis {
  constructor(options?: { readonly strict?: boolean });
  /** `null`: the defaults. Applies to every file. */
  setConfig(config: ProjectConfig): void;
  setFile(uri: string, text: string, version?: number): void;
  removeFile(uri: string): void;
  file(uri: string): FileAnalysis | undefined;
}
