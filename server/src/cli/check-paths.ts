import path from 'node:path';
import { Analysis } from '../analysis.ts';
import type { RuleSetName } from '../rules/rule-sets.ts';
import { isTerraform } from '../workspace/terraform.ts';
import { type CheckFileOptions, checkFile } from './check-file.ts';
import type { CheckCluster } from './cluster/check-cluster.ts';
import { type CheckedInput, withCountedElsewhere } from './counted-files.ts';
import { contentOf } from './file-content.ts';
import { type BadInput, findFiles, type InputFile, standardInput } from './files.ts';
import { checkAgain } from './fix-rounds.ts';
import { type ConfiguredInput, indexInput, indexInputs } from './index-inputs.ts';
import { type ProjectConfigs, projectConfigs } from './project-config.ts';
import { type Reach, reachOf } from './reach.ts';
import { relatedFilesWithin } from './related-file-reader.ts';
import type { CheckedFile } from './reports/format.ts';
import { shownPath } from './reports/text.ts';
import { sourceRoot } from './source-path.ts';
import { warn } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** What to check, and how. */
export interface CheckPathsOptions {
  /** write: apply the safe fixes to the files; show: put them into `CheckedFile.diff`. */
  readonly fix?: CheckFileOptions['fix'];
  /** Whether the report shows the lines of findings. */
  readonly withLines?: boolean;
  /** A config file; `false` for none, undefined for the nearest. */
  readonly config?: string | false;
  /** The rule set to start from, instead of the one that the config extends. */
  readonly rules?: RuleSetName;
  readonly stdinFilename?: string;
  /** Files that gpulint writes, which are not manifests if they are in a checked folder. */
  readonly own?: readonly string[];
  /** The folder that `CheckedFile.source` is relative to; by default the root of the repository. */
  readonly root?: string;
  /** Connect to a cluster: its context, or true for the current one. */
  readonly cluster?: string | boolean;
}

/**
 * Checks the files of all paths, each once, with what they know about each other.
 * @throws UsageError if a path or a config cannot be used
 */
export async function checkPaths(
  paths: readonly string[],
  options: CheckPathsOptions,
): Promise<readonly CheckedFile[]> {
  const analysis = new Analysis();
  const reach = reachOf(paths.map((name) => (name === standardInput ? (options.stdinFilename ?? '.') : name)));
  const related = relatedFilesWithin(reach);
  const inputs = await collectInputs(paths, options, reach);
  const kept = indexInputs(analysis, inputs, reach);
  const { fix, root = sourceRoot(), withLines = false } = options;
  const cluster = await clusterOf(analysis, options);
  const how: CheckFileOptions = { fix, root, related, withLines, cluster };
  const checkOne = async ({ config, input }: ConfiguredInput): Promise<CheckedFile> => {
    analysis.setConfig(config);
    return checkFile(analysis, input, await contentOf(input, reach, kept.get(input.file)), how);
  };
  try {
    return await checkAll(inputs, checkOne, (fixed) => indexInput(analysis, fixed, reach, kept));
  } finally {
    cluster?.close();
  }
}

async function clusterOf(
  analysis: Analysis,
  { cluster = false }: CheckPathsOptions,
): Promise<CheckCluster | undefined> {
  if (cluster === false) return undefined;
  const { connectCheck } = await import('./cluster/check-cluster.ts');
  return connectCheck(analysis, cluster === true ? null : cluster);
}

async function checkAll(
  inputs: readonly ConfiguredInput[],
  checkOne: (input: ConfiguredInput) => Promise<CheckedFile>,
  fixed: (input: ConfiguredInput) => void,
): Promise<readonly CheckedFile[]> {
  const results: CheckedInput[] = [];
  // Files of Terraform in a folder describe pools; they are not manifests.
  const manifests = inputs.filter(({ input }) => input.folder === null || !isTerraform(input.file));
  for (const one of manifests) results.push({ ...one, checked: await checkOne(one) });
  return withCountedElsewhere(await checkAgain(results, checkOne, fixed));
}

/** The files of all paths, each once, with their configs. */
async function collectInputs(
  paths: readonly string[],
  options: CheckPathsOptions,
  reach: Reach,
): Promise<readonly ConfiguredInput[]> {
  const configs = projectConfigs(reach, options.config, options.rules);
  const own = new Set((options.own ?? []).map((file) => path.resolve(file)));
  const seen = new Set<string>();
  const found: ConfiguredInput[] = [];
  for (const name of paths) {
    for (const input of name === standardInput ? fromStandardInput(options) : await fromPath(name, configs, reach)) {
      if (seen.has(input.file) || (input.folder !== null && own.has(input.file))) continue;
      seen.add(input.file);
      const place = input.file === standardInput ? (options.stdinFilename ?? '.') : input.file;
      found.push({ input, config: await configs.of(place) });
    }
  }
  return found;
}

/** The files of a path, without those that the config of the folder, or one further down, ignores. */
async function fromPath(
  name: string,
  configs: ProjectConfigs,
  reach: Reach,
): Promise<readonly (InputFile | BadInput)[]> {
  if (name === '') throw new UsageError("'' is not a path: name a file or folder");
  const config = await configs.nearest(name);
  const ignore = { patterns: config?.values.ignore ?? [], base: config?.base ?? path.resolve(name) };
  const inputs = await findFiles(name, ignore, reach);
  const ignored = await Promise.all(inputs.map(({ folder, file }) => folder !== null && configs.isIgnored(file)));
  return inputs.filter((input, index) => {
    if (ignored[index] === true) return false;
    if (!('problem' in input) || input.leftOut !== 'folder') return true;
    // The number of files in the folder is unknown, so the report does not list it as a file.
    warn(`${shownPath(input)} is skipped: ${input.problem}`);
    return false;
  });
}

function fromStandardInput({ fix, stdinFilename }: CheckPathsOptions): readonly InputFile[] {
  if (fix === 'write') {
    throw new UsageError('--fix cannot change standard input: name a file');
  }
  return [{ file: standardInput, path: stdinFilename ?? '<stdin>', folder: null }];
}
