import type { BuiltIns } from '../yaml/template-expression.ts';
import type { ChartValues } from './chart-templates.ts';
import { once } from './once.ts';
import { namesInChart } from './release-names.ts';

/** The release that `helm template` assumes. */
const releaseName = 'release-name';

/** A chart as a release installs it: with the names that Helm's own objects hold, so that its objects find each other. */
export const asInstalled = once((chart: ChartValues): ChartValues => {
  const names: BuiltIns =
    chart.file === undefined ? new Map() : new Map([['Release.Name', releaseName], ...namesInChart(chart.file)]);
  return { ...chart, helpers: { bodies: chart.helpers?.bodies ?? new Map(), made: new WeakMap(), names } };
});
