import { mayRunMore } from '../evidence/launch.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { lowerDocument } from '../model/lower.ts';
import { type ChartValues, filledTemplates, isSettled } from '../model/related-files.ts';
import { parameterDefaults, withParameterDefaults } from '../model/workflow-defaults.ts';
import type { Finding } from '../rules/rule.ts';
import { type RunInput, runRules } from '../rules/run.ts';
import type { YamlDocument } from '../yaml/node.ts';

type Settings = Omit<RunInput, 'document' | 'manifests' | 'workloads'>;

/**
 * The findings of a template, with those that only show when the chart's own values are filled in: the values have the GPUs, and the template
 * has the command or the volumes. A problem that the values alone have is reported in their file.
 * @param written the findings of the template as it is written
 */
export function withChartValues(
  template: YamlDocument,
  written: readonly Finding[],
  chart: ChartValues,
  settings: Settings,
): readonly Finding[] {
  const added = addedBy(filledTemplates(template, chart), written, settings);
  if (added.length === 0) return written;
  const inValues = new Set(runOn(chart.document, settings).map(({ rule }) => rule));
  return withAdded(
    written,
    added.filter(({ rule }) => !inValues.has(rule)),
    chart.name,
  );
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
  return withAdded(written, addedBy([{ ...document, root, template }], written, settings), parameterDefaults);
}

/** The certain findings of filled documents that are not known without the values. */
function addedBy(filled: readonly YamlDocument[], written: readonly Finding[], settings: Settings): readonly Finding[] {
  const known = new Set(written.map(placeOf));
  return filled.flatMap((document) =>
    runOn(document, settings).filter((one) => isCertain(one) && !known.has(placeOf(one))),
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

/** Values are what a chart starts with, and people set their own: advice about them would be about a choice that nobody has made yet. */
function isCertain({ severity, workload, container }: Finding): boolean {
  if (workload === null || !namesAccelerators(workload)) return false;
  // What a helper adds to the command line may be what is missing.
  const found = workload.podSets.flatMap(({ containers }) => containers).find(({ name }) => name === container);
  return (severity === 'error' || severity === 'warning') && (found === undefined || !mayRunMore(found));
}

function runOn(document: YamlDocument, settings: Settings): readonly Finding[] {
  const { options, crossReferences } = settings;
  return runRules({ ...settings, document, ...lowerDocument(document, options, crossReferences) }).findings;
}
