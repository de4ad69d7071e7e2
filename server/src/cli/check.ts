import path from 'node:path';
import process from 'node:process';
import { Analysis } from '../analysis.ts';
import type { ProjectConfig } from '../config.ts';
import type { Severity } from '../rules/rule.ts';
import { type CheckedFile, checkFile } from './check-file.ts';
import { type BadInput, contentOf, findFiles, type InputFile, standardInput } from './files.ts';
import { type ProjectConfigs, projectConfigs } from './project-config.ts';
import { renderJson, summarise } from './reports/json.ts';
import { isAtLeast, renderFile, renderSummary, shownPath, type TextOptions } from './reports/text.ts';
import { colourStyle, plainStyle, printable, wantsColour } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface CheckOptions {
  readonly format: 'text' | 'json';
  readonly fix?: boolean;
  readonly failOn: Severity | 'never';
  /** A config file, `false` for none, undefined for the nearest. */
  readonly config?: string | false;
  readonly quiet?: boolean;
  readonly color?: boolean;
  readonly stdinFilename?: string;
}

/**
 * Checks files, folders and standard input (`-`), and writes the report to standard output.
 * @returns the exit status: 2 when gpulint could not do its part on a file, else 1 when something at or above `failOn` was found, else 0
 * @throws UsageError when nothing could be read.
 */
export async function check(paths: readonly string[], options: CheckOptions): Promise<number> {
  const results: CheckedFile[] = [];
  const analysis = new Analysis();
  for (const { config, input } of await collectInputs(paths, options)) {
    analysis.setConfig(config);
    results.push(checkFile(analysis, input, await contentOf(input), options.fix ?? false));
  }
  const unreadable = results.find(({ outcome }) => outcome === 'unreadable');
  if (unreadable !== undefined && results.every(({ outcome }) => outcome === 'unreadable')) {
    throw new UsageError(`${shownPath(unreadable.file)}: ${unreadable.file.problem}`);
  }

  const files = results.map(({ file }) => file);
  if (options.format === 'json') for (const piece of renderJson(files)) process.stdout.write(piece);
  else writeText(paths, results, textOptions(options));

  if (results.some(({ outcome }) => outcome === 'unwritten' || outcome === 'broken')) return 2;
  const { failOn } = options;
  const severities = files.flatMap(({ findings }) => findings.map(({ severity }) => severity));
  return failOn !== 'never' && severities.some((severity) => isAtLeast(severity, failOn)) ? 1 : 0;
}

interface ConfiguredInput {
  readonly input: InputFile | BadInput;
  readonly config: ProjectConfig;
}

/** The files behind each path, each with its config; a file that two paths lead to is taken once. */
async function collectInputs(paths: readonly string[], options: CheckOptions): Promise<readonly ConfiguredInput[]> {
  const configs = projectConfigs(options.config);
  const seen = new Set<string>();
  const found: ConfiguredInput[] = [];
  for (const given of paths) {
    for (const input of given === '-' ? fromStandardInput(options) : await fromPath(given, configs)) {
      if (seen.has(input.file)) continue;
      seen.add(input.file);
      const place = input.file === standardInput ? (options.stdinFilename ?? '.') : input.file;
      found.push({ input, config: await configs.of(place) });
    }
  }
  return found;
}

/** A walk passes by what the config of the folder ignores, and what a config further down does. */
async function fromPath(given: string, configs: ProjectConfigs): Promise<readonly (InputFile | BadInput)[]> {
  if (given === '') throw new UsageError("'' is no path: name a file or a folder");
  const config = await configs.nearest(given);
  const inputs = await findFiles(given, {
    patterns: config?.told.ignore ?? [],
    base: config?.base ?? path.resolve(given),
  });
  const ignored = await Promise.all(inputs.map(({ folder, file }) => folder !== null && configs.isIgnored(file)));
  return inputs.filter((_, index) => ignored[index] !== true);
}

function fromStandardInput({ fix, stdinFilename }: CheckOptions): readonly InputFile[] {
  if (fix === true) throw new UsageError('--fix cannot change standard input: name a file');
  return [{ file: standardInput, path: stdinFilename ?? '<stdin>', folder: null }];
}

function writeText(paths: readonly string[], results: readonly CheckedFile[], options: TextOptions): void {
  for (const { file, workloads } of results) process.stdout.write(renderFile(file, workloads, options));
  if (options.quiet) return;
  const files = results.map(({ file }) => file);
  if (files.length > 0) process.stdout.write(renderSummary(summarise(files), files, options));
  else process.stdout.write(`no YAML or JSON files in ${paths.map(printable).join(', ')}\n`);
}

function textOptions({ quiet = false, failOn, color }: CheckOptions): TextOptions {
  const limit = failOn === 'never' ? 'info' : failOn;
  return {
    style: wantsColour(color, process.stdout) ? colourStyle : plainStyle,
    headings: process.stdout.isTTY === true,
    // Hints are possible improvements: only who asks for them sees them.
    atLeast: quiet || limit === 'hint' ? limit : 'info',
    quiet,
  };
}
