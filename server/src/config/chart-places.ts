/** The chart that a template belongs to. */
export interface ChartPlace {
  /** URIs of its files. */
  readonly chart: string;
  readonly values: string;
  /** Where charts have their named templates. */
  readonly helpers: string;
  /** The folder of its templates. */
  readonly templates: string;
}

/** The chart of a template, which is a file below `templates/` in the chart's folder. Charts can contain charts: the innermost one applies. */
export function chartOf(uri: string): ChartPlace | undefined {
  const end = uri.lastIndexOf('/templates/');
  if (end < 0) return undefined;
  const folder = uri.slice(0, end);
  return placeOf(folder);
}

/** The chart of a `Chart.yaml` or `values.yaml`. */
export function chartBeside(uri: string): ChartPlace | undefined {
  const [, folder] = /^(.*)\/(?:Chart|values)\.yaml$/.exec(uri) ?? [];
  return folder === undefined ? undefined : placeOf(folder);
}

/** The chart that a file of values next to its `values.yaml` releases: `values-prod.yaml`, `prod.values.yaml`. */
export function chartOfRelease(uri: string): ChartPlace | undefined {
  const [, folder, file = ''] = /^(.*)\/([^/]*)\.ya?ml$/.exec(uri) ?? [];
  if (folder === undefined || file === 'values' || !/(?:^|[-._])values(?:[-._]|$)/.test(file)) return undefined;
  return placeOf(folder);
}

function placeOf(folder: string): ChartPlace {
  return {
    chart: `${folder}/Chart.yaml`,
    values: `${folder}/values.yaml`,
    helpers: `${folder}/templates/_helpers.tpl`,
    templates: `${folder}/templates`,
  };
}
