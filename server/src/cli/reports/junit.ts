import { table } from '../../yaml/table.ts';
import { printable } from '../terminal.ts';
import { type CheckedFile, type CheckedReport, failureOf } from './format.ts';
import type { ReportFinding } from './report-schema.ts';
import { isAtLeast } from './text.ts';

/** JUnit XML: one suite per file, one case per finding. Findings at or above --fail-on fail; lower ones pass, with their message as output. */
export function* renderJunit(report: CheckedReport): Generator<string> {
  const suites = report.files.map((checked) => suiteOf(checked, report));
  const total = (count: (suite: Suite) => number) => suites.reduce((sum, suite) => sum + count(suite), 0);
  const counts = countsText({
    tests: total(({ cases }) => cases.length),
    failures: total(({ failures }) => failures),
    errors: total(({ errors }) => errors),
  });
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gpulint" ${counts}>\n`;
  for (const { name, cases, failures, errors } of suites) {
    const own = countsText({ tests: cases.length, failures, errors });
    yield `  <testsuite name="${escapeXml(name)}" ${own}>\n${cases.join('')}  </testsuite>\n`;
  }
  yield '</testsuites>\n';
}

interface Suite {
  readonly name: string;
  readonly cases: readonly string[];
  readonly failures: number;
  readonly errors: number;
}

function suiteOf(checked: CheckedFile, { shows, failOn }: CheckedReport): Suite {
  const { source: name, file, outcome } = checked;
  const failure = failureOf(checked);
  const fails = ({ severity }: ReportFinding) => failOn !== 'never' && isAtLeast(severity, failOn);
  const findings = file.findings.filter(shows);
  const cases = findings.map((finding) => findingCase(name, finding, fails(finding)));
  if (failure !== null) {
    const tag = outcome === 'checked' ? 'skipped' : 'error';
    cases.unshift(testcase('file', name, `<${tag} message="${escapeXml(failure)}"/>`));
  }
  // A suite without cases looks as if it had not run.
  if (cases.length === 0) cases.push(testcase('no findings', name, ''));
  return {
    name,
    cases,
    failures: findings.filter(fails).length,
    errors: failure !== null && outcome !== 'checked' ? 1 : 0,
  };
}

function findingCase(name: string, { rule, severity, message, range, docs }: ReportFinding, fails: boolean): string {
  const place = `${name}:${range.start.line}:${range.start.column}`;
  const text = escapeXml(`${place}: ${severity}: ${message}`);
  const body = fails
    ? `<failure type="${severity}" message="${escapeXml(message)}">${text}&#10;${escapeXml(docs)}</failure>`
    : `<system-out>${text}</system-out>`;
  return testcase(`${rule} at ${range.start.line}:${range.start.column}`, name, body);
}

function testcase(title: string, name: string, body: string): string {
  const open = `    <testcase name="${escapeXml(title)}" classname="${escapeXml(name)}"`;
  return body === '' ? `${open}/>\n` : `${open}>${body}</testcase>\n`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([key, count]) => `${key}="${count}"`)
    .join(' ');
}

/** Makes control characters visible first: XML 1.0 excludes most of them, lone surrogates, U+FFFE and U+FFFF. */
function escapeXml(text: string): string {
  return printable(text)
    .replace(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const entities = table({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
});
