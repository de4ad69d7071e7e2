import type { YamlNode } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { groupOf, lowerManifests } from '../manifest.ts';
import { once } from '../once.ts';
import { applyJsonPatch, isJsonPatch } from './json-patch.ts';
import {
  type Kustomization,
  kustomizationNames,
  type Patch,
  type PatchTarget,
  readKustomization,
} from './kustomization.ts';
import { mergeStrategic } from './merge.ts';
import { transformed } from './transformers.ts';

/** An object that a kustomization builds, at one step of the build. */
export interface BuiltObject {
  readonly root: YamlNode;
  readonly group: string;
  readonly kind: string;
  /** All names that it has had: patches can use any of them. */
  readonly names: readonly string[];
  /** The name of the file that it was first read from. */
  readonly file: string;
  /** The URIs of that file and of the patches applied to it. */
  readonly sources: readonly string[];
  /** Applies the transformers of its kustomization; present if a patch must be applied first. */
  readonly finish?: (root: YamlNode) => YamlNode;
}

/** The text of a file. The same object means the same text, so results can be cached by identity. */
export interface SourceFile {
  readonly uri: string;
  readonly text: string;
}

/** Files by their URIs. */
export type SourceFiles = ReadonlyMap<string, SourceFile>;

/** Limits beyond any real project. */
const maxFiles = 300;
const maxRequests = 4 * maxFiles;
const maxDepth = 10;
/** Kustomizations can include the same files many times, so one build is limited. */
const maxBuilds = 1000;
const maxObjects = 10_000;

/** Reads all files of a kustomization. Files that cannot be read are skipped. */
export async function collectFiles(
  kustomization: string,
  read: (uri: string) => Promise<SourceFile | undefined>,
): Promise<SourceFiles> {
  const files = new Map<string, SourceFile>();
  // Missing files also cost a request.
  const requests = new Set<string>();
  const visit = async (uri: string, depth: number): Promise<boolean> => {
    if (files.has(uri)) return true;
    if (requests.has(uri) || files.size >= maxFiles || requests.size >= maxRequests || depth > maxDepth) return false;
    requests.add(uri);
    const file = await read(uri);
    if (file === undefined) return false;
    files.set(uri, file);
    if (!isKustomization(uri)) return true;
    const { resources = [], components = [], patches = [] } = kustomizationIn(file) ?? {};
    for (const path of [...resources, ...components]) {
      const target = resolvePath(uri, path);
      if (target === undefined || (await visit(target, depth + 1))) continue;
      for (const name of kustomizationNames) if (await visit(`${target}/${name}`, depth + 1)) break;
    }
    for (const { path } of patches) {
      const target = path === undefined ? undefined : resolvePath(uri, path);
      if (target !== undefined) await visit(target, depth + 1);
    }
    return true;
  };
  await visit(kustomization, 0);
  return files;
}

/** A file parsed as a kustomization, once. */
const kustomizationIn = once(({ text }: SourceFile) => readKustomization(text));

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
  for (const patch of kustomizationIn(kustomization)?.patches ?? []) {
    const file = patch.path === undefined ? undefined : resolvePath(kustomization.uri, patch.path);
    if (file !== undefined && !patches.has(nameOf(file))) patches.set(nameOf(file), patch);
  }
  return patches;
});

/** The objects to which a patch applies. */
export function patched(
  objects: readonly BuiltObject[],
  patch: YamlNode,
  target: PatchTarget | undefined,
): readonly BuiltObject[] {
  if (target !== undefined) return objects.filter((object) => isTarget(object, target));
  const kind = textAt(patch, 'kind');
  const name = textAt(nodeAt(patch, 'metadata'), 'name');
  if (kind === undefined || name === undefined) return [];
  return objects.filter((object) => object.kind === kind && object.names.includes(name));
}

/** An object with its last patch applied, as its kustomization builds it. */
export function withLastPatch(object: BuiltObject, patch: YamlNode): YamlNode {
  const made = withPatch(object, patch);
  return object.finish === undefined ? made : object.finish(made);
}

/** Each patch of a kustomization is priced with all others, so the same patches are applied again and again. */
function withPatch(object: BuiltObject, patch: YamlNode): YamlNode {
  const known = patchedRoots(object.root);
  const made = known.get(patch) ?? applyPatch(object, patch);
  known.set(patch, made);
  return made;
}

const patchedRoots = once((_: YamlNode) => new WeakMap<YamlNode, YamlNode>());

function applyPatch(object: BuiltObject, patch: YamlNode): YamlNode {
  if (isJsonPatch(patch)) return applyJsonPatch(object.root, patch);
  return patch.kind === 'map' ? mergeStrategic(object.root, patch, isBuiltIn(object.group)) : object.root;
}

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
  for (const one of kustomization.patches) {
    const { path, target } = one;
    const from = path === undefined ? undefined : resolvePath(uri, path);
    if (isSame(from, without)) continue;
    const file = from === undefined ? undefined : files.get(from);
    for (const patch of one.text === undefined ? rootsIn(file ?? missing) : inlineRoots(one)) {
      const over = new Set(patched(objects, patch, target));
      const added = from === undefined ? [] : [from];
      objects = objects.map((object) =>
        over.has(object)
          ? { ...object, root: withPatch(object, patch), sources: [...object.sources, ...added] }
          : object,
      );
    }
  }
  // A skipped patch is applied later, and the transformers come after it.
  const last = (object: BuiltObject, root: YamlNode) => transformed(root, object.kind, object.names, kustomization);
  const isPatchedLater = depth === 0 && without !== undefined;
  objects = objects.map((object) =>
    isPatchedLater
      ? { ...object, finish: (root) => last(object, root) }
      : { ...object, root: last(object, object.root) },
  );
  const { namePrefix, nameSuffix } = kustomization;
  if (namePrefix === '' && nameSuffix === '') return objects;
  return objects.map((object) => ({
    ...object,
    names: [...object.names, `${namePrefix}${object.names.at(-1) ?? ''}${nameSuffix}`],
  }));
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

/** The documents of a patch, parsed once for all builds. */
const rootsIn = once(({ text }: { readonly text: string }) =>
  parseYaml(text).documents.flatMap(({ root }) => root ?? []),
);
const inlineRoots = once(({ text = '' }: Patch) => rootsIn({ text }));
const missing = { text: '' };

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

/** A path relative to a file, as a URI; undefined for remote addresses and for paths above the root, whose first step would be a host. */
function resolvePath(from: string, path: string): string | undefined {
  // A URI cannot contain half of a surrogate pair.
  if (/\p{Surrogate}/u.test(path)) return undefined;
  if (path === '' || path.includes('\n') || path.includes('://') || path.startsWith('/')) return undefined;
  const steps = from.split('/').slice(0, -1);
  const root = /^[^/]*:\/\//.test(from) ? 3 : 1;
  for (const step of path.split('/')) {
    if (step === '..' && steps.length <= root) return undefined;
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(encodeURIComponent(step));
  }
  return steps.join('/');
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && nameOf(one) === nameOf(other);
}

/** Clients escape different characters of a path. */
function nameOf(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

function isTarget(object: BuiltObject, { group, kind, name, selected }: PatchTarget): boolean {
  if (selected || (kind !== undefined && kind !== object.kind) || (group !== undefined && group !== object.group))
    return false;
  return name === undefined || object.names.some((one) => matches(name, one));
}

/** kustomize treats names as regular expressions. Only plain names and a trailing `.*` are supported here: others are rare. */
function matches(pattern: string, name: string): boolean {
  const plain = pattern.replace(/^\^/, '').replace(/\$$/, '');
  return plain.endsWith('.*') ? name.startsWith(plain.slice(0, -2)) : name === plain;
}

/** Whether kustomize has the schema of a group's kinds: the API groups of Kubernetes itself. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || (group.endsWith('.k8s.io') && !group.endsWith('x-k8s.io'));
}

function nodeAt(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
}

function textAt(node: YamlNode | undefined, key: string): string | undefined {
  const value = nodeAt(node, key);
  return value?.kind === 'scalar' && value.value !== null ? value.source : undefined;
}
