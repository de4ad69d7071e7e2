import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { Analysis, FileAnalysis } from '../analysis.ts';
import { type Beside, nothingBeside } from '../model/beside.ts';
import { type FileContent, type InputFile, standardInput } from './files.ts';
import { applySafeFixes, writeAtomically } from './fix.ts';
import type { CheckedFile, Outcome } from './reports/format.ts';
import { toReportFile } from './reports/json.ts';
import type { ReportFile } from './reports/report-schema.ts';
import { describeWorkloads, shownPath } from './reports/text.ts';
import { sourcePath } from './source-path.ts';
import { printable } from './terminal.ts';
import { systemReason } from './usage-error.ts';

/** How to check. */
export interface CheckFileOptions {
  readonly fix: boolean;
  /** What `CheckedFile.source` is relative to. */
  readonly root: string;
  /** What other files say of a file. */
  readonly besideOf: (file: string) => Beside;
}

/** What is found in one input, after its safe fixes where `fix` says so. Never throws: whatever happens, the other files are still checked. */
export function checkFile(
  analysis: Analysis,
  input: InputFile,
  content: FileContent,
  options: CheckFileOptions,
): CheckedFile {
  if (content.kind === 'unreadable') {
    // A folder that was named and cannot be listed is found below itself.
    const named = input.folder === null || input.folder === input.path;
    return skipped(input, options, `cannot be read: ${content.reason}`, named ? 'missing' : 'unreadable');
  }
  if (content.kind === 'skipped') return skipped(input, options, content.reason, 'checked');
  const uri =
    input.file === standardInput ? `stdin:/${encodeURIComponent(input.path)}` : pathToFileURL(input.file).href;
  try {
    return checkText(analysis, uri, input, content, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warn(`failed on ${shownName(input)}, which is a bug: ${reason}`);
    return skipped(input, options, `gpulint failed on it: ${reason}`, 'broken');
  } finally {
    analysis.removeFile(uri);
  }
}

function checkText(
  analysis: Analysis,
  uri: string,
  input: InputFile,
  { text, bom, problem }: FileContent & { readonly kind: 'text' },
  { fix, root, besideOf }: CheckFileOptions,
): CheckedFile {
  const source = sourcePath(root, input);
  const beside = input.file === standardInput ? nothingBeside : besideOf(input.file);
  const before = analysis.setFile(uri, text, 0, undefined, beside);
  // What is no UTF-8 was read with replacement characters: writing it back would lose what stood there.
  const fixed = fix && problem === null ? applySafeFixes(analysis, before) : { file: before, applied: [] };
  const written = fixed.applied.length === 0 || write(input.file, bom, fixed.file);
  const file = written ? fixed.file : analysis.setFile(uri, text);
  for (const { rule, error } of file.documents.flatMap(({ crashes }) => crashes)) {
    warn(`rule ${rule} failed on ${shownName(input)}, which is a bug: ${error}`);
  }
  return {
    file: {
      ...placeOf(input),
      ...toReportFile(input.path, source, file),
      ...(problem === null ? {} : { parse: 'error', problem }),
      ...(fixed.applied.length === 0 || !written ? {} : { fixed: [...fixed.applied] }),
    },
    source,
    workloads: describeWorkloads(file),
    outcome: written ? 'checked' : 'unwritten',
  };
}

function write(file: string, bom: boolean, { text }: FileAnalysis): boolean {
  try {
    writeAtomically(file, bom ? `\ufeff${text}` : text);
    return true;
  } catch (error) {
    warn(`cannot write ${path.relative('.', file)}: ${systemReason(error)}; it is left as it was`);
    return false;
  }
}

function skipped(input: InputFile, { root }: CheckFileOptions, problem: string, outcome: Outcome): CheckedFile {
  return {
    file: { ...placeOf(input), parse: 'skipped', problem, workloads: [], findings: [] },
    source: sourcePath(root, input),
    workloads: [],
    outcome,
  };
}

function placeOf({ path: shown, folder }: InputFile): Pick<ReportFile, 'path' | 'folder'> {
  return { path: shown, ...(folder === null ? {} : { folder }) };
}

function shownName(input: InputFile): string {
  return shownPath(placeOf(input));
}

function warn(sentence: string): void {
  process.stderr.write(`gpulint: ${printable(sentence)}\n`);
}
