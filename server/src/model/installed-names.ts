import { asText, getIn, isTemplated, rootCursor } from '../yaml/cursor.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import type { BuiltIns } from '../yaml/template-expression.ts';
import type { SourceFile } from './kustomize/built-object.ts';
import { once } from './once.ts';
import type { ChartValues } from './related-files.ts';

/** The release that `helm template` assumes. */
const releaseName = 'release-name';

/** A chart as a release installs it: with the names that Helm's own objects hold, so that its objects find each other. */
export const asInstalled = once((chart: ChartValues): ChartValues => {
  const names = chart.file === undefined ? noNames : namesIn(chart.file);
  return { ...chart, helpers: { bodies: chart.helpers?.bodies ?? new Map(), made: new WeakMap(), names } };
});

/** https://helm.sh/docs/chart_template_guide/builtin_objects/ */
const namesIn = once(({ text }: SourceFile): BuiltIns => {
  const { root } = checkLimits(text) === null ? parseDocument(text, 0) : { root: null };
  const known: [string, string][] = [
    ['Release.Name', releaseName],
    ['Release.Service', 'Helm'],
  ];
  for (const [path, key] of ofChart) {
    const at = root === null ? undefined : getIn(rootCursor(root), key);
    const value = isTemplated(at) ? undefined : asText(at);
    if (value !== undefined) known.push([path, value]);
  }
  return new Map(known);
});

const ofChart: readonly (readonly [path: string, key: string])[] = [
  ['Chart.Name', 'name'],
  ['Chart.Version', 'version'],
  ['Chart.AppVersion', 'appVersion'],
];

const noNames: BuiltIns = new Map();
