import * as z from 'zod/mini';
import { jsonProblem } from '../yaml/json-problem.ts';
import { own } from '../yaml/table.ts';
import { contentOfNamed } from './file-content.ts';
import { writeReport } from './report-file.ts';
import type { CheckedFile } from './reports/format.ts';
import { lineStartsOf, positionAt } from './reports/position.ts';
import { jsonText } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const baselineSchema = z.object({
  version: z.literal(1),
  findings: z.array(z.object({ rule: z.string(), path: z.string(), fingerprint: z.string() })),
});

/**
 * The fingerprints of findings that a team has accepted and does not want reported again.
 * @throws UsageError if the file does not exist or is not a baseline
 */
export async function readBaseline(file: string): Promise<ReadonlySet<string>> {
  const content = await contentOfNamed(file, maxBaselineBytes);
  if (content.kind !== 'text') {
    throw new UsageError(`cannot read the baseline ${file}: ${content.reason}; --write-baseline creates one`);
  }
  const problem = jsonProblem(content.text);
  // Another file was named by mistake if it does not even begin as JSON.
  if (problem !== undefined && /^\uFEFF?\s*[{[]/.test(content.text)) {
    const { line, column } = positionAt(lineStartsOf(content.text), problem.at);
    throw new UsageError(`${file}:${line}:${column}: ${problem.message}`);
  }
  const value: unknown = problem === undefined ? JSON.parse(content.text.replace(/^\uFEFF/, '')) : undefined;
  const version = own(value, 'version');
  if (typeof version === 'number' && version !== 1)
    throw new UsageError(
      `${file} is a baseline of version ${version}, which this gpulint does not read; --write-baseline creates a new one`,
    );
  const parsed = baselineSchema.safeParse(value);
  if (!parsed.success) throw new UsageError(`${file} is not a gpulint baseline; --write-baseline creates one`);
  return new Set(parsed.data.findings.map(({ fingerprint }) => fingerprint));
}

/** One finding takes about 150 bytes. */
const maxBaselineBytes = 100 * 1024 * 1024;

/** The file without its findings from the baseline. */
export function withoutBaselined(checked: CheckedFile, baseline: ReadonlySet<string>): CheckedFile {
  const { file } = checked;
  const findings = file.findings.filter(({ fingerprint }) => !baseline.has(fingerprint ?? ''));
  const baselined = file.findings.length - findings.length;
  return baselined === 0 ? checked : { ...checked, file: { ...file, findings, baselined } };
}

/**
 * Writes the findings as a baseline, one per line and ordered by path, so that a review shows additions and removals.
 * @returns how many findings it contains
 * @throws UsageError if the file cannot be written
 */
export function writeBaseline(file: string, files: readonly CheckedFile[]): number {
  const lines = files
    .flatMap(({ source, file: { findings } }) =>
      findings.map(({ rule, fingerprint = '' }) => jsonText({ path: source, rule, fingerprint })),
    )
    .sort();
  const list = lines.length === 0 ? '' : `\n${lines.map((line) => `  ${line}`).join(',\n')}\n`;
  writeReport(file, `{"version":1,"findings":[${list}]}\n`);
  return lines.length;
}
