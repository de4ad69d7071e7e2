import { foldersAbove, isWithin, normalizeUri } from '../config/places.ts';
import { type ChartInstall, chartInstalls, installKey } from '../model/chart-installs.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { resolvePath } from '../model/kustomize/paths.ts';
import { type InstalledChart, noRelatedFiles, type RelatedFiles } from '../model/related-files.ts';
import { checkLimits, parseYaml } from '../yaml/parse.ts';

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
  for (const install of parseYaml(own.text).documents.flatMap(chartInstalls)) {
    const key = installKey(install);
    const found = installs.has(key) ? undefined : await installedChart(uri, install, read, { reaches, list });
    if (found !== undefined) installs.set(key, found);
  }
  return installs.size === 0 ? noRelatedFiles : { installs };
}

async function installedChart(
  uri: string,
  { chart, from, layers }: ChartInstall,
  read: Read,
  { reaches, list }: Required<ChartReader>,
): Promise<InstalledChart | undefined> {
  const folders = foldersAbove(uri);
  for (const root of (from === 'file' ? folders.slice(0, 1) : folders).filter(reaches)) {
    const folder = resolvePath(`${root}/`, chart);
    if (folder === undefined || !reaches(folder) || (await read(`${folder}/Chart.yaml`)) === undefined) continue;
    const templates = await templatesIn(`${folder}/templates`, read, list);
    if (templates.length === 0) return undefined;
    const files = new Map<string, SourceFile>();
    for (const layer of layers) {
      if (!('file' in layer)) continue;
      const place = resolvePath(`${layer.from === 'chart' ? folder : root}/`, layer.file);
      const file = place !== undefined && reaches(place) ? await read(place) : undefined;
      // Values that are not known may change everything.
      if (file === undefined && !layer.optional) return undefined;
      if (file !== undefined) files.set(layer.file, file);
    }
    return { values: await read(`${folder}/values.yaml`), templates, files };
  }
  return undefined;
}

/** More templates than any chart has. */
const maxTemplates = 1000;

/** The templates in a folder of a chart, sorted. */
export async function templatesIn(
  folder: string,
  read: Read,
  list: NonNullable<ChartReader['list']>,
): Promise<readonly SourceFile[]> {
  const within = new Set([normalizeUri(folder)]);
  const isTemplate = (name: string) => /\.ya?ml$/.test(name) && isWithin(normalizeUri(name), within);
  const found = (await list(folder, maxTemplates)).filter(isTemplate).sort();
  const texts = await Promise.all(found.map(read));
  return texts.flatMap((file) => file ?? []);
}
