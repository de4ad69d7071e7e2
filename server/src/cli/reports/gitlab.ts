import { createHash } from 'node:crypto';
import type { Severity } from '../../rules/rule.ts';
import { jsonText, printable } from '../terminal.ts';
import { type CheckedFile, type CheckedReport, failureOf } from './format.ts';

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
  const unchecked = files.flatMap((checked) => {
    const failure = failureOf(checked);
    return failure === null ? [] : [failureIssue(checked, failure)];
  });
  yield `[${[...unchecked, ...issues].map((issue) => `\n${jsonText(issue)}`).join(',')}\n]\n`;
}

/** An issue for an unchecked file: the format has no other place for it, and without the issue the file would seem clean. */
function failureIssue({ source }: CheckedFile, failure: string) {
  const rule = 'not-checked';
  return {
    description: printable(`Not checked: ${failure}`),
    check_name: rule,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([rule, source]))
      .digest('hex')
      .slice(0, 32),
    severity: 'info',
    location: { path: source, lines: { begin: 1 } },
  };
}

const levels: Readonly<Record<Severity, string>> = {
  error: 'critical',
  warning: 'major',
  info: 'minor',
  hint: 'info',
};
