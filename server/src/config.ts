import type { ModelOptions } from './model/options.ts';
import type { RulesOptions } from './rules/rule.ts';

/** What a project says of itself in `.gpulint.yaml`, composed from the options of the rooms. VS Code settings have the same shape. */
export interface ProjectConfig extends ModelOptions {
  readonly rules: RulesOptions;
}

/** The config of a project without a file. */
export declare const defaultConfig: ProjectConfig;

export interface ConfigProblem {
  readonly message: string;
  readonly span: { readonly start: number; readonly end: number };
}

/** Reads a `.gpulint.yaml`. Never throws: what is wrong becomes a problem with its place, and the rest holds. */
export declare function parseConfig(text: string): { readonly config: ProjectConfig; readonly problems: readonly ConfigProblem[] };
