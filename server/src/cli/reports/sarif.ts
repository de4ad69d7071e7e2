import { version } from '../../../../package.json';
import type { Severity } from '../../rules/rule.ts';
import { descriptionOf, pageOf } from '../rule-page.ts';
import { jsonText, printable } from '../terminal.ts';
import { type CheckedFile, type CheckedReport, failureOf, isFailure } from './format.ts';
import type { ReportFinding, ReportRange } from './report-schema.ts';

// SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

/** One run. Its list of results can be empty but is never missing: readers treat a missing list as a failed run. */
export function* renderSarif(report: CheckedReport): Generator<string> {
  const found = report.files.flatMap((checked) =>
    checked.file.findings.filter(report.shows).map((finding) => ({ checked, finding })),
  );
  const ids = [...new Map(found.map(({ finding }) => [finding.rule, finding])).values()].sort(byRule);
  const indexes = new Map(ids.map(({ rule }, index) => [rule, index]));
  const run = {
    tool: {
      driver: {
        name: 'gpulint',
        semanticVersion: version,
        informationUri: 'https://github.com/gpulint/gpulint',
        rules: ids.map(toDescriptor),
      },
    },
    columnKind: 'utf16CodeUnits',
    newlineSequences: ['\r\n', '\n', '\r'],
    originalUriBaseIds: { [root]: { description: { text: 'The root of the repository.' } } },
    invocations: [
      {
        executionSuccessful: !report.files.some(isFailure),
        toolExecutionNotifications: report.files.flatMap(toNotifications),
      },
    ],
    results: found.map(({ checked, finding }) => toResult(checked, finding, indexes.get(finding.rule) ?? -1)),
  };
  yield `${jsonText({ $schema: schema, version: '2.1.0', runs: [run] }, 1)}\n`;
}

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** The base of relative URIs. GitHub, GitLab and Azure DevOps know this name. */
const root = '%SRCROOT%';

function toDescriptor({ rule, docs, topic }: ReportFinding) {
  const page = pageOf(rule);
  const text = page ?? `A comment or an annotation that silences no finding: ${docs}`;
  return {
    id: rule,
    shortDescription: { text: page === undefined ? 'A suppression without effect.' : descriptionOf(page) },
    help: { text, markdown: text },
    helpUri: docs,
    properties: { tags: ['gpu', topic] },
  };
}

function toResult(checked: CheckedFile, finding: ReportFinding, ruleIndex: number) {
  const { rule, severity, message, workload, range, fingerprint = '', fixes, saving } = finding;
  const artifactLocation = locationOf(checked);
  const logicalLocations = workload === null ? {} : { logicalLocations: [{ fullyQualifiedName: printable(workload) }] };
  return {
    ruleId: rule,
    ruleIndex,
    level: levels[severity],
    message: { text: plain(message) },
    locations: [{ physicalLocation: { artifactLocation, region: regionOf(range) }, ...logicalLocations }],
    partialFingerprints: { 'gpulint/v1': fingerprint },
    ...(fixes.length === 0 ? {} : { fixes: fixes.map((fix) => toFix(fix, artifactLocation)) }),
    ...(saving === undefined ? {} : { properties: { hourlySavingUsd: saving.hourly } }),
  };
}

/** The exact replacements: applying them gives the bytes that gpulint would write. */
function toFix({ title, safe, edits }: ReportFinding['fixes'][number], artifactLocation: ArtifactLocation) {
  const replacements = edits.map(({ range, newText }) => ({
    deletedRegion: regionOf(range),
    insertedContent: { text: newText },
  }));
  return {
    description: { text: plain(safe ? title : `${title} (unsafe: review before applying)`) },
    artifactChanges: [{ artifactLocation, replacements }],
    properties: { safe },
  };
}

function toNotifications(checked: CheckedFile) {
  const failure = failureOf(checked);
  if (failure === null) return [];
  return [
    {
      level: checked.outcome === 'checked' ? 'note' : 'error',
      message: { text: plain(failure) },
      locations: [{ physicalLocation: { artifactLocation: locationOf(checked) } }],
    },
  ];
}

interface ArtifactLocation {
  readonly uri: string;
  readonly uriBaseId?: string;
}

/** A path outside the repository has no base that readers know. */
function locationOf({ source }: CheckedFile): ArtifactLocation {
  const path = source
    .replace(/\p{Cs}/gu, '\ufffd')
    .split('/')
    .map(encodeURIComponent)
    .join('/');
  if (source.startsWith('/')) return { uri: `file://${path}` };
  return /^[A-Za-z]:\//.test(source) ? { uri: `file:///${path}` } : { uri: path, uriBaseId: root };
}

function regionOf({ start, end }: ReportRange) {
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}

/** SARIF treats [text](target) in a message as a link. */
function plain(text: string): string {
  return printable(text).replace(/\]\(/g, '] (');
}

/** SARIF has no hint level. */
const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
  hint: 'note',
};

function byRule(a: ReportFinding, b: ReportFinding): number {
  return a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0;
}
