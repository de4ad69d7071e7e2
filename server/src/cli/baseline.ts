import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { contentOfNamed } from './file-content.ts';
import type { CheckedFile } from './reports/format.ts';
import { jsonText } from './terminal.ts';
import { systemReason, UsageError } from './usage-error.ts';
import { writeAtomically } from './write-file.ts';

const baselineSchema = z.object({
  version: z.literal(1),
  findings: z.array(z.object({ rule: z.string(), path: z.string(), fingerprint: z.string() })),
});

/**
 * The fingerprints of the findings that a team knows of and does not want to be told again.
 * @throws UsageError when there is none, or it is no baseline
 */
export async function readBaseline(file: string): Promise<ReadonlySet<string>> {
  const content = await contentOfNamed(file, maxBaselineBytes);
  if (content.kind !== 'text') {
    throw new UsageError(`cannot read the baseline ${file}: ${content.reason}; --write-baseline makes one`);
  }
  const parsed = baselineSchema.safeParse(jsonOrNothing(content.text));
  if (!parsed.success) throw new UsageError(`${file} is no baseline of gpulint; --write-baseline makes one`);
  return new Set(parsed.data.findings.map(({ fingerprint }) => fingerprint));
}

/** A finding takes about 150 bytes. */
const maxBaselineBytes = 100 * 1024 * 1024;

/** The file without the findings that are in the baseline. */
export function withoutBaselined(checked: CheckedFile, baseline: ReadonlySet<string>): CheckedFile {
  const { file } = checked;
  const findings = file.findings.filter(({ fingerprint }) => !baseline.has(fingerprint ?? ''));
  const baselined = file.findings.length - findings.length;
  return baselined === 0 ? checked : { ...checked, file: { ...file, findings, baselined } };
}

/**
 * Writes what was found as a baseline, a finding a line and in the order of the paths, so that a review shows what came and went.
 * @returns how many findings it holds
 * @throws UsageError when the file cannot be written
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

/**
 * Replaces or makes a file.
 * @throws UsageError when it cannot be written
 */
export function writeReport(file: string, text: string): void {
  try {
    if (fs.existsSync(file) && fs.statSync(file).isFile()) writeAtomically(file, text);
    else fs.writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`cannot write ${path.normalize(file)}: ${systemReason(error)}`);
  }
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
