import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Analysis, FileAnalysis } from '../analysis.ts';
import { noRelatedFiles } from '../model/related-files.ts';
import type { RelatedFilesSource } from '../workspace/related-files.ts';
import { bytesOf, contentOfRegular, type FileContent, type FileText } from './file-content.ts';
import { type InputFile, standardInput } from './files.ts';
import { applySafeFixes } from './fix.ts';
import { placeFixes } from './fix-places.ts';
import { realPath } from './reach.ts';
import { sourceLines } from './reports/excerpt.ts';
import type { CheckedFile, FileDiff, Outcome } from './reports/format.ts';
import { costsOf, toReportFile } from './reports/json.ts';
import type { ReportFile } from './reports/report-schema.ts';
import { describeWorkloads, shownPath } from './reports/text.ts';
import { displayPath, sourcePath } from './source-path.ts';
import { warn } from './terminal.ts';
import { unifiedDiff } from './unified-diff.ts';
import { systemReason } from './usage-error.ts';
import { replaceContent, type Saved } from './write-file.ts';

/** How to check. */
export interface CheckFileOptions {
  /** write: the safe fixes go into the file; show: into `CheckedFile.diff`, and the file stays. */
  readonly fix: 'write' | 'show' | undefined;
  /** Whether the report shows the lines of findings. */
  readonly withLines: boolean;
  /** What `CheckedFile.source` is relative to. */
  readonly root: string;
  /** What other files say of a file. */
  readonly related: RelatedFilesSource;
}

/** What is found in one input, after its safe fixes where `fix` says so. Never throws: whatever happens, the other files are still checked. */
export async function checkFile(
  analysis: Analysis,
  input: InputFile,
  content: FileContent,
  options: CheckFileOptions,
): Promise<CheckedFile> {
  if (content.kind === 'unreadable') {
    // A folder that was named and cannot be listed is found below itself.
    const named = input.folder === null || input.folder === input.path;
    return skipped(input, options, `cannot be read: ${content.reason}`, named ? 'missing' : 'unreadable');
  }
  if (content.kind !== 'text') {
    return skipped(input, options, content.reason, input.folder === null ? 'unchecked' : 'checked');
  }
  const uri =
    input.file === standardInput ? `stdin:/${encodeURIComponent(input.path)}` : pathToFileURL(input.file).href;
  try {
    return await checkText(analysis, uri, input, content, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warn(`failed on ${shownName(input)}, which is a bug: ${reason}`);
    return skipped(input, options, `gpulint failed on it: ${reason}`, 'broken');
  } finally {
    analysis.removeFile(uri);
    options.related.forget(uri);
  }
}

/** Another program that writes a file again and again should not keep a run waiting. */
const maxReadings = 3;

async function checkText(
  analysis: Analysis,
  uri: string,
  input: InputFile,
  content: FileText,
  options: CheckFileOptions,
  reading = 1,
): Promise<CheckedFile> {
  const { fix, root, related, withLines } = options;
  const source = sourcePath(root, input);
  const relatedFiles = input.file === standardInput ? noRelatedFiles : await related.of(uri);
  const before = analysis.setFile(uri, content.text, 0, undefined, relatedFiles);
  const fixed = fix === undefined ? { file: before, applied: [] } : applySafeFixes(analysis, before);
  const differs = fixed.file.text !== content.text;
  const saved = !differs || fix === 'show' ? 'written' : save(input, content, fixed.file.text);
  if (saved === 'changed' && reading < maxReadings) {
    warn(`${shownName(input)} changed while it was being checked; nothing was written, checking it again`);
    return checkFileAgain(analysis, uri, input, options, reading + 1);
  }
  if (saved === 'changed') warn(`${shownName(input)} keeps changing; its fixes were not written`);
  const isFixed = differs && fix === 'write' && saved === 'written';
  // Overlays that come later have it as their base.
  if (isFixed) related.changed(uri);
  const file = isFixed || !differs ? fixed.file : analysis.setFile(uri, content.text);
  for (const { rule, error } of file.documents.flatMap(({ crashes }) => crashes)) {
    warn(`rule ${rule} failed on ${shownName(input)}, which is a bug: ${error}`);
  }
  const report = { ...placeOf(input), ...toReportFile(input.path, source, file) };
  const checked: CheckedFile = {
    file: report,
    source,
    workloads: describeWorkloads(file),
    costs: costsOf(file),
    outcome: saved === 'written' ? 'checked' : 'unwritten',
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

/** The same with what the file holds now. */
async function checkFileAgain(
  analysis: Analysis,
  uri: string,
  input: InputFile,
  options: CheckFileOptions,
  reading: number,
): Promise<CheckedFile> {
  const content = contentOfRegular(input.file);
  return content.kind === 'text'
    ? checkText(analysis, uri, input, content, options, reading)
    : checkFile(analysis, input, content, options);
}

function save(input: InputFile, { text, bom }: FileText, fixed: string): Saved | 'failed' {
  try {
    return replaceContent(input.file, bytesOf(text, bom), bytesOf(fixed, bom));
  } catch (error) {
    warn(`cannot write ${displayPath(input.file)}: ${systemReason(error)}; it is left as it was`);
    return 'failed';
  }
}

function diffOf(input: InputFile, { text, bom }: FileText, { text: fixed }: FileAnalysis): FileDiff {
  const mark = bom ? '\ufeff' : '';
  const name = pathInDiff(input);
  return { name, text: unifiedDiff(name, mark + text, mark + fixed) };
}

/** As `git apply` and `patch` need it: from here, and of the file itself and not of a link to it. */
function pathInDiff({ file, path: shown }: InputFile): string {
  const real = file === standardInput ? undefined : realPath(file);
  // What comes from a stream has no file to apply the diff to.
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
    costs: [],
    outcome,
  };
}

function placeOf({ path: shown, folder }: InputFile): Pick<ReportFile, 'path' | 'folder'> {
  return { path: shown, ...(folder === null ? {} : { folder }) };
}

function shownName(input: InputFile): string {
  return shownPath(input);
}
