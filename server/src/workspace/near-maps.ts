import { foldersAbove } from '../config/places.ts';
import type { MapLayer } from '../model/chart-installs.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { resolvePath } from '../model/kustomize/paths.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import { checkLimits, parseYaml } from '../yaml/parse.ts';

// ConfigMaps with the values and the variables that objects of Flux read, if they are near these objects.

type Read = (uri: string) => Promise<SourceFile | undefined>;

/** What finding ConfigMaps needs of a reader. */
export interface MapReader {
  readonly list: (folder: string, limit: number) => Promise<readonly string[]>;
  reaches(uri: string): boolean;
}

/** A text in a ConfigMap, and the file that has nothing else. */
export interface TextInMap {
  readonly text: string;
  readonly only?: string;
}

/** The data of a ConfigMap, and the keys whose texts are in files. */
interface MapData {
  /** The file, if the ConfigMap is its only document. */
  readonly only?: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
}

/** ConfigMaps are in the file of the object that reads them, in its folder, or in the folder above. */
const foldersOfMaps = 2;

/** More files than a folder of releases has. */
const maxMapFiles = 200;

/** The text under a key of a ConfigMap; undefined if the key is missing or several ConfigMaps with that key have the name. */
export async function textInMap(
  uri: string,
  { configMap, key }: MapLayer,
  namespace: string | null,
  read: Read,
  reader: MapReader,
): Promise<TextInMap | undefined> {
  const found = await mapNamed(
    uri,
    configMap,
    namespace,
    read,
    reader,
    ({ texts, files }) => texts.has(key) || files.has(key),
  );
  const file = found?.files.get(key);
  if (file !== undefined) {
    const source = reader.reaches(file) ? await read(file) : undefined;
    return source && { text: source.text, only: file };
  }
  const text = found?.texts.get(key);
  return text === undefined ? undefined : { text, ...(found?.only !== undefined && { only: found.only }) };
}

/** The texts of a ConfigMap by their keys; undefined if it is missing, if several have the name, or if a text is in a file or computed. */
export async function textsInMap(
  uri: string,
  configMap: string,
  namespace: string | null,
  read: Read,
  reader: MapReader,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await mapNamed(uri, configMap, namespace, read, reader, () => true);
  return found === undefined || found.files.size > 0 ? undefined : found.texts;
}

async function mapNamed(
  uri: string,
  name: string,
  namespace: string | null,
  read: Read,
  { reaches, list }: MapReader,
  isMeant: (data: MapData) => boolean,
): Promise<MapData | undefined> {
  const folders = foldersAbove(uri).slice(0, foldersOfMaps).filter(reaches);
  for (const place of [uri, ...folders]) {
    const uris = place === uri ? [uri] : (await list(place, maxMapFiles)).filter(reaches);
    const found = (await Promise.all(uris.map(read))).flatMap((file) =>
      file?.text.includes(name) ? mapsIn(file, name, namespace).filter(isMeant) : [],
    );
    const [first, ...others] = found;
    if (first !== undefined) return others.length > 0 ? undefined : first;
  }
  return undefined;
}

/** The data of ConfigMaps in a file, and of those that a kustomization makes. */
function mapsIn({ uri, text }: SourceFile, name: string, namespace: string | null): readonly MapData[] {
  if (checkLimits(text) !== null) return [];
  const isHere = (at: Cursor) => {
    const own = asText(getIn(at, 'namespace'));
    return asText(getIn(at, 'name')) === name && (own === undefined || namespace === null || own === namespace);
  };
  const folder = uri.slice(0, uri.lastIndexOf('/') + 1);
  const { documents } = parseYaml(text);
  const only = documents.length === 1 ? { only: uri } : {};
  return documents.flatMap((document): readonly MapData[] => {
    if (document.root === null) return [];
    const root = rootCursor(document.root);
    if (asText(getIn(root, 'kind')) === 'ConfigMap') {
      const metadata = getIn(root, 'metadata');
      if (metadata === undefined || !isHere(metadata)) return [];
      const texts = entries(getIn(root, 'data')).flatMap((entry) => {
        const value = isTemplated(entry) ? undefined : asText(entry);
        return value === undefined ? [] : [[keyOf(entry), value] as const];
      });
      return [{ texts: new Map(texts), files: new Map(), ...only }];
    }
    return items(getIn(root, 'configMapGenerator'))
      .filter(isHere)
      .map((generator) => ({
        texts: new Map(items(getIn(generator, 'literals')).flatMap(literal)),
        files: new Map(
          items(getIn(generator, 'files')).flatMap((one) => {
            const [name = '', file = name] = (asText(one) ?? '').split('=');
            const place = resolvePath(folder, file);
            return place === undefined ? [] : [[name.slice(name.lastIndexOf('/') + 1), place] as const];
          }),
        ),
      }));
  });
}

/** `CARDS=2`. */
function literal(one: Cursor): readonly (readonly [string, string])[] {
  const [key = '', ...value] = (asText(one) ?? '').split('=');
  return value.length === 0 ? [] : [[key, value.join('=').replace(/^(['"])(.*)\1$/, '$2')]];
}
