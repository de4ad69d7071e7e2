import { either } from '../catalog/word-patterns.ts';
import { foldersAbove } from '../config/places.ts';
import {
  type BuildOverride,
  type BuildVariables,
  buildOverrides,
  overrideKey,
  unchangedBuilds,
} from '../model/build-overrides.ts';
import type { Built } from '../model/kustomize/build.ts';
import { buildObjects, collectFiles } from '../model/kustomize/build.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { kustomizationNames } from '../model/kustomize/kustomization.ts';
import { resolvePath } from '../model/kustomize/paths.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type MapReader, textsInMap } from './near-maps.ts';

type Read = (uri: string) => Promise<SourceFile | undefined>;

/** What the kustomizations that the objects of a file install build with its changes; nothing if the project has none of them. */
export async function overriddenBuilds(
  uri: string,
  documents: readonly YamlDocument[],
  read: Read,
  reader: MapReader,
): Promise<Pick<RelatedFiles, 'overridden' | 'included' | 'installed'>> {
  const { reaches } = reader;
  const overridden = new Map<string, Built>();
  for (const one of documents.flatMap(buildOverrides)) {
    const key = overrideKey(one);
    const built = overridden.has(key) ? undefined : await builtWith(uri, one, read, reader);
    if (built !== undefined) overridden.set(key, built);
  }
  const unchanged = new Set(documents.flatMap(unchangedBuilds));
  const found = await Promise.all([...unchanged].map((folder) => kustomizationIn(uri, folder, read, reaches)));
  const installed = found.flatMap((one) => one?.uri ?? []);
  return {
    ...(overridden.size > 0 && {
      overridden,
      included: [...overridden.values()].flatMap(({ included }) => included),
    }),
    ...(installed.length > 0 && { installed }),
  };
}

/** The kustomization in the nearest folder with a path. */
async function kustomizationIn(
  uri: string,
  path: string,
  read: Read,
  reaches: (uri: string) => boolean,
): Promise<SourceFile | undefined> {
  for (const root of foldersAbove(uri).filter(reaches)) {
    const folder = resolvePath(`${root}/`, path);
    if (folder === undefined || !reaches(folder)) continue;
    const found = (await Promise.all(kustomizationNames.map((name) => read(`${folder}/${name}`)))).find(
      (file) => file !== undefined,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The objects of the kustomization in the nearest folder with the path, as an overlay of it builds them. */
async function builtWith(
  uri: string,
  { path, changes, variables: named }: BuildOverride,
  read: Read,
  reader: MapReader,
): Promise<Built | undefined> {
  const kustomization = await kustomizationIn(uri, path, read, reader.reaches);
  if (kustomization === undefined) return undefined;
  const variables = named && (await withMaps(uri, named, read, reader));
  // A folder that no project has.
  const overlay = kustomization.uri.replace(/[^/]*$/, '.gpulint/kustomization.yaml');
  const text = JSON.stringify({ resources: ['..'], ...changes });
  let isChanged = changes.replicas.length + changes.patches.length > 0;
  const files = await collectFiles(overlay, async (file) => {
    if (file === overlay) return { uri: overlay, text };
    const source = await read(file);
    if (source === undefined || variables === undefined) return source;
    const filled = withVariables(source.text, variables);
    isChanged ||= filled.isPriced;
    return filled.text === source.text ? source : { uri: source.uri, text: filled.text };
  });
  return files && isChanged ? buildObjects(overlay, files) : undefined;
}

/** The variables with those of ConfigMaps, which the object's own replace; incomplete if one of them is not here. */
async function withMaps(uri: string, named: BuildVariables, read: Read, reader: MapReader): Promise<BuildVariables> {
  const known = new Map<string, string>();
  let { isComplete } = named;
  for (const { name, optional } of named.maps) {
    const texts = await textsInMap(uri, name, named.namespace, read, reader);
    for (const [key, text] of texts ?? []) known.set(key, text);
    isComplete &&= texts !== undefined || optional;
  }
  for (const [key, text] of named.known) known.set(key, text);
  return { ...named, known: [...known], isComplete };
}

/**
 * The text with the variables that Flux replaces, and whether one of them may decide what its pods cost: most are names.
 * https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution
 */
function withVariables(text: string, { known, isComplete }: BuildVariables): { text: string; isPriced: boolean } {
  if (!text.includes('${')) return { text, isPriced: false };
  const values = new Map(known);
  let isPriced = false;
  const filled = text.replace(variable, (whole, name: string, fallback: string | undefined, at: number) => {
    const value = values.get(name) ?? (isComplete ? fallback : undefined);
    isPriced ||= value !== undefined && priced.test(text.slice(text.lastIndexOf('\n', at) + 1, at));
    return value ?? whole;
  });
  return { text: filled, isPriced };
}

/** What a line says before a variable: the key of a number, a machine or a place, or an item of a list. */
const priced = either(
  /replica|count|parallelism|completions|suspend|schedule/i,
  /gpu|accelerator|cpu|memory|node|instance|machine|zone|region/i,
  /^\s*-\s["']?$/,
);

const variable = /(?<!\$)\$\{([A-Za-z_]\w{0,99})(?::[=-]([^}\n]{0,200}))?\}/g;
