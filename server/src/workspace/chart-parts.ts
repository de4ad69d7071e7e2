import type { SourceFile } from '../model/kustomize/built-object.ts';
import { mergeStrategic } from '../model/kustomize/merge.ts';
import { once } from '../model/once.ts';
import { chartValues } from '../model/related-files.ts';
import { asText, getIn, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlMap, YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';

// Charts in the folder `charts` of another one. The values of that chart have those of each part under its name, and they take precedence.
// https://helm.sh/docs/chart_template_guide/subcharts_and_globals/

/** Charts within charts within charts: more levels are a mistake. */
const maxLevels = 3;

/** What the chart around a part decides about it. */
interface Around {
  /** The values that it has for the part: the same object as long as the files are the same. */
  readonly values: YamlMap | undefined;
  /** Its values turn the part off. */
  readonly isOff: boolean;
}

/**
 * What the chart around a part decides about it; undefined for a chart that is no part.
 * @param chart the URI of its Chart.yaml
 * @param own its values
 */
export async function chartAround(
  chart: string,
  own: SourceFile | undefined,
  read: (uri: string) => Promise<SourceFile | undefined>,
  reaches: (uri: string) => boolean,
  level = 0,
): Promise<Around | undefined> {
  const [, above, folder = ''] = /^(.*)\/charts\/([^/]+)\/Chart\.yaml$/.exec(chart) ?? [];
  if (above === undefined || level >= maxLevels || !reaches(`${above}/Chart.yaml`)) return undefined;
  const owner = await read(`${above}/Chart.yaml`);
  if (owner === undefined) return undefined;
  const values = await read(`${above}/values.yaml`);
  const outer = await chartAround(owner.uri, values, read, reaches, level + 1);
  const { keys, conditions } = dependencies(owner);
  const [key = folder, root] = [keys.get(folder), values && valuesIn(values).root];
  // Each of several copies has its own values.
  if (key === null) return { values: undefined, isOff: outer?.isOff === true };
  const whole = root && outer?.values ? merged(root)(outer.values) : (root ?? outer?.values);
  const ofPart = own && valuesIn(own).root;
  const isOn = (conditions.get(folder) ?? []).map(
    (path) =>
      (whole && textAt(whole, path)) ??
      (path[0] === key && ofPart !== undefined ? textAt(ofPart, path.slice(1)) : undefined),
  );
  const decided = isOn.find((text) => text === 'true' || text === 'false');
  return { values: whole && parts(whole).get(key), isOff: outer?.isOff === true || decided === 'false' };
}

function textAt(root: YamlNode, path: readonly string[]): string | undefined {
  return asText(getIn(rootCursor(root), ...path));
}

const valuesIn = once(({ text }: SourceFile) => ({ root: chartValues('values.yaml', text)?.root }));

const merged = once((root: YamlNode) => once((around: YamlMap) => mergeStrategic(root, around, false)));

/** The mappings in values, by their keys. */
const parts = once(
  (root: YamlNode): ReadonlyMap<string, YamlMap> =>
    new Map(
      root.kind === 'map'
        ? root.entries.flatMap(({ key, value }) => (value.kind === 'map' ? [[key, value] as const] : []))
        : [],
    ),
);

interface Dependencies {
  /** The keys of the values for parts, by the names of the parts; null for a part with several aliases, of which each is a copy. */
  readonly keys: ReadonlyMap<string, string | null>;
  /** The paths of the values that turn parts on and off. The first that exists decides. */
  readonly conditions: ReadonlyMap<string, readonly (readonly string[])[]>;
}

/** https://helm.sh/docs/topics/charts/#chart-dependencies */
const dependencies = once(({ text }: SourceFile): Dependencies => {
  const root = checkLimits(text) === null ? parseDocument(text, 0).root : null;
  const keys = new Map<string, string | null>();
  const conditions = new Map<string, readonly (readonly string[])[]>();
  for (const one of root === null ? [] : items(getIn(rootCursor(root), 'dependencies'))) {
    const name = asText(getIn(one, 'name')) ?? '';
    keys.set(name, keys.has(name) ? null : (asText(getIn(one, 'alias')) ?? name));
    const written = (asText(getIn(one, 'condition')) ?? '').split(',').flatMap((path) => path.trim() || []);
    conditions.set(
      name,
      written.map((path) => path.split('.')),
    );
  }
  return { keys, conditions };
});
