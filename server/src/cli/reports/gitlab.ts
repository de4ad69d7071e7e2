import type { Severity } from '../../rules/rule.ts';
import { printable } from '../terminal.ts';
import type { CheckedReport } from './format.ts';

/** GitLab's Code Quality report: one JSON array. */
export function* renderGitlab({ files, shows }: CheckedReport): Generator<string> {
  const issues = files.flatMap(({ source, file }) =>
    file.findings.filter(shows).map(({ rule, severity, message, range, docs, fingerprint }) => ({
      description: printable(message),
      check_name: rule,
      fingerprint,
      severity: levels[severity],
      location: { path: source, lines: { begin: range.start.line, end: range.end.line } },
      content: { body: docs },
    })),
  );
  yield `[${issues.map((issue) => `\n${JSON.stringify(issue)}`).join(',')}\n]\n`;
}

const levels: Readonly<Record<Severity, string>> = {
  error: 'critical',
  warning: 'major',
  info: 'minor',
  hint: 'info',
};
