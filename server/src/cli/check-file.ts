import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Analysis, type FileAnalysis, withFindings } from '../analysis.ts';
import type { ProjectConfig } from '../config.ts';
import { oldPriceAge } from '../cost/price-age.ts';
import { mayInstallCharts } from '../model/chart-installs.ts';
import { noRelatedFiles } from '../model/related-files.ts';
import { hasParts, type RelatedFilesSource } from '../workspace/find-related-files.ts';
import { applySafeFixes } from './apply-fixes.ts';
import type { CheckCluster } from './cluster/check-cluster.ts';
import { bytesOf, contentOfRegular, type FileContent, type FileText } from './file-content.ts';
import { type InputFile, standardInput } from './files.ts';
import { placeFixes } from './fix-places.ts';
import { realPath } from './reach.ts';
import { sourceLines } from './reports/excerpt.ts';
import type { CheckedFile, FileDiff, Outcome } from './reports/format.ts';
import { costsOf, toReportFile } from './reports/json.ts';
import { placedRows } from './reports/placed-rows.ts';
import type { ReportFile } from './reports/report-schema.ts';
import { describeWorkloads, shownPath } from './reports/text.ts';
import { displayPath, sourcePath } from './source-path.ts';
import { warn } from './terminal.ts';
import { unifiedDiff } from './unified-diff.ts';
import { systemReason } from './usage-error.ts';
import { replaceContent, type Saved } from './write-file.ts';

/** Options of `checkFile`. */
export interface CheckFileOptions {
  /** write: apply the safe fixes to the file; show: put them into `CheckedFile.diff`. */
  readonly fix: 'write' | 'show' | undefined;
  /** The config of a file whose text is only a part of it: the workspace keeps what it knows about the whole file. */
  readonly partOf?: ProjectConfig;
  /** Whether the report shows the lines of findings. */
  readonly withLines: boolean;
  /** The folder that `CheckedFile.source` is relative to. */
  readonly root: string;
  /** The related files of each file. */
  readonly related: RelatedFilesSource;
  /** Answers whether the workloads would run. */
  readonly cluster: CheckCluster | undefined;
  /** The URIs of the files that stay in the analysis after their check. */
  readonly held: ReadonlySet<string>;
}

/** Checks one input, after its safe fixes if requested. Never throws, so that the other files are always checked. */
export async function checkFile(
  analysis: Analysis,
  input: InputFile,
  content: FileContent,
  options: CheckFileOptions,
): Promise<CheckedFile> {
  if (content.kind === 'unreadable') {
    // A named folder that cannot be listed has itself as its folder.
    const named = input.folder === null || input.folder === input.path;
    return skipped(input, options, `cannot be read: ${content.reason}`, named ? 'missing' : 'unreadable');
  }
  if (content.kind !== 'text') {
    return skipped(input, options, content.reason, input.folder === null ? 'unchecked' : 'checked');
  }
  const uri =
    input.file === standardInput ? `stdin:/${encodeURIComponent(input.path)}` : pathToFileURL(input.file).href;
  const { held, related } = options;
  try {
    return await checkText(analysis, uri, input, content, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warn(`internal error in ${shownPath(input)}: ${reason}`);
    return skipped(input, options, `internal error: ${reason}`, 'broken');
  } finally {
    if (!held.has(uri)) release(analysis, related, uri);
  }
}

/** Removes a file that was checked. */
export function release(analysis: Analysis, related: RelatedFilesSource, uri: string): void {
  analysis.removeFile(uri);
  related.forget(uri);
}

/** A program that keeps writing a file must not block the run. */
const maxAttempts = 3;

async function checkText(
  analysis: Analysis,
  uri: string,
  input: InputFile,
  content: FileText,
  options: CheckFileOptions,
  attempt = 1,
): Promise<CheckedFile> {
  const { fix, root, related, withLines, cluster, partOf } = options;
  const answered = async (file: FileAnalysis) => cluster?.answered(file) ?? file;
  const source = sourcePath(root, input);
  const relatedFiles =
    input.file === standardInput ? noRelatedFiles : await related.of(uri, mayInstallCharts(content.text));
  const before = await answered(
    partOf === undefined
      ? analysis.setFile(uri, content.text, 0, undefined, relatedFiles)
      : analysis.peek(uri, content.text, partOf, relatedFiles, true),
  );
  const fixed = fix === undefined ? { file: before, applied: [] } : applySafeFixes(analysis, before);
  const differs = fixed.file.text !== content.text;
  const saved = !differs || fix === 'show' ? 'written' : save(input, content, fixed.file.text);
  if (saved === 'changed' && attempt < maxAttempts) {
    return checkFileAgain(analysis, uri, input, options, attempt + 1, fixed.file.text);
  }
  if (saved === 'changed') warn(`${shownPath(input)} keeps changing: its fixes were not written`);
  const isFixed = differs && fix === 'write' && saved === 'written';
  // Later overlays read the fixed file as their base.
  if (isFixed) related.changed(uri);
  const file = await answered(isFixed || !differs ? fixed.file : analysis.setFile(uri, content.text));
  for (const { rule, error } of withFindings(file).documents.flatMap(({ crashes }) => crashes)) {
    warn(`internal error of rule ${rule} in ${shownPath(input)}: ${error}`);
  }
  const parts = hasParts(relatedFiles) ? { parts: await related.partsOf(uri) } : {};
  const report = { ...placeOf(input), ...toReportFile(input.path, source, file) };
  const costs = costsOf(file);
  const age = oldPriceAge(
    costs.flatMap(({ basis }) => basis),
    file.config.prices,
  );
  const checked: CheckedFile = {
    file: report,
    source,
    workloads: describeWorkloads(file),
    ...placedRows(file, analysis.workspace),
    costs,
    ...(age === null ? {} : { oldPrices: age }),
    outcome: saved === 'written' ? 'checked' : 'unwritten',
    ...parts,
    ...(relatedFiles.installed && { installed: relatedFiles.installed }),
    ...(withLines ? { lines: sourceLines(file, report.findings) } : {}),
  };
  if (differs && fix === 'show') return { ...checked, diff: diffOf(input, content, fixed.file) };
  if (!isFixed) return checked;
  const { findings } = toReportFile(input.path, source, before);
  return {
    ...checked,
    file: { ...report, fixed: fixed.applied.map(({ rule, title }) => ({ rule, title })) },
    fixes: placeFixes({ text: before.text, findings }, { text: file.text, findings: report.findings }, fixed.applied),
  };
}

/**
 * Checks the current content of the file.
 * @param fixed the text that was not written: another name of the same file (a hard link) may have got the same fixes just before
 */
async function checkFileAgain(
  analysis: Analysis,
  uri: string,
  input: InputFile,
  options: CheckFileOptions,
  attempt: number,
  fixed: string,
): Promise<CheckedFile> {
  const content = contentOfRegular(input.file);
  if (content.kind !== 'text' || content.text !== fixed)
    warn(`${shownPath(input)} changed during the check: checking it again`);
  return content.kind === 'text'
    ? checkText(analysis, uri, input, content, options, attempt)
    : checkFile(analysis, input, content, options);
}

function save(input: InputFile, { text, bom }: FileText, fixed: string): Saved | 'failed' {
  try {
    return replaceContent(input.file, bytesOf(text, bom), bytesOf(fixed, bom));
  } catch (error) {
    warn(`cannot write ${displayPath(input.file)}: ${systemReason(error)}; the file is unchanged`);
    return 'failed';
  }
}

function diffOf(input: InputFile, { text, bom }: FileText, { text: fixed }: FileAnalysis): FileDiff {
  const mark = bom ? '\ufeff' : '';
  const name = pathInDiff(input);
  return { name, text: unifiedDiff(name, mark + text, mark + fixed) };
}

/** The path for `git apply` and `patch`: relative to the current folder, with links resolved. */
function pathInDiff({ file, path: shown }: InputFile): string {
  const real = file === standardInput ? undefined : realPath(file);
  // Standard input has no file to apply the diff to.
  if (real === undefined) return shown.replace(/^\/+/, '');
  const here = path.relative(realPath('.') ?? '.', real);
  const name = here.startsWith('..') ? path.relative('.', file) : here;
  return name.split(path.sep).join('/');
}

function skipped(input: InputFile, { root }: CheckFileOptions, problem: string, outcome: Outcome): CheckedFile {
  return {
    file: { ...placeOf(input), parse: 'skipped', problem, workloads: [], findings: [] },
    source: sourcePath(root, input),
    workloads: [],
    rows: [],
    pools: [],
    costs: [],
    outcome,
  };
}

function placeOf({ path: shown, folder }: InputFile): Pick<ReportFile, 'path' | 'folder'> {
  return { path: shown, ...(folder === null ? {} : { folder }) };
}
