import { formatHourly, plural } from '../../cost/money.ts';
import type { CheckedReport, RepeatedAdvice } from './format.ts';
import type { ReportFinding } from './report-schema.ts';
import { isAtLeast } from './text.ts';

/** From this many on, the findings of a rule are shown as one. */
const many = 6;

/**
 * The advice that is repeated in many places: the first finding of a rule stands for all. Findings that decide the exit status are never left
 * out.
 */
export function repeatedAdvice({ files, failOn, shows }: CheckedReport): RepeatedAdvice {
  const byRule = new Map<string, { readonly finding: ReportFinding; readonly file: number }[]>();
  if (failOn !== 'never' && isAtLeast('info', failOn)) return new Map();
  for (const [index, { file }] of files.entries()) {
    for (const finding of file.findings) {
      if (finding.severity !== 'info' || !shows(finding)) continue;
      const same = byRule.get(finding.rule) ?? [];
      byRule.set(finding.rule, same);
      same.push({ finding, file: index });
    }
  }
  const shown = new Map<ReportFinding, string | null>();
  for (const same of byRule.values()) {
    const [first, ...others] = same;
    if (first === undefined || same.length < many) continue;
    for (const { finding } of others) shown.set(finding, null);
    const inFiles = new Set(others.map(({ file }) => file).filter((file) => file !== first.file)).size;
    const where = inFiles === 0 ? 'in this file' : `in ${plural(inFiles, 'other file')}`;
    const saving = same.reduce((sum, { finding }) => sum + (finding.saving?.hourly ?? 0), 0);
    const amount = saving > 0 ? `, ${formatHourly(saving)} in total` : '';
    shown.set(first.finding, `and ${others.length} more ${where}${amount}; --format full shows all`);
  }
  return shown;
}
