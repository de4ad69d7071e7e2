import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import { catalogInfo } from '../../catalog/index.ts';
import { assumptionLines, ownPriceWords } from '../../cost/assumption-words.ts';
import { gpusOf } from '../../cost/estimate.ts';
import { noEstimateWords } from '../../cost/no-estimate-words.ts';
import type { PossibleCost } from '../../cost/possible-cost.ts';
import { monthOf, runBasis } from '../../cost/run-cost.ts';
import type { CostEstimate, Range } from '../../cost/types.ts';
import { reportedFixes } from '../../features/actions/safe-fixes.ts';
import {
  type UnusedSuppression,
  unusedSuppressionId,
  unusedSuppressions,
} from '../../features/actions/unused-suppressions.ts';
import { costRow, nodePrice } from '../../features/cost/cost-rows.ts';
import { withoutNoise } from '../../features/cost/cost-totals.ts';
import { runningWorkloads } from '../../features/hover/gpu-words.ts';
import { memoryRecords } from '../../features/memory-records.ts';
import { shownFindings } from '../../features/shown-findings.ts';
import { trainingRecords } from '../../features/training-records.ts';
import type { PublishedView } from '../../fleet/cluster-view.ts';
import { namesAccelerators } from '../../model/accelerators.ts';
import type { RequestedResource } from '../../model/requested-resource.ts';
import type { ModelFrom, ModelHint, PodSet, Workload } from '../../model/workload.ts';
import type { Fix } from '../../rewrite/fix.ts';
import { ruleDocsUrl, unusedSuppressionDocsUrl } from '../../rules/docs.ts';
import type { Finding } from '../../rules/rule.ts';
import { shiftSpan } from '../../yaml/span.ts';
import { jsonText } from '../terminal.ts';
import { fingerprintsOf } from './fingerprint.ts';
import type { CheckedReport } from './format.ts';
import { lineStartsOf, positionAt, rangeOf } from './position.ts';
import type { Report, ReportFile, ReportFinding, ReportWorkload } from './report-schema.ts';
import { summarizeReport } from './summary.ts';

/**
 * One file of the report.
 * @param path as the report shows it
 * @param source the path for fingerprints, independent of the working directory
 */
export function toReportFile(path: string, source: string, file: FileAnalysis): ReportFile {
  const lineStarts = lineStartsOf(file.text);
  const proven = reportedFixes(file);
  const findings = [
    ...shownFindings(file).map(({ finding, base }) => toReportFinding(path, finding, proven, base, lineStarts)),
    ...unusedSuppressions(file).map((unused) => toHint(unused, lineStarts)),
  ].sort(byPlace);
  const lineText = (line: number) => file.text.slice(lineStarts[line - 1], lineStarts[line]);
  const fingerprints = fingerprintsOf(source, lineText, findings);
  return {
    path,
    parse: file.parse,
    problem: file.problem,
    workloads: file.documents.flatMap((document) =>
      document.costed
        .filter(namesAccelerators)
        .map((workload) => toReportWorkload(workload, document, lineStarts, file.config)),
    ),
    findings: findings.map((finding, index) => ({ ...finding, fingerprint: fingerprints[index] ?? '' })),
  };
}

/** The cost estimates of a file's workloads that have a price. */
export function costsOf(file: FileAnalysis): readonly CostEstimate[] {
  return runningWorkloads(file).flatMap(({ workload, document }) => document.costOf(workload).cost ?? []);
}

/** One JSON document with one line per file, which both sides can stream. Includes hints; readers choose. */
export function* renderJson({ files: checked, cluster }: CheckedReport): Generator<string> {
  const files = checked.map(({ file }) => file);
  const catalog = { pricesAsOf: catalogInfo.pricesAsOf, sources: [...catalogInfo.sources] } satisfies Report['catalog'];
  yield `{"version":1,"summary":${jsonText(summarizeReport(files))},\n"catalog":${jsonText(catalog)},\n`;
  if (cluster !== undefined) yield `"cluster":${jsonText(toReportCluster(cluster))},\n`;
  yield '"files":[';
  for (const [index, file] of files.entries()) yield `${index === 0 ? '\n' : ',\n'}${jsonText(file)}`;
  yield '\n]}\n';
}

function toReportCluster({ context, serverVersion, asOf, totals }: PublishedView): NonNullable<Report['cluster']> {
  const { nodes, devices, cost } = totals;
  const { total, free, used, unavailable } = devices;
  return {
    context,
    serverVersion,
    asOf: new Date(asOf).toISOString(),
    nodes,
    devices: { total, free, used, unavailable },
    hourly: cost.hourly,
    idleHourly: cost.idle,
    unpricedNodes: cost.unpricedNodes,
    basis: [...cost.basis],
  };
}

function toReportWorkload(
  workload: Workload,
  document: DocumentAnalysis,
  lineStarts: readonly number[],
  config: FileAnalysis['config'],
): ReportWorkload {
  const { cost, unknown } = document.costOf(workload);
  const using = workload.podSets.filter(namesAccelerators);
  const placements = using.map(({ placement }) => placement);
  const provider = common(placements.map((placement) => placement.provider));
  const { start } = shiftSpan(workload.manifest.root.node.span, document.base);
  return {
    apiVersion: workload.apiVersion,
    kind: workload.kind,
    name: workload.name,
    namespace: workload.namespace,
    ...positionAt(lineStarts, start),
    role: workload.role,
    roleConfidence: workload.roleConfidence,
    podSets: workload.podSets.map(toReportPodSet),
    gpus: gpusOf(workload),
    capacity: common(placements.map(({ capacity }) => capacity)) ?? 'unknown',
    provider,
    region: common(placements.map(({ region }) => region)),
    providerFrom: provider === null ? null : (placements[0]?.providerFrom ?? null),
    cost: cost === null ? null : toReportCost(cost),
    ...(unknown === null ? {} : { costProblem: noEstimateWords(unknown) }),
    costRange: toCostRange(document.rangeOf(workload)),
    ...perNode(nodePrice(workload, document.costOf)?.hourly),
    memory: [...memoryRecords(workload, config), ...trainingRecords(workload)].map(
      ({ podSet: _, assumptions, ...record }) => ({
        ...record,
        assumptions: [...assumptions],
      }),
    ),
    ...releaseOf(workload, document),
    ...clusterFit(workload, document),
  };
}

function clusterFit(workload: Workload, document: DocumentAnalysis): Pick<ReportWorkload, 'cluster'> {
  const fit = document.fitOf(workload);
  if (fit === undefined) return {};
  const { context, outcome, fitting, pods, groups, line } = fit;
  const words = groups.flatMap((group) => group.words ?? [])[0] ?? null;
  return { cluster: { context, outcome, fitting, pods, text: line, words } };
}

function releaseOf({ release }: Workload, document: DocumentAnalysis): Pick<ReportWorkload, 'release'> {
  if (release === undefined) return {};
  const { gpus, hourly, isOpen, idleHourly, nodeHourly, problem } = costRow(release, document, '', []);
  const costRange = toCostRange(document.rangeOf(release));
  const open = isOpen ? { open: true as const } : {};
  const why = problem === null ? {} : { costProblem: problem };
  return { release: { gpus, hourly, ...open, idleHourly, costRange, ...perNode(nodeHourly), ...why } };
}

function perNode(nodeHourly: Range | null | undefined): Pick<ReportWorkload, 'nodeHourly'> {
  return nodeHourly == null ? {} : { nodeHourly };
}

function toReportPodSet({ name, pods, accelerators }: PodSet): ReportWorkload['podSets'][number] {
  return {
    name,
    pods,
    accelerators: accelerators.map(({ requested, perPod, devices, model, modelFrom, candidates, modelHint }) => ({
      resource: resourceText(requested),
      perPod,
      devices,
      model,
      modelFrom: reportedSource(modelFrom, modelHint),
      ...(candidates.length > 1 ? { models: [...candidates] } : {}),
      ...(modelHint === undefined ? {} : { modelHint: modelHint.text }),
    })),
  };
}

/** Version 1 of the report has fewer sources than the model: names of nodes and queues are those of their pool, and fields request by name. */
function reportedSource(
  from: ModelFrom | null,
  hint: ModelHint | undefined,
): ReportWorkload['podSets'][number]['accelerators'][number]['modelFrom'] {
  if (from === 'queue') return 'node-pool';
  if (from === 'field') return 'resource-name';
  if (from !== 'hint') return from;
  if (hint?.basis === 'preference') return 'affinity';
  return hint?.basis === 'node' || hint?.basis === 'pool' || hint?.basis === 'queue' ? 'node-pool' : 'annotation';
}

function toCostRange(range: PossibleCost | undefined): ReportWorkload['costRange'] {
  if (range === undefined) return null;
  const { hourly, from, to, provider } = range;
  return {
    hourly: { min: withoutNoise(hourly.min), max: withoutNoise(hourly.max) },
    from: from.model,
    to: to.model,
    provider,
  };
}

function toReportCost(cost: CostEstimate): NonNullable<ReportWorkload['cost']> {
  const { currency, hourly, monthly, idleHourly, spotHourly, basis, assumptions, run, isOpen } = cost;
  const runs = run && runBasis(run);
  return {
    ...{ currency, hourly, ...(isOpen ? { open: true as const } : {}), monthly, idleHourly, spotHourly },
    ...(run && { run: { hours: run.hours, from: run.from, total: run.total, monthly: monthOf(cost) } }),
    basis: basis.map((one) => ({ ...one, provider: one.provider ?? 'own', source: one.source ?? ownPriceWords })),
    assumptions: [...assumptionLines(assumptions), ...(runs === undefined ? [] : [runs])],
  };
}

/** `nvidia.com/gpu`, `dra:gpu.nvidia.com`, `annotation:gpu-fraction`, `kaito:instanceType`. */
function resourceText(requested: RequestedResource): string {
  const { kind, name } = requested;
  if (kind === 'resource') return name;
  if (kind === 'deviceClass') return `dra:${name}`;
  return `${kind === 'field' ? requested.system : kind}:${name}`;
}

function toReportFinding(
  path: string,
  { rule, topic, severity, message, workload, container, span, fixes, saving }: Finding,
  proven: ReadonlySet<Fix>,
  base: number,
  lineStarts: readonly number[],
): ReportFinding {
  return {
    rule,
    topic,
    severity,
    message,
    workload: workload === null ? null : workloadName(workload),
    container,
    range: rangeOf(lineStarts, shiftSpan(span, base)),
    docs: ruleDocsUrl(rule),
    fixes: fixes
      .filter((fix) => proven.has(fix))
      .map(({ title, safe, edits }) => ({
        title,
        safe,
        edits: edits.map((edit) => ({
          path,
          range: rangeOf(lineStarts, shiftSpan(edit.span, base)),
          newText: edit.newText,
        })),
      })),
    ...(saving === null ? {} : { saving: { hourly: saving, currency: 'USD' } }),
  };
}

function toHint({ span, message }: UnusedSuppression, lineStarts: readonly number[]): ReportFinding {
  return {
    rule: unusedSuppressionId,
    topic: 'other',
    severity: 'hint',
    message,
    workload: null,
    container: null,
    range: rangeOf(lineStarts, span),
    docs: unusedSuppressionDocsUrl,
    fixes: [],
  };
}

function workloadName({ kind, name }: Workload): string {
  return name === null ? kind : `${kind}/${name}`;
}

/** The value that all have; null if they differ or there is none. */
function common<T>(values: readonly (T | null)[]): T | null {
  const [first] = values;
  return first !== undefined && values.every((value) => value === first) ? first : null;
}

function byPlace(a: ReportFinding, b: ReportFinding): number {
  const from = a.range.start;
  const to = b.range.start;
  return from.line - to.line || from.column - to.column || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0);
}
