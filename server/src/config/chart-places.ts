/** The chart that a template belongs to. */
export interface ChartPlace {
  /** URIs of its files. */
  readonly chart: string;
  readonly values: string;
}

/** The chart of a template, which is a file below `templates/` in the chart's folder. Charts can contain charts: the innermost one applies. */
export function chartOf(uri: string): ChartPlace | undefined {
  const end = uri.lastIndexOf('/templates/');
  if (end < 0) return undefined;
  const folder = uri.slice(0, end);
  return { chart: `${folder}/Chart.yaml`, values: `${folder}/values.yaml` };
}
