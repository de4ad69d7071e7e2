import { asText, getIn, rootCursor } from '../yaml/cursor.ts';
import type { YamlMap, YamlNode } from '../yaml/node.ts';
import { emptyMap, mergeStrategic } from './kustomize/merge.ts';

// Charts in the folder `charts` of another one. The values of that chart have those of each part under its name, and they take precedence.
// https://helm.sh/docs/chart_template_guide/subcharts_and_globals/

/** How a chart names one of its parts. */
export interface PartName {
  /** The key of the values for it: its name or its alias. */
  readonly key: string;
  /** The paths of the values that turn it on and off. The first that exists decides. */
  readonly conditions: readonly (readonly string[])[];
}

/** The values that a chart has for a part. @param whole its values */
export function valuesFor({ key }: PartName, whole: YamlNode | undefined): YamlMap | undefined {
  if (whole?.kind !== 'map') return undefined;
  const value = whole.entries.filter((entry) => entry.key === key).at(-1)?.value;
  return value?.kind === 'map' ? value : undefined;
}

/** The values of a part. @param own those of its chart @param whole those of the chart around it */
export function valuesOfPart(name: PartName, own: YamlNode | undefined, whole: YamlNode | undefined): YamlNode {
  const around = valuesFor(name, whole);
  if (own === undefined || around === undefined) return around ?? own ?? emptyMap;
  return mergeStrategic(own, around, false);
}

/** Whether values turn a part off. @param own those of its chart @param whole those of the chart around it */
export function isOff({ key, conditions }: PartName, own: YamlNode | undefined, whole: YamlNode | undefined): boolean {
  const words = conditions.map(
    (path) => textAt(whole, path) ?? (path[0] === key ? textAt(own, path.slice(1)) : undefined),
  );
  return words.find((text) => text === 'true' || text === 'false') === 'false';
}

function textAt(root: YamlNode | undefined, path: readonly string[]): string | undefined {
  return root && asText(getIn(rootCursor(root), ...path));
}
