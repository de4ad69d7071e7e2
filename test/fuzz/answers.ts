import type { Analysis, FileAnalysis } from '../../server/src/analysis.ts';
import type { CheckedFile, RenderReport } from '../../server/src/cli/reports/format.ts';
import { renderGithub } from '../../server/src/cli/reports/github.ts';
import { renderGitlab } from '../../server/src/cli/reports/gitlab.ts';
import { costsOf, renderJson, toReportFile } from '../../server/src/cli/reports/json.ts';
import { renderJunit } from '../../server/src/cli/reports/junit.ts';
import { renderMarkdown } from '../../server/src/cli/reports/markdown.ts';
import { placedRows } from '../../server/src/cli/reports/placed-rows.ts';
import { renderSarif } from '../../server/src/cli/reports/sarif.ts';
import { summarizeReport } from '../../server/src/cli/reports/summary.ts';
import { describeWorkloads, renderFile, renderSummary } from '../../server/src/cli/reports/text.ts';
import { plainStyle } from '../../server/src/cli/terminal.ts';
import { unusedSuppressions } from '../../server/src/features/actions/unused-suppressions.ts';
import { adviceLenses, codeLenses } from '../../server/src/features/code-lens.ts';
import { complete } from '../../server/src/features/completion/completion.ts';
import { costRows } from '../../server/src/features/cost/cost-rows.ts';
import { costTree } from '../../server/src/features/cost/cost-tree.ts';
import { priceBasis } from '../../server/src/features/cost/price-basis.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { definitions } from '../../server/src/features/navigation/definitions.ts';
import { documentLinks } from '../../server/src/features/navigation/document-links.ts';
import { references } from '../../server/src/features/navigation/references.ts';
import { costLines, summarize } from '../../server/src/features/report.ts';
import type { Measure } from './measure.ts';
import { type Problem, thrown } from './target.ts';

/** A request that takes the file it concerns, so that a slow one can be repeated from the start. */
export interface FileRequest {
  readonly name: string;
  readonly run: (analysis: Analysis, file: FileAnalysis) => unknown;
}

/** What an editor requests for a whole file. */
export const forFile: readonly FileRequest[] = [
  {
    name: 'diagnostics',
    run: (_, file) =>
      file.documents.map(({ base, findings }) =>
        findings.map((one) => [one.rule, one.message, one.severity, one.saving, placed(base, one.span)]),
      ),
  },
  { name: 'lenses', run: (_, file) => [codeLenses(file), adviceLenses(file)] },
  { name: 'inlay hints', run: (_, file) => inlayHints(file, { start: 0, end: file.text.length }) },
  { name: 'links', run: (_, file) => documentLinks(file) },
  { name: 'summary', run: (_, file) => [summarize(file), costLines(file)] },
  {
    name: 'cost tree',
    run: (_, file) =>
      costTree(
        costRows(file).map((row) => ({ row, path: 'a.yaml' })),
        'cost',
        'team',
      ),
  },
  { name: 'unused suppressions', run: (_, file) => unusedSuppressions(file) },
];

/** What an editor requests for a position. */
export function atOffset(offset: number): readonly FileRequest[] {
  return [
    { name: 'hover', run: (_, file) => hover(file, offset) },
    { name: 'completion', run: (_, file) => complete(file, offset) },
    { name: 'definition', run: ({ workspace }, file) => definitions(workspace, file, offset) },
    { name: 'references', run: ({ workspace }, file) => references(workspace, file, offset, true) },
  ];
}

function placed(base: number, { start, end }: { readonly start: number; readonly end: number }): unknown {
  return { span: { start: base + start, end: base + end } };
}

/** Runs a request and checks the answer: nothing is thrown, every number is finite, and every span is within the text. */
export function answerProblems(
  request: FileRequest,
  analysis: Analysis,
  file: FileAnalysis,
  measure: Measure,
  fresh: () => readonly [Analysis, FileAnalysis],
): readonly Problem[] {
  try {
    const answer = measure.time(
      request.name,
      () => request.run(analysis, file),
      () => request.run(...fresh()),
      file.text.length,
    );
    const wrong = oddity(answer, file.text);
    return wrong === undefined
      ? []
      : [{ kind: 'wrong answer', sign: `${wrong.what}-in-${request.name}`, message: `${request.name}: ${wrong.why}` }];
  } catch (error) {
    return [thrown(request.name, error)];
  }
}

const reports: ReadonlyMap<string, RenderReport> = new Map<string, RenderReport>([
  ['json', renderJson],
  ['sarif', renderSarif],
  ['github', renderGithub],
  ['gitlab', renderGitlab],
  ['junit', renderJunit],
  ['markdown', renderMarkdown],
]);

export const formats: readonly string[] = ['text', ...reports.keys()];

/** Checks what the command line writes for a file. */
export function reportProblems(format: string, file: FileAnalysis): readonly Problem[] {
  try {
    const reported = toReportFile('a.yaml', 'a.yaml', file);
    const checked: CheckedFile = {
      file: reported,
      source: 'a.yaml',
      workloads: describeWorkloads(file),
      ...placedRows(file),
      costs: costsOf(file),
      outcome: 'checked',
    };
    const render = reports.get(format);
    const shows = () => true;
    const options = { style: plainStyle, headings: false, shows, quiet: false };
    const text =
      render === undefined
        ? renderFile(checked, options) +
          renderSummary(summarizeReport([reported]), [reported], options, priceBasis(checked.costs))
        : [...render({ files: [checked], failOn: 'error', shows })].join('');
    if (['json', 'sarif', 'gitlab'].includes(format)) JSON.parse(text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the search is for control characters
    const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u009b]/.exec(text);
    if (control !== null)
      return [
        {
          kind: 'wrong answer',
          sign: `control-character-in-${format}`,
          message: `the ${format} report contains the character ${JSON.stringify(control[0])}`,
        },
      ];
    const wrong = oddity(reported, file.text) ?? oddity(text, file.text);
    return wrong === undefined
      ? []
      : [{ kind: 'wrong answer', sign: `${wrong.what}-in-report`, message: `${format}: ${wrong.why}` }];
  } catch (error) {
    return [thrown(`report-${format}`, error)];
  }
}

/** Values that no report may show. Infinity is also a model server, which messages list after FasterWhisper. */
export const oddWords = /\b(?:NaN|(?<!FasterWhisper, )Infinity|undefined)\b|\[object \w+\]/;

interface Oddity {
  readonly what: string;
  readonly why: string;
}

/** Something that no answer may contain: a number that is not finite, the word for one, a span outside the text. */
export function oddity(answer: unknown, text: string): Oddity | undefined {
  if (typeof answer === 'number')
    return Number.isFinite(answer) ? undefined : { what: 'nan', why: `it contains ${answer}` };
  if (typeof answer === 'string') {
    const word = oddWords.exec(answer)?.[0];
    if (word === undefined || text.includes(word)) return undefined;
    return {
      what: 'nan',
      why: `it says ${word}: ${answer.slice(Math.max(0, answer.indexOf(word) - 60), answer.indexOf(word) + 60)}`,
    };
  }
  if (typeof answer !== 'object' || answer === null) return undefined;
  if (isSpan(answer) && !(0 <= answer.start && answer.start <= answer.end && answer.end <= text.length))
    return { what: 'span', why: `the span ${answer.start}–${answer.end} is not within the ${text.length} characters` };
  for (const inner of Array.isArray(answer) ? answer : Object.values(answer)) {
    const found = oddity(inner, text);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSpan(value: object): value is { readonly start: number; readonly end: number } {
  return 'start' in value && 'end' in value && typeof value.start === 'number' && typeof value.end === 'number';
}
