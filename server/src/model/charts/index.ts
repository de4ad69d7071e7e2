import type { Cursor } from '../../yaml/cursor.ts';
import { appCharts } from './apps.ts';
import type { Chart } from './chart.ts';
import { notebookCharts } from './notebooks.ts';
import { servingCharts } from './serving.ts';
import { slurmCharts } from './slurm.ts';

export type { ChartBlock } from './chart.ts';

/** The charts whose templates gpulint knows. To add one, add an entry to its family's table. */
const charts: readonly Chart[] = [...servingCharts, ...notebookCharts, ...appCharts, ...slurmCharts];

const byName = new Map(charts.flatMap((chart) => chart.names.map((name) => [name, chart] as const)));

/**
 * The chart for which a mapping has values, by its keys, or by the chart's name where that is written.
 * @param name as in a repository: `ollama`, or the end of an OCI address
 */
export function chartOf(values: Cursor, name?: string): Chart | undefined {
  if (values.node.kind !== 'map') return undefined;
  return charts.find((chart) => chart.owns(values)) ?? (name === undefined ? undefined : byName.get(name));
}
