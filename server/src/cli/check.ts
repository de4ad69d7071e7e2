import path from 'node:path';
import process from 'node:process';
import { Analysis } from '../analysis.ts';
import { configName } from '../config/places.ts';
import { plural } from '../cost/format.ts';
import { unusedSuppressionId } from '../features/actions/unused-suppressions.ts';
import type { Severity } from '../rules/rule.ts';
import type { RuleSetName } from '../rules/rule-sets.ts';
import { readBaseline, withoutBaselined, writeBaseline, writeReport } from './baseline.ts';
import { type CheckFileOptions, checkFile } from './check-file.ts';
import { contentOf } from './file-content.ts';
import { type BadInput, findFiles, type InputFile, standardInput } from './files.ts';
import { kustomizedFiles, withCountedIn } from './kustomized-files.ts';
import { type ProjectConfigs, projectConfigs } from './project-config.ts';
import { type Reach, reachOf } from './reach.ts';
import { relatedFilesWithin } from './related-files.ts';
import { priceBasis } from './reports/cost-basis.ts';
import { type CheckedFile, type CheckedReport, failureOf, isFailure, type RenderReport } from './reports/format.ts';
import { renderFullFile } from './reports/full.ts';
import { summarizeReport } from './reports/json.ts';
import { fixWords, isAtLeast, renderFile, renderSummary, shownPath, type TextOptions } from './reports/text.ts';
import { sourceRoot } from './source-path.ts';
import { colorStyle, plainStyle, printable, wantsColor, warn } from './terminal.ts';
import { showDiff } from './unified-diff.ts';
import { UsageError } from './usage-error.ts';
import { type ConfiguredInput, seeTogether } from './workspace.ts';

export interface CheckOptions {
  /** Undefined: text, which `full` shows with the source lines. */
  readonly render: RenderReport | undefined;
  readonly full?: boolean;
  readonly fix?: boolean;
  /** Write what `fix` would change, as a diff in place of a report; the files stay as they are. */
  readonly diff?: boolean;
  readonly failOn: Severity | 'never';
  /** A config file, `false` for none, undefined for the nearest. */
  readonly config?: string | false;
  /** The set of rules to start from, in place of the one that the config extends. */
  readonly rules?: RuleSetName;
  readonly baseline?: string;
  readonly writeBaseline?: boolean;
  readonly reportUnused?: boolean;
  /** A file to write to in place of standard output. */
  readonly output?: string;
  readonly quiet?: boolean;
  readonly color?: boolean;
  readonly stdinFilename?: string;
}

/**
 * Checks files, folders and standard input (`-`), and writes the report.
 * @returns the exit status: 2 when gpulint could not do its part on a path that was named or on a file, else 1 when something at or above
 * `failOn` was found (with `diff`: when there is something to change), else 0
 * @throws UsageError when nothing could be read, or another file that is to be read or written cannot be.
 */
export async function check(paths: readonly string[], options: CheckOptions): Promise<number> {
  const { baseline, failOn } = options;
  if (options.writeBaseline === true && baseline === undefined) {
    throw new UsageError('--write-baseline needs --baseline <file>, which says where to');
  }
  const other = options.writeBaseline === true ? '--write-baseline' : (options.render ?? options.full) && '--format';
  if (options.diff === true && other) throw new UsageError(`--diff writes nothing but a diff: leave out ${other}`);
  const known =
    baseline === undefined || options.writeBaseline === true ? new Set<string>() : await readBaseline(baseline);
  const files = (await checkAll(paths, options)).map((file) => withoutBaselined(file, known));
  const [first] = files;
  if (first !== undefined && files.every(isUnread)) {
    throw new UsageError(`${shownPath(first.file)}: ${first.file.problem}`);
  }
  const failed = files.some(isFailure);
  if (options.diff === true) return writeDiff(files, options);
  // The text report says it itself; of the others, and of a baseline, people may see nothing but the status.
  if (options.render !== undefined || options.output !== undefined || options.writeBaseline === true) {
    for (const { file, outcome, fixes = [] } of files) {
      if (outcome === 'missing' || outcome === 'unchecked') warn(`${shownPath(file)}: ${file.problem}`);
      for (const fix of fixes) warn(`${shownPath(file)}: fixed: ${fixWords(fix)} (${fix.rule})`);
    }
  }
  if (options.writeBaseline === true && baseline !== undefined) {
    const count = writeBaseline(baseline, files);
    process.stdout.write(`${printable(baseline)}: ${plural(count, 'finding')}\n`);
    return failed ? 2 : 0;
  }

  const text = textOptions(options);
  const report: CheckedReport = { files, failOn, shows: ({ rule, severity }) => text.shows(rule, severity) };
  const pieces =
    options.render?.(report) ?? renderText(paths, files, text, options.full === true ? renderFullFile : renderFile);
  write(pieces, options);

  if (failed) return 2;
  const severities = files.flatMap(({ file }) => file.findings.map(({ severity }) => severity));
  return failOn !== 'never' && severities.some((severity) => isAtLeast(severity, failOn)) ? 1 : 0;
}

/** The diffs of the files, each once, whatever links lead to it. Files that could not be checked are named on standard error. */
function writeDiff(files: readonly CheckedFile[], options: CheckOptions): number {
  const diffs = new Map(files.flatMap(({ diff }) => (diff === undefined ? [] : [[diff.name, diff.text]])));
  for (const checked of files) {
    const failure = failureOf(checked);
    if (failure !== null) warn(`${shownPath(checked.file)}: ${failure}`);
  }
  const { style, headings } = textOptions(options);
  const isForPerson = headings || style === colorStyle;
  write(isForPerson ? [...diffs.values()].map((diff) => showDiff(diff, style)) : diffs.values(), options);
  if (files.some(isFailure)) return 2;
  return diffs.size > 0 && options.failOn !== 'never' ? 1 : 0;
}

function write(pieces: Iterable<string>, { output }: CheckOptions): void {
  if (output === undefined) for (const piece of pieces) process.stdout.write(piece);
  else writeReport(output, [...pieces].join(''));
}

async function checkAll(paths: readonly string[], options: CheckOptions): Promise<readonly CheckedFile[]> {
  const results: CheckedFile[] = [];
  const analysis = new Analysis();
  const root = sourceRoot();
  const reach = reachOf(paths.map((given) => (given === standardInput ? (options.stdinFilename ?? '.') : given)));
  const related = relatedFilesWithin(reach);
  const inputs = await collectInputs(paths, options, reach);
  seeTogether(analysis, inputs, reach);
  const countedIn = await kustomizedFiles(inputs, related);
  const fix = options.diff === true ? 'show' : options.fix === true ? 'write' : undefined;
  const how: CheckFileOptions = { fix, root, related, withLines: options.full === true };
  for (const { config, input } of inputs) {
    analysis.setConfig(config);
    const checked = await checkFile(analysis, input, await contentOf(input, reach), how);
    results.push(withCountedIn(checked, countedIn(input)));
  }
  return results;
}

function isUnread({ outcome }: CheckedFile): boolean {
  return outcome === 'unreadable' || outcome === 'missing';
}

/** The files behind each path, each with its config; a file that two paths lead to is taken once. */
async function collectInputs(
  paths: readonly string[],
  options: CheckOptions,
  reach: Reach,
): Promise<readonly ConfiguredInput[]> {
  const configs = projectConfigs(reach, options.config, options.rules);
  const own = ownFiles(options);
  const seen = new Set<string>();
  const found: ConfiguredInput[] = [];
  for (const given of paths) {
    for (const input of given === standardInput ? fromStandardInput(options) : await fromPath(given, configs, reach)) {
      if (seen.has(input.file) || (input.folder !== null && own.has(input.file))) continue;
      seen.add(input.file);
      const place = input.file === standardInput ? (options.stdinFilename ?? '.') : input.file;
      found.push({ input, config: await configs.of(place) });
    }
  }
  return found;
}

/** What gpulint wrote itself is no manifest, should it lie in a folder that is checked. */
function ownFiles({ baseline, output }: CheckOptions): ReadonlySet<string> {
  return new Set([baseline, output].filter((file) => file !== undefined).map((file) => path.resolve(file)));
}

/** A walk passes by what the config of the folder ignores, and what a config further down does. */
async function fromPath(
  given: string,
  configs: ProjectConfigs,
  reach: Reach,
): Promise<readonly (InputFile | BadInput)[]> {
  if (given === '') throw new UsageError("'' is no path: name a file or a folder");
  const config = await configs.nearest(given);
  const ignore = { patterns: config?.told.ignore ?? [], base: config?.base ?? path.resolve(given) };
  const inputs = await findFiles(given, ignore, reach);
  const ignored = await Promise.all(inputs.map(({ folder, file }) => folder !== null && configs.isIgnored(file)));
  return inputs.filter((input, index) => {
    if (ignored[index] === true) return false;
    if (!('problem' in input) || input.leftOut !== 'folder') return true;
    // Nobody knows how many files it stands for, so the report does not list it as one.
    warn(`${shownPath(input)} is left out: ${input.problem}`);
    return false;
  });
}

function fromStandardInput({ fix, diff, stdinFilename }: CheckOptions): readonly InputFile[] {
  if (fix === true && diff !== true) {
    throw new UsageError('--fix cannot change standard input: name a file');
  }
  return [{ file: standardInput, path: stdinFilename ?? '<stdin>', folder: null }];
}

function* renderText(
  paths: readonly string[],
  checked: readonly CheckedFile[],
  options: TextOptions,
  render: typeof renderFile,
): Generator<string> {
  for (const file of checked) yield render(file, options);
  if (options.quiet) return;
  const files = checked.map(({ file }) => file);
  if (checked.some(({ workloads }) => workloads.some(({ lacksModel }) => lacksModel))) yield wayToPrices;
  if (files.length > 0) yield renderSummary(summarizeReport(files), files, options, priceBasis(checked));
  else yield `no YAML or JSON files in ${paths.map(printable).join(', ')}\n`;
}

const wayToPrices = `A GPU that no manifest names has a price once 'gpu:' in ${configName} says which is meant, for example gpu: h100-80gb-sxm\n\n`;

function textOptions({ quiet = false, failOn, color, output, reportUnused = false }: CheckOptions): TextOptions {
  const limit = failOn === 'never' ? 'info' : failOn;
  // Hints are possible improvements: only who asks for them sees them.
  const atLeast = quiet || limit === 'hint' ? limit : 'info';
  const terminal = output === undefined ? process.stdout : {};
  return {
    style: wantsColor(color, terminal) ? colorStyle : plainStyle,
    headings: output === undefined && process.stdout.isTTY === true,
    shows: (rule, severity) => isAtLeast(severity, atLeast) || (reportUnused && rule === unusedSuppressionId),
    quiet,
  };
}
