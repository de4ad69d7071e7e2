import { isOff, type PartName, valuesFor } from '../model/chart-parts.ts';
import { chartValues } from '../model/chart-templates.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { mergeStrategic } from '../model/kustomize/merge.ts';
import { once } from '../model/once.ts';
import type { ChartPart } from '../model/related-files.ts';
import { asText, getIn, items, rootCursor } from '../yaml/cursor.ts';
import type { YamlMap, YamlNode } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';

type Read = (uri: string) => Promise<SourceFile | undefined>;

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
  read: Read,
  reaches: (uri: string) => boolean,
  level = 0,
): Promise<Around | undefined> {
  const [, above, folder = ''] = /^(.*)\/charts\/([^/]+)\/Chart\.yaml$/.exec(chart) ?? [];
  if (above === undefined || level >= maxLevels || !reaches(`${above}/Chart.yaml`)) return undefined;
  const owner = await read(`${above}/Chart.yaml`);
  if (owner === undefined) return undefined;
  const values = await read(`${above}/values.yaml`);
  const outer = await chartAround(owner.uri, values, read, reaches, level + 1);
  const name = nameOf(owner, folder);
  const root = values && valuesIn(values).root;
  // Each of several copies has its own values.
  if (name === null) return { values: undefined, isOff: outer?.isOff === true };
  const whole = root && outer?.values ? merged(root)(outer.values) : (root ?? outer?.values);
  const isTurnedOff = outer?.isOff === true || isOff(name, own && valuesIn(own).root, whole);
  return { values: valuesFor(name, whole), isOff: isTurnedOff };
}

const valuesIn = once(({ text }: SourceFile) => ({ root: chartValues('values.yaml', text)?.root }));

const merged = once((root: YamlNode) => once((around: YamlMap) => mergeStrategic(root, around, false)));

/** More charts are not parts of one application. */
const maxParts = 40;

/** More files than the parts of a chart have. */
const maxFiles = 1000;

/**
 * The charts in the folder `charts` of another one, without those of which it has several copies.
 * @param owner its Chart.yaml
 * @param templatesIn the templates in a folder
 */
export async function partsOf(
  owner: SourceFile,
  read: Read,
  list: (folder: string, limit: number) => Promise<readonly string[]>,
  templatesIn: (folder: string) => Promise<readonly SourceFile[]>,
): Promise<readonly ChartPart[]> {
  const charts = `${owner.uri.slice(0, owner.uri.lastIndexOf('/'))}/charts`;
  const files = await list(charts, maxFiles);
  const folders = new Set(files.flatMap((file) => /\/charts\/([^/]+)\/templates\/[^/]+$/.exec(file)?.[1] ?? []));
  if (files.length >= maxFiles || folders.size > maxParts) return [];
  const found = await Promise.all(
    [...folders].sort().map(async (folder): Promise<ChartPart | undefined> => {
      const name = nameOf(owner, folder);
      if (name === null || (await read(`${charts}/${folder}/Chart.yaml`)) === undefined) return undefined;
      const templates = await templatesIn(`${charts}/${folder}/templates`);
      const values = await read(`${charts}/${folder}/values.yaml`);
      const helpers = await read(`${charts}/${folder}/templates/_helpers.tpl`);
      return { name, values, templates, helpers };
    }),
  );
  return found.flatMap((part) => part ?? []);
}

/** How a chart names the part in a folder; null for one with several aliases, of which each is a copy. */
function nameOf(owner: SourceFile, folder: string): PartName | null {
  const found = dependencies(owner).get(folder);
  return found === undefined ? { key: folder, conditions: [] } : found;
}

/** https://helm.sh/docs/topics/charts/#chart-dependencies */
const dependencies = once(({ text }: SourceFile): ReadonlyMap<string, PartName | null> => {
  const root = checkLimits(text) === null ? parseDocument(text, 0).root : null;
  const found = new Map<string, PartName | null>();
  for (const one of root === null ? [] : items(getIn(rootCursor(root), 'dependencies'))) {
    const name = asText(getIn(one, 'name')) ?? '';
    const written = (asText(getIn(one, 'condition')) ?? '').split(',').flatMap((path) => path.trim() || []);
    const conditions = written.map((path) => path.split('.'));
    found.set(name, found.has(name) ? null : { key: asText(getIn(one, 'alias')) ?? name, conditions });
  }
  return found;
});
