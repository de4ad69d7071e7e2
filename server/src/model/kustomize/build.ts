import type { YamlNode } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { groupOf, lowerManifests } from '../manifest.ts';
import { once } from '../once.ts';
import type { BuiltObject, SourceFile, SourceFiles } from './built-object.ts';
import { type Kustomization, kustomizationNames, type Patch, readKustomization } from './kustomization.ts';
import { applyPatches, inlineRoots, type LoadedPatch, rootsIn } from './patches.ts';
import { isSame, nameOf, resolvePath } from './paths.ts';
import { withReplacements } from './replacements.ts';
import { transformed } from './transformers.ts';

/** Limits beyond any real project. A file of a patch is priced with all other patches, so the work grows with the square of this. */
export const maxFiles = 1000;
const maxRequests = 4 * maxFiles;
const maxDepth = 10;
/** Kustomizations can include the same files many times, so one build is limited. */
const maxBuilds = 1000;
const maxObjects = 10_000;

/** Reads all files of a kustomization; undefined if there are too many. Files that cannot be read are skipped. */
export async function collectFiles(
  kustomization: string,
  read: (uri: string) => Promise<SourceFile | undefined>,
): Promise<SourceFiles | undefined> {
  const files = new Map<string, SourceFile>();
  // Missing files also cost a request.
  const requests = new Set<string>();
  let isTooLarge = false;
  const visit = async (uri: string, depth: number): Promise<boolean> => {
    if (files.has(uri)) return true;
    isTooLarge ||= files.size > maxFiles || requests.size > maxRequests;
    if (requests.has(uri) || isTooLarge || depth > maxDepth) return false;
    requests.add(uri);
    const file = await read(uri);
    if (file === undefined) return false;
    files.set(uri, file);
    if (!isKustomization(uri)) return true;
    const { folders, patches } = pathsIn(file);
    isTooLarge ||= folders.length + patches.length >= maxFiles;
    if (isTooLarge) return true;
    for (const target of folders) {
      if (target === undefined || (await visit(target, depth + 1))) continue;
      for (const name of kustomizationNames) if (await visit(`${target}/${name}`, depth + 1)) break;
    }
    for (const { file: target } of patches) if (target !== undefined) await visit(target, depth + 1);
    return true;
  };
  await visit(kustomization, 0);
  return isTooLarge || files.size > maxFiles ? undefined : files;
}

/** A file parsed as a kustomization, once. */
const kustomizationIn = once(({ text }: SourceFile) => readKustomization(text));

/** What a kustomization refers to, as URIs: resolved once, for all builds. */
const pathsIn = once((source: SourceFile) => {
  const { resources = [], components = [], patches = [] } = kustomizationIn(source) ?? {};
  const resolved = (path: string) => resolvePath(source.uri, path);
  return {
    folders: [...resources, ...components].map(resolved),
    patches: patches.map((patch) => {
      const file = patch.path === undefined ? undefined : resolved(patch.path);
      return { patch, file, name: file === undefined ? undefined : nameOf(file) };
    }),
  };
});

/** What a kustomization builds. */
export interface Built {
  readonly objects: readonly BuiltObject[];
  /** The URIs of the other kustomizations that it includes. */
  readonly included: readonly string[];
}

/** @param without the URI of a patch to skip */
export function buildObjects(kustomization: string, files: SourceFiles, without?: string): Built {
  const entered = new Set<string>();
  const state: Build = { files, without, entered, ancestors: new Set(), builds: maxBuilds, objects: maxObjects };
  const objects = build(kustomization, state, 0);
  return { objects, included: [...entered].filter((uri) => !isSame(uri, kustomization)) };
}

/** The patch of a kustomization that is in a file; undefined if the file is not a patch of it. */
export function patchIn(kustomization: SourceFile, file: string): Patch | undefined {
  return patchesIn(kustomization).get(nameOf(file));
}

/** Cached, because each file of a folder looks itself up. */
const patchesIn = once((kustomization: SourceFile): ReadonlyMap<string, Patch> => {
  const patches = new Map<string, Patch>();
  for (const { patch, name } of pathsIn(kustomization).patches)
    if (name !== undefined && !patches.has(name)) patches.set(name, patch);
  return patches;
});

/** Whether kustomize reads a file of this name as the kustomization of its folder. */
export function isKustomization(uri: string): boolean {
  return kustomizationNames.some((name) => uri.endsWith(`/${name}`));
}

/** The state of one build, with its remaining budget. */
interface Build {
  readonly files: SourceFiles;
  readonly without: string | undefined;
  readonly entered: Set<string>;
  /** The kustomizations that include the current one, by decoded URI, to detect cycles. */
  readonly ancestors: Set<string>;
  builds: number;
  objects: number;
}

function build(uri: string, state: Build, depth: number): readonly BuiltObject[] {
  return withKustomization(uri, state, depth, [], (kustomization) =>
    transform(uri, kustomization, loadAll(uri, kustomization.resources, state, depth), state, depth),
  );
}

/** @param otherwise the result if the kustomization was not read, is part of a cycle, or exceeds the budget */
function withKustomization(
  uri: string,
  state: Build,
  depth: number,
  otherwise: readonly BuiltObject[],
  make: (kustomization: Kustomization) => readonly BuiltObject[],
): readonly BuiltObject[] {
  const file = state.files.get(uri);
  const kustomization = file && kustomizationIn(file);
  const name = nameOf(uri);
  if (kustomization === undefined || depth > maxDepth || state.builds <= 0 || state.ancestors.has(name))
    return otherwise;
  state.builds -= 1;
  state.entered.add(uri);
  state.ancestors.add(name);
  const made = make(kustomization);
  state.ancestors.delete(name);
  return made;
}

function transform(
  uri: string,
  kustomization: Kustomization,
  loaded: readonly BuiltObject[],
  state: Build,
  depth: number,
): readonly BuiltObject[] {
  const { files, without } = state;
  let objects = loaded;
  for (const path of new Set(kustomization.components)) {
    const component = kustomizationAt(uri, path, files);
    if (component === undefined) continue;
    const before = objects;
    objects = withKustomization(component, state, depth, before, (inner) => {
      const added = loadAll(component, inner.resources, state, depth + 1);
      return transform(component, inner, [...before, ...added], state, depth + 1);
    });
  }
  if (depth === 0) objects = objects.map((object) => ({ ...object, before: object.root }));
  objects = applyPatches(objects, patchesFor(uri, state));
  // A skipped patch is applied later, and the transformers come after it.
  const last = (object: BuiltObject, root: YamlNode) => transformed(root, object.kind, object.names, kustomization);
  const isPatchedLater = depth === 0 && without !== undefined;
  objects = objects.map((object) =>
    isPatchedLater
      ? { ...object, finish: (root) => last(object, root) }
      : {
          ...object,
          root: last(object, object.root),
          ...(object.before && { before: last(object, object.before) }),
        },
  );
  if (!isPatchedLater) objects = withReplacements(objects, kustomization.replacements);
  const { namePrefix, nameSuffix, namespace } = kustomization;
  if (namespace !== undefined) objects = objects.map((object) => ({ ...object, namespace }));
  if (namePrefix === '' && nameSuffix === '') return objects;
  return objects.map((object) => ({
    ...object,
    names: [...object.names, `${namePrefix}${object.names.at(-1) ?? ''}${nameSuffix}`],
  }));
}

function* patchesFor(uri: string, { files, without }: Build): Generator<LoadedPatch> {
  const source = files.get(uri);
  const skipped = without === undefined ? undefined : nameOf(without);
  for (const { patch, file, name } of source === undefined ? [] : pathsIn(source).patches) {
    if (name !== undefined && name === skipped) continue;
    const text = file === undefined ? undefined : files.get(file);
    const roots = patch.text === undefined ? text && rootsIn(text) : inlineRoots(patch);
    for (const root of roots ?? []) yield { patch: root, target: patch.target, file };
  }
}

function loadAll(uri: string, resources: readonly string[], state: Build, depth: number): readonly BuiltObject[] {
  return [...new Set(resources)].flatMap((path) => {
    const file = resolvePath(uri, path);
    const source = file === undefined ? undefined : state.files.get(file);
    // kustomize includes the folder of a kustomization, not its file.
    if (source !== undefined && isKustomization(source.uri)) return [];
    if (source !== undefined) {
      const objects = objectsIn(source).slice(0, state.objects);
      state.objects -= objects.length;
      return objects;
    }
    const inner = kustomizationAt(uri, path, state.files);
    return inner === undefined ? [] : build(inner, state, depth + 1);
  });
}

/** The objects of a file, parsed once for all overlays. */
const objectsIn = once(({ uri, text }: SourceFile): readonly BuiltObject[] => {
  const file = uri.slice(uri.lastIndexOf('/') + 1);
  return parseYaml(text).documents.flatMap((document) =>
    lowerManifests(document).map(({ root, apiVersion, kind, name }) => ({
      root: root.node,
      group: groupOf(apiVersion),
      kind,
      names: name === null ? [] : [name],
      file,
      sources: [uri],
    })),
  );
});

function kustomizationAt(uri: string, path: string, files: SourceFiles): string | undefined {
  const folder = resolvePath(uri, path);
  return kustomizationNames.map((name) => `${folder}/${name}`).find((file) => files.has(file));
}
