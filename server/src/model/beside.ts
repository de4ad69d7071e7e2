import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import { fillFromValues } from '../yaml/template-values.ts';
import type { Claims } from './claims.ts';
import { lowerDocument } from './lower.ts';
import type { ModelOptions } from './options.ts';
import type { Workload } from './workload.ts';

/** The values of the chart that a template belongs to. */
export interface ChartValues {
  /** As people are told of it: `values.yaml`. */
  readonly name: string;
  readonly root: YamlNode;
}

/** What other files say of what this one leaves open. It stands for its values: what was read with it holds as long as it is the same object. */
export interface Beside {
  readonly chart?: ChartValues;
}

export const nothingBeside: Beside = {};

/** A chart's values, as their text says them; undefined where it cannot be read. */
export function chartValues(name: string, text: string): ChartValues | undefined {
  if (checkLimits(text) !== null) return undefined;
  const root = parseDocument(text, 0).root;
  return root?.kind === 'map' ? { name, root } : undefined;
}

/**
 * The workloads of a document as they will be with what other files say, for what they cost; the same objects where the others change nothing.
 * What asks for accelerators only because of the values is found here alone. A workload that the values turn off stays as it is written:
 * somebody looks at it because it may be turned on.
 */
export function withBeside(
  document: YamlDocument,
  workloads: readonly Workload[],
  { chart }: Beside,
  options: ModelOptions,
  claims: Claims,
): readonly Workload[] {
  if (chart === undefined || !document.template) return workloads;
  const filled = fillFromValues(document, chart.root);
  if (filled === undefined) return workloads;
  const said = new Map(
    lowerDocument({ ...document, root: filled.root }, options, claims)
      .workloads.filter(asks)
      .filter((workload) => filled.places.some(({ start }) => isIn(workload, start)))
      .map((workload) => [startOf(workload), { ...workload, readWith: chart.name }] as const),
  );
  const known = new Set(workloads.map(startOf));
  const added = [...said.values()].filter((workload) => !known.has(startOf(workload)));
  return [...workloads.map((workload) => said.get(startOf(workload)) ?? workload), ...added];
}

function isIn({ manifest }: Workload, offset: number): boolean {
  const { start, end } = manifest.root.node.span;
  return start <= offset && offset < end;
}

function startOf({ manifest }: Workload): number {
  return manifest.root.node.span.start;
}

function asks({ podSets }: Workload): boolean {
  return podSets.some(({ accelerators }) => accelerators.length > 0);
}
