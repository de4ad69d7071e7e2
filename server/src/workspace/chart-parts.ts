import { isOff, type PartName, valuesFor } from '../model/chart-parts.ts';
import { chartValues } from '../model/chart-templates.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { emptyMap, mergeStrategic } from '../model/kustomize/merge.ts';
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
  /** The same for each copy of a part with several aliases. */
  readonly copies?: readonly YamlMap[];
  /** Its values turn the part off. */
  readonly isOff: boolean;
}

/**
 * What the chart around a part decides about it; undefined for a chart that is not part of another.
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
  const names = namesOf(owner, folder);
  const root = values && valuesIn(values).root;
  const whole = root && outer?.values ? merged(root)(outer.values) : (root ?? outer?.values);
  const on = names.filter((name) => !isOff(name, own && valuesIn(own).root, whole));
  const [first] = on;
  const isTurnedOff = outer?.isOff === true || first === undefined;
  if (names.length > 1) {
    const copies = whole === undefined ? [] : copiesIn(whole)(on);
    return { values: undefined, copies, isOff: isTurnedOff };
  }
  return { values: first && valuesFor(first, whole), isOff: isTurnedOff };
}

/** The values of copies: the same list as long as the values and the aliases are the same. */
const copiesIn = once((whole: YamlNode) => {
  const known = new Map<string, readonly YamlMap[]>();
  return (names: readonly PartName[]): readonly YamlMap[] => {
    const aliases = JSON.stringify(names.map(({ key }) => key));
    const before = known.get(aliases);
    if (before !== undefined) return before;
    const found = names.map((name) => valuesFor(name, whole) ?? emptyMap);
    known.set(aliases, found);
    return found;
  };
});

const valuesIn = once(({ text }: SourceFile) => ({ root: chartValues('values.yaml', text)?.root }));

const merged = once((root: YamlNode) => once((around: YamlMap) => mergeStrategic(root, around, false)));

/** More charts are not parts of one application. */
const maxParts = 40;

/** More files than the parts of a chart have. */
const maxFiles = 1000;

/**
 * The charts in the folder `charts` of another one, one for each copy.
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
    [...folders].sort().map(async (folder): Promise<readonly ChartPart[]> => {
      if ((await read(`${charts}/${folder}/Chart.yaml`)) === undefined) return [];
      const templates = await templatesIn(`${charts}/${folder}/templates`);
      const values = await read(`${charts}/${folder}/values.yaml`);
      const helpers = await read(`${charts}/${folder}/templates/_helpers.tpl`);
      return namesOf(owner, folder).map((name) => ({ name, values, templates, helpers }));
    }),
  );
  return found.flat();
}

/** How a chart names the part in a folder: several aliases are as many copies. */
function namesOf(owner: SourceFile, folder: string): readonly PartName[] {
  return dependencies(owner).get(folder) ?? [{ key: folder, conditions: [] }];
}

/** More copies of one part are generated. */
const maxCopies = 20;

/** https://helm.sh/docs/topics/charts/#chart-dependencies */
const dependencies = once(({ text }: SourceFile): ReadonlyMap<string, readonly PartName[]> => {
  const root = checkLimits(text) === null ? parseDocument(text, 0).root : null;
  const found = new Map<string, PartName[]>();
  for (const one of root === null ? [] : items(getIn(rootCursor(root), 'dependencies'))) {
    const name = asText(getIn(one, 'name')) ?? '';
    const written = (asText(getIn(one, 'condition')) ?? '').split(',').flatMap((path) => path.trim() || []);
    const conditions = written.map((path) => path.split('.'));
    const part = { key: asText(getIn(one, 'alias')) ?? name, conditions };
    const others = found.get(name);
    if (others === undefined) found.set(name, [part]);
    else if (others.length < maxCopies) others.push(part);
  }
  return found;
});
