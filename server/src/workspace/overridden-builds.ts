import { foldersAbove } from '../config/places.ts';
import { type BuildOverride, buildOverrides, overrideKey } from '../model/build-overrides.ts';
import type { Built } from '../model/kustomize/build.ts';
import { buildObjects, collectFiles } from '../model/kustomize/build.ts';
import type { SourceFile } from '../model/kustomize/built-object.ts';
import { kustomizationNames } from '../model/kustomize/kustomization.ts';
import { resolvePath } from '../model/kustomize/paths.ts';
import type { RelatedFiles } from '../model/related-files.ts';
import type { YamlDocument } from '../yaml/node.ts';

type Read = (uri: string) => Promise<SourceFile | undefined>;

/** What the kustomizations that the objects of a file install build with its changes; nothing if the project has none of them. */
export async function overriddenBuilds(
  uri: string,
  documents: readonly YamlDocument[],
  read: Read,
  reaches: (uri: string) => boolean,
): Promise<Pick<RelatedFiles, 'overridden' | 'included'>> {
  const overridden = new Map<string, Built>();
  for (const one of documents.flatMap(buildOverrides)) {
    const key = overrideKey(one);
    const built = overridden.has(key) ? undefined : await builtWith(uri, one, read, reaches);
    if (built !== undefined) overridden.set(key, built);
  }
  if (overridden.size === 0) return {};
  return { overridden, included: [...overridden.values()].flatMap(({ included }) => included) };
}

/** The objects of the kustomization in the nearest folder with the path, as an overlay of it builds them. */
async function builtWith(
  uri: string,
  { path, changes }: BuildOverride,
  read: Read,
  reaches: (uri: string) => boolean,
): Promise<Built | undefined> {
  for (const root of foldersAbove(uri).filter(reaches)) {
    const folder = resolvePath(`${root}/`, path);
    if (folder === undefined || !reaches(folder)) continue;
    const names = kustomizationNames.map((name) => `${folder}/${name}`);
    const found = (await Promise.all(names.map(read))).some((file) => file !== undefined);
    if (!found) continue;
    // A folder that no project has.
    const overlay = `${folder}/.gpulint/kustomization.yaml`;
    const text = JSON.stringify({ resources: ['..'], ...changes });
    const files = await collectFiles(overlay, async (file) => (file === overlay ? { uri: overlay, text } : read(file)));
    return files && buildObjects(overlay, files);
  }
  return undefined;
}
