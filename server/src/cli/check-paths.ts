import path from 'node:path';
import type { ReportedPool } from '../features/cost-report/report.ts';
import type { PublishedView } from '../fleet/cluster-view.ts';
import { type CheckPathsOptions, type CheckRun, placesOf, type RunPlaces, startRun } from './check-run.ts';
import { checkAllManifests, type SharedRun, startThreads } from './check-threads.ts';
import { type CheckedInput, withCountedElsewhere } from './counted-files.ts';
import { type BadInput, findFiles, type InputFile, standardInput } from './files.ts';
import { checkAgain } from './fix-rounds.ts';
import type { ProjectConfigs } from './project-config.ts';
import type { Reach } from './reach.ts';
import type { CheckedFile } from './reports/format.ts';
import { shownPath } from './reports/text.ts';
import { warn } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** The results of a run. */
export interface CheckedPaths {
  readonly files: readonly CheckedFile[];
  /** The node pools in files of Terraform. */
  readonly terraformPools: () => readonly ReportedPool[];
  /** What the connected cluster offers; undefined without one. */
  readonly cluster: PublishedView | undefined;
}

/**
 * Checks the files of all paths, each once, with what they know about each other.
 * @throws UsageError if a path or a config cannot be used
 */
export async function checkPaths(paths: readonly string[], options: CheckPathsOptions): Promise<CheckedPaths> {
  const places = placesOf(paths, options);
  const inputs = await collectInputs(paths, options, places);
  const shared = startThreads(paths, options, inputs);
  try {
    const run = await startRun(inputs, places, options);
    try {
      for (const sentence of run.terraformProblems()) warn(sentence);
      const files = await checkAll(run, shared);
      return { files, terraformPools: run.terraformPools, cluster: run.clusterView() };
    } finally {
      run.close();
    }
  } finally {
    shared.stop();
  }
}

async function checkAll(run: CheckRun, shared: SharedRun): Promise<readonly CheckedFile[]> {
  const checked = await checkAllManifests(run, shared);
  for (const sentence of new Set(checked.flatMap(({ warnings }) => warnings))) warn(sentence);
  const results = run.manifests.flatMap((input, index): readonly CheckedInput[] => {
    const one = checked[index];
    return one === undefined ? [] : [{ ...input, checked: one.checked }];
  });
  return withCountedElsewhere(await checkAgain(results, run.check, run.indexAgain));
}

/** The files of all paths, each once. */
async function collectInputs(
  paths: readonly string[],
  options: CheckPathsOptions,
  { configs, reach }: RunPlaces,
): Promise<readonly (InputFile | BadInput)[]> {
  const own = new Set((options.own ?? []).map((file) => path.resolve(file)));
  const found = new Map<string, InputFile | BadInput>();
  for (const name of paths) {
    for (const input of name === standardInput ? fromStandardInput(options) : await fromPath(name, configs, reach)) {
      if (found.has(input.file) || (input.folder !== null && own.has(input.file))) continue;
      found.set(input.file, input);
    }
  }
  return [...found.values()];
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
