import type { ChartPlace } from '../config/chart-places.ts';
import { foldersAbove, isWithin, normalizeUri } from '../config/places.ts';
import {
  type ChartInstall,
  chartInstalls,
  type InstallLayer,
  installKey,
  patchFiles,
} from '../model/chart-installs.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { resolvePath } from '../model/kustomize/paths.ts';
import { once } from '../model/once.ts';
import { type InstalledChart, noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import { valuesText } from '../model/set-values.ts';
import type { YamlNode } from '../yaml/node.ts';
import { checkLimits, parseYaml } from '../yaml/parse.ts';
import { textInMap } from './near-maps.ts';
import { overriddenBuilds } from './overridden-builds.ts';

type Read = (uri: string) => Promise<SourceFile | undefined>;

/** What finding charts needs of a reader. */
interface ChartReader {
  readonly list?: (folder: string, limit: number) => Promise<readonly string[]>;
  reaches(uri: string): boolean;
}

/** The charts that the objects and releases in a file install, if the project has them. */
export async function relatedToInstalls(
  uri: string,
  read: Read,
  { reaches, list }: ChartReader,
): Promise<RelatedFiles> {
  const own = list === undefined ? undefined : await read(uri);
  if (own === undefined || list === undefined || checkLimits(own.text) !== null) return noRelatedFiles;
  const installs = new Map<string, InstalledChart>();
  const { documents } = parseYaml(own.text);
  const all = documents.flatMap(chartInstalls);
  const completed = new Set<YamlNode>();
  for (const install of [...all.filter((one) => !isReadAlone(one)), ...all.filter(isReadAlone)]) {
    const key = installKey(install);
    // An object is read again, with all its charts, if another file tells of one of them.
    if (isReadAlone(install) && !completed.has(install.at)) continue;
    const found = installs.get(key) ?? (await installedChart(uri, install, read, { reaches, list }));
    if (found === undefined) continue;
    installs.set(key, found);
    completed.add(install.at);
  }
  const builds = await overriddenBuilds(uri, documents, read, { reaches, list });
  return installs.size === 0 && Object.keys(builds).length === 0
    ? noRelatedFiles
    : { ...(installs.size > 0 && { installs }), ...builds };
}

/** Whether the object itself has all values of a chart from elsewhere. */
function isReadAlone({ withValues, layers }: ChartInstall): boolean {
  return withValues !== undefined && layers.every((layer) => 'values' in layer);
}

async function installedChart(
  uri: string,
  install: ChartInstall,
  read: Read,
  { reaches, list }: Required<ChartReader>,
): Promise<InstalledChart | undefined> {
  const { chart, from, layers, namespace, changes, withValues } = install;
  const folders = foldersAbove(uri);
  for (const root of (from === 'file' ? folders.slice(0, 1) : folders).filter(reaches)) {
    if (withValues !== undefined) {
      const found = await filesOf(layers, { uri, root, folder: undefined, namespace }, read, { reaches, list });
      if (found !== undefined)
        return { values: undefined, templates: [], ...found, patches: new Map(), file: undefined };
      continue;
    }
    const folder = resolvePath(`${root}/`, chart);
    const file = folder !== undefined && reaches(folder) ? await read(`${folder}/Chart.yaml`) : undefined;
    if (folder === undefined || file === undefined) continue;
    const templates = await templatesIn(`${folder}/templates`, read, list);
    if (templates.length === 0) return undefined;
    const found = await filesOf(layers, { uri, root, folder, namespace }, read, { reaches, list });
    // Values that are not known may change everything.
    if (found === undefined) return undefined;
    const patches = new Map<string, SourceFile>();
    for (const path of patchFiles(changes)) {
      const place = resolvePath(`${root}/`, path);
      const patch = place !== undefined && reaches(place) ? await read(place) : undefined;
      if (patch !== undefined) patches.set(path, patch);
    }
    const helpers = await read(`${folder}/templates/_helpers.tpl`);
    return { values: await read(`${folder}/values.yaml`), templates, helpers, ...found, patches, file };
  }
  return undefined;
}

/** Where an install is, and its chart if that is in the project. */
interface InstallPlace {
  readonly uri: string;
  readonly root: string;
  readonly folder: string | undefined;
  readonly namespace: string | null;
}

/** The values of an install that are in other files or in ConfigMaps; undefined if some are missing. */
async function filesOf(
  layers: readonly InstallLayer[],
  { uri, root, folder, namespace }: InstallPlace,
  read: Read,
  { reaches, list }: Required<ChartReader>,
): Promise<Pick<InstalledChart, 'files' | 'maps' | 'mapFiles'> | undefined> {
  const files = new Map<string, SourceFile>();
  const maps = new Map<string, string>();
  const mapFiles: string[] = [];
  for (const layer of layers) {
    if ('configMap' in layer) {
      const found = await textInMap(uri, layer, namespace, read, { reaches, list });
      const text = found === undefined || layer.path === undefined ? found?.text : atPath(layer.path, found.text);
      if (text === undefined) return undefined;
      maps.set(JSON.stringify(layer), text);
      if (found?.only !== undefined && found.only !== uri) mapFiles.push(found.only);
    }
    if (!('file' in layer)) continue;
    const from = layer.from === 'chart' ? folder : root;
    const place = from === undefined ? undefined : resolvePath(`${from}/`, layer.file);
    const layered = place !== undefined && reaches(place) ? await read(place) : undefined;
    if (layered === undefined && !layer.optional) return undefined;
    if (layered !== undefined) files.set(layer.file, layered);
  }
  return { files, maps, mapFiles };
}

/** Text that is one value. Flux reads commas and braces as lists, and what is in quotes as a string. */
function atPath(path: string, text: string): string | undefined {
  const [, quote, value = ''] = /^(["']?)([^,{}"'\\\n]*)\1$/.exec(text) ?? [];
  return quote === undefined ? undefined : valuesText(path, value, quote !== '');
}

/** More templates than any chart has. */
const maxTemplates = 1000;

/** The templates in a folder of a chart, sorted; none if there are more than the limit. */
export async function templatesIn(
  folder: string,
  read: Read,
  list: NonNullable<ChartReader['list']>,
  limit = maxTemplates,
): Promise<readonly SourceFile[]> {
  const within = new Set([normalizeUri(folder)]);
  const isTemplate = (name: string) => /\.ya?ml$/.test(name) && isWithin(normalizeUri(name), within);
  const found = (await list(folder, maxTemplates)).filter(isTemplate).sort();
  if (found.length > limit) return [];
  const texts = await Promise.all(found.map(read));
  return texts.flatMap((file) => file ?? []);
}

/** Charts with more templates are not those of one application. */
const maxOfOne = 60;

/**
 * The chart of a template with all its templates, which all of them share.
 * @param related the chart's values and helpers
 */
export async function wholeChart(
  related: RelatedFiles,
  { chart, templates }: ChartPlace,
  read: Read,
  { reaches, list }: Required<ChartReader>,
): Promise<RelatedFiles> {
  const file = related.chart && (await read(chart));
  const found = file === undefined ? [] : await templatesIn(templates, read, list, maxOfOne);
  if (related.chart === undefined || file === undefined || found.length === 0) return related;
  const [, above] = /^(.*)\/charts\/[^/]+\/Chart\.yaml$/.exec(chart) ?? [];
  const parent = above !== undefined && reaches(above) ? await read(`${above}/Chart.yaml`) : undefined;
  const isPart = parent !== undefined;
  const parts = [file, parent, ...found];
  const last = lastWhole(related);
  if (parts.length === last.parts.length && parts.every((part, index) => part === last.parts[index])) return last.made;
  last.parts = parts;
  last.made = { chart: { ...related.chart, file, templates: found, ...(isPart && { isPart }) } };
  return last.made;
}

interface Whole {
  parts: readonly (SourceFile | undefined)[];
  made: RelatedFiles;
}

/** What was last made of values and helpers. */
const lastWhole = once((made: RelatedFiles): Whole => ({ parts: [], made }));
