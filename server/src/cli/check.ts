import process from 'node:process';
import { Analysis } from '../analysis.ts';
import type { Severity } from '../rules/rule.ts';
import { type CheckedFile, checkFile } from './check-file.ts';
import { type BadInput, contentOf, findFiles, type InputFile, standardInput } from './files.ts';
import { configFor, type LoadedConfig } from './project-config.ts';
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
  for (const { config, inputs } of await collectInputs(paths, options)) {
    const analysis = new Analysis();
    analysis.setConfig(config.config);
    for (const input of inputs) {
      results.push(checkFile(analysis, input, await contentOf(input), options.fix ?? false));
    }
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

interface InputGroup {
  readonly config: LoadedConfig;
  readonly inputs: readonly (InputFile | BadInput)[];
}

/** The files behind each path, with its config; a file that two paths lead to is taken once. */
async function collectInputs(paths: readonly string[], options: CheckOptions): Promise<readonly InputGroup[]> {
  const seen = new Set<string>();
  const groups: InputGroup[] = [];
  for (const given of paths) {
    const { config, inputs } = given === '-' ? fromStandardInput(options) : await fromPath(given, options);
    groups.push({ config, inputs: inputs.filter(({ file }) => !seen.has(file)) });
    for (const { file } of inputs) seen.add(file);
  }
  return groups;
}

async function fromPath(given: string, options: CheckOptions): Promise<InputGroup> {
  if (given === '') throw new UsageError("'' is no path: name a file or a folder");
  const config = configFor(given, options.config);
  return { config, inputs: await findFiles(given, { patterns: config.config.ignore, base: config.base }) };
}

function fromStandardInput({ fix, stdinFilename, config }: CheckOptions): InputGroup {
  if (fix === true) throw new UsageError('--fix cannot change standard input: name a file');
  const input = { file: standardInput, path: stdinFilename ?? '<stdin>', folder: null };
  return { config: configFor(stdinFilename ?? '.', config), inputs: [input] };
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
