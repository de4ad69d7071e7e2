import type { ProjectConfig } from '../config.ts';
import { namesDevices } from '../evidence/device-words.ts';
import { mayRunMore } from '../evidence/launch.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { type ChartValues, filledTemplates, isSettled } from '../model/chart-templates.ts';
import { asInstalled } from '../model/installed-names.ts';
import { lowerDocument } from '../model/lower.ts';
import { parameterDefaults, withParameterDefaults } from '../model/parameter-defaults.ts';
import type { Finding, Topic } from '../rules/rule.ts';
import { type RunInput, runRules } from '../rules/run.ts';
import { missingValues } from '../yaml/missing-values.ts';
import type { MissingValue, YamlDocument, YamlNode } from '../yaml/node.ts';
import { amongObjects } from './chart-objects.ts';

export type Settings = Omit<RunInput, 'document' | 'manifests' | 'workloads' | 'options' | 'crossReferences'> &
  Required<Pick<RunInput, 'crossReferences'>> & { readonly options: ProjectConfig };

/**
 * The findings of a template, with those that only show when the chart's own values are filled in and its objects find each other: the values
 * have the GPUs, and the template has the command or the volumes. A problem that the values alone have is reported in their file.
 * @param written the findings of the template as it is written
 */
export function withChartValues(
  template: YamlDocument,
  written: readonly Finding[],
  values: ChartValues,
  uri: string,
  settings: Settings,
): readonly Finding[] {
  const chart = asInstalled(switchedOn(template, values));
  const crossReferences = amongObjects(chart, settings.options, uri, settings.crossReferences);
  const added = addedBy(filledTemplates(template, chart), written, { ...settings, crossReferences }, (one) =>
    isCertain(one, template, chart),
  );
  if (added.length === 0) return written;
  const inValues = new Set(runOn(chart.document, settings).map(({ rule }) => rule));
  return withAdded(
    written,
    added.filter(({ rule }) => !inValues.has(rule)),
    chart.name,
  );
}

/** The values with the switch of a template whose objects they leave out, as those who use them have it. */
function switchedOn(template: YamlDocument, values: ChartValues): ChartValues {
  const [, path = ''] = template.text.includes('else') ? [] : (wholeSwitch.exec(template.text) ?? []);
  const root = path === '' ? undefined : withTrue(values.root, path.split('.'));
  return root === undefined ? values : { ...values, root, name: `${values.name}, switched on` };
}

const wholeSwitch = /^\s*\{\{-?\s*if\s+\.Values\.(\w{1,40}(?:\.\w{1,40}){0,3}\.enabled)\s*-?\}\}/;

/** Undefined if there is no false at the path. */
function withTrue(node: YamlNode | undefined, [step, ...rest]: readonly string[]): YamlNode | undefined {
  if (step === undefined)
    return node?.kind === 'scalar' && node.value === false ? { ...node, value: true, source: 'true' } : undefined;
  if (node?.kind !== 'map') return undefined;
  const value = withTrue(node.entries.find(({ key }) => key === step)?.value, rest);
  if (value === undefined) return undefined;
  return { ...node, entries: node.entries.map((entry) => (entry.key === step ? { ...entry, value } : entry)) };
}

/** The findings of a workflow, with those that only show when the defaults of its parameters are filled in. */
export function withDefaults(
  document: YamlDocument,
  written: readonly Finding[],
  settings: Settings,
): readonly Finding[] {
  const root = withParameterDefaults(document);
  if (root === undefined) return written;
  const template = !isSettled(root);
  const isShown = (one: Finding) => isLoud(one) && isAboutGpus(one);
  return withAdded(written, addedBy([{ ...document, root, template }], written, settings, isShown), parameterDefaults);
}

/** The findings of filled documents that are not known without the values. */
function addedBy(
  filled: readonly YamlDocument[],
  written: readonly Finding[],
  settings: Settings,
  isShown: (finding: Finding) => boolean,
): readonly Finding[] {
  const known = new Set(written.map(placeOf));
  return filled.flatMap((document) =>
    runOn(document, settings).filter((one) => isShown(one) && !known.has(placeOf(one))),
  );
}

/** @param name what was filled in */
function withAdded(written: readonly Finding[], added: readonly Finding[], name: string): readonly Finding[] {
  const shown = new Map(added.map((one) => [placeOf(one), one]));
  const named = [...shown.values()].map(
    (one): Finding => ({ ...one, message: `${one.message} (with ${name})`, fixes: [] }),
  );
  return [...written, ...named].sort((a, b) => a.span.start - b.span.start);
}

function placeOf({ rule, span }: Finding): string {
  return `${rule} ${span.start}`;
}

function isLoud({ severity }: Finding): boolean {
  return severity === 'error' || severity === 'warning';
}

/** What a helper adds to a command line may be what is missing. */
function isAboutGpus({ rule, workload, container }: Finding): boolean {
  // It takes GPUs that nothing requests.
  if (rule === 'visible-devices-bypass') return workload !== null;
  if (workload === null || !namesAccelerators(workload)) return false;
  const found = workload.podSets.flatMap(({ containers }) => containers).find(({ name }) => name === container);
  return found === undefined || !mayRunMore(found);
}

/**
 * Values are what a chart starts with, and people set their own: advice about them would be about a choice that nobody has made yet. Advice about
 * what the template itself says applies to everyone.
 */
function isCertain(finding: Finding, template: YamlDocument, chart: ChartValues): boolean {
  const { rule, severity, workload, span, topic } = finding;
  if (workload === null) return isLoud(finding) && ofScalers.has(topic);
  if (rule === 'gpu-without-request') return !mayRequestOtherwise(template, chart);
  if (!isAboutGpus(finding)) return false;
  // A chart's tag is what everyone gets who sets none.
  const isOwn = rule === 'image-not-pinned' || !template.text.slice(span.start, span.end).includes('{{');
  return isLoud(finding) || (severity === 'info' && isOwn);
}

/** What a template needs and its chart's values lack. Of charts that depend on each other, some values are in the others. */
export function missingIn(template: YamlDocument, chart: ChartValues): readonly MissingValue[] {
  const { file, document, root, isPart = false } = chart;
  if (file === undefined || isPart || document.template || /^dependencies:/m.test(file.text)) return [];
  const { helpers } = asInstalled(chart);
  const all = helpers === undefined ? [] : missingValues(template, root, helpers);
  const failed = all.find(({ printsNothing }) => printsNothing !== true);
  return failed === undefined ? all : [failed];
}

/** Topics of objects that scale the workloads of other templates. */
const ofScalers: ReadonlySet<Topic> = new Set(['autoscaling', 'scale-to-zero']);

/** Whether other values may request devices. The runtime, the image and the server's own setting do not. */
function mayRequestOtherwise(template: YamlDocument, chart: ChartValues): boolean {
  const plain = `${template.text}\n${chart.document.text}`
    .split('\n')
    .filter((line) => !/^[ \t-]*(?:runtimeClassName|image|repository|registry|tag|device):/.test(line));
  return namesDevices(plain.join('\n'));
}

function runOn(document: YamlDocument, settings: Settings): readonly Finding[] {
  const { options, crossReferences } = settings;
  return runRules({ ...settings, document, ...lowerDocument(document, options, crossReferences) }).findings;
}
