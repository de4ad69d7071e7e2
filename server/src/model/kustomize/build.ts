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

/** An object that a kustomization makes, at one step of the way. */
export interface BuiltObject {
  readonly root: YamlNode;
  readonly group: string;
  readonly kind: string;
  /** The names that it has had: patches may use any of them. */
  readonly names: readonly string[];
  /** The name of the file that it was first read from. */
  readonly file: string;
  /** The URIs of that file and of the patches that were laid over it. */
  readonly sources: readonly string[];
  /** What its kustomization does to it after all patches, where one of them is still to come. */
  readonly finish?: (root: YamlNode) => YamlNode;
}

/** What one file says: the same object as long as its text is the same, so that what follows from it is found once. */
export interface SourceFile {
  readonly uri: string;
  readonly text: string;
}

/** Files by their URIs. */
export type SourceFiles = ReadonlyMap<string, SourceFile>;

/** More files, or deeper nesting, than any project has. */
const mostFiles = 300;
const mostRequests = 4 * mostFiles;
const deepest = 10;
/** Kustomizations may include each other in many ways: what one build reads again and again, and what it makes, ends here. */
const mostBuilds = 1000;
const mostObjects = 10_000;

/** Reads all that a kustomization is made of. What cannot be read is left out. */
export async function collectFiles(
  kustomization: string,
  read: (uri: string) => Promise<SourceFile | undefined>,
): Promise<SourceFiles> {
  const files = new Map<string, SourceFile>();
  // What is not there costs a look, too.
  const requests = new Set<string>();
  const visit = async (uri: string, depth: number): Promise<boolean> => {
    if (files.has(uri)) return true;
    if (requests.has(uri) || files.size >= mostFiles || requests.size >= mostRequests || depth > deepest) return false;
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

/** What a file says as a kustomization, read once. */
const kustomizationIn = once(({ text }: SourceFile) => readKustomization(text));

/** The objects that a kustomization makes. @param without a patch to leave out, by its URI */
export function buildObjects(kustomization: string, files: SourceFiles, without?: string): readonly BuiltObject[] {
  return build(kustomization, { files, without, way: new Set(), builds: mostBuilds, objects: mostObjects }, 0);
}

/** The patch of a kustomization that a file is; undefined where it is none. */
export function patchIn(kustomization: SourceFile, file: string): Patch | undefined {
  return patchesIn(kustomization).get(nameOf(file));
}

/** Of a folder of many files each one looks for itself. */
const patchesIn = once((kustomization: SourceFile): ReadonlyMap<string, Patch> => {
  const patches = new Map<string, Patch>();
  for (const patch of kustomizationIn(kustomization)?.patches ?? []) {
    const file = patch.path === undefined ? undefined : resolvePath(kustomization.uri, patch.path);
    if (file !== undefined && !patches.has(nameOf(file))) patches.set(nameOf(file), patch);
  }
  return patches;
});

/** The objects that a patch is laid over. */
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

/** An object with the last of its patches laid over it, as its kustomization makes it. */
export function withLastPatch(object: BuiltObject, patch: YamlNode): YamlNode {
  const made = withPatch(object, patch);
  return object.finish === undefined ? made : object.finish(made);
}

function withPatch(object: BuiltObject, patch: YamlNode): YamlNode {
  if (isJsonPatch(patch)) return applyJsonPatch(object.root, patch);
  return patch.kind === 'map' ? mergeStrategic(object.root, patch, isBuiltIn(object.group)) : object.root;
}

export function isKustomization(uri: string): boolean {
  return kustomizationNames.some((name) => uri.endsWith(`/${name}`));
}

/** One build, and what it may still do. */
interface Build {
  readonly files: SourceFiles;
  readonly without: string | undefined;
  /** The kustomizations on the way down: none of them may come again. */
  readonly way: Set<string>;
  builds: number;
  objects: number;
}

function build(uri: string, state: Build, depth: number): readonly BuiltObject[] {
  return entered(uri, state, depth, [], (said) =>
    transform(uri, said, loadAll(uri, said.resources, state, depth), state, depth),
  );
}

/** @param otherwise where the kustomization is not read, is one of those that include it, or too much is built already */
function entered(
  uri: string,
  state: Build,
  depth: number,
  otherwise: readonly BuiltObject[],
  make: (said: Kustomization) => readonly BuiltObject[],
): readonly BuiltObject[] {
  const file = state.files.get(uri);
  const said = file && kustomizationIn(file);
  if (said === undefined || depth > deepest || state.builds <= 0 || state.way.has(uri)) return otherwise;
  state.builds -= 1;
  state.way.add(uri);
  const made = make(said);
  state.way.delete(uri);
  return made;
}

function transform(
  uri: string,
  said: Kustomization,
  loaded: readonly BuiltObject[],
  state: Build,
  depth: number,
): readonly BuiltObject[] {
  const { files, without } = state;
  let objects = loaded;
  for (const path of new Set(said.components)) {
    const component = kustomizationAt(uri, path, files);
    if (component === undefined) continue;
    const before = objects;
    objects = entered(component, state, depth, before, (inner) => {
      const added = loadAll(component, inner.resources, state, depth + 1);
      return transform(component, inner, [...before, ...added], state, depth + 1);
    });
  }
  for (const { path, text, target } of said.patches) {
    const from = path === undefined ? undefined : resolvePath(uri, path);
    if (isSame(from, without)) continue;
    for (const { root: patch } of parseYaml(text ?? files.get(from ?? '')?.text ?? '').documents) {
      if (patch === null) continue;
      const over = new Set(patched(objects, patch, target));
      const added = from === undefined ? [] : [from];
      objects = objects.map((object) =>
        over.has(object)
          ? { ...object, root: withPatch(object, patch), sources: [...object.sources, ...added] }
          : object,
      );
    }
  }
  // A patch that is left out will be laid over the objects, and only then the others come.
  const last = (object: BuiltObject, root: YamlNode) => transformed(root, object.kind, object.names, said);
  const awaited = depth === 0 && without !== undefined;
  objects = objects.map((object) =>
    awaited ? { ...object, finish: (root) => last(object, root) } : { ...object, root: last(object, object.root) },
  );
  const { namePrefix, nameSuffix } = said;
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
    if (source !== undefined) {
      const objects = objectsIn(source).slice(0, state.objects);
      state.objects -= objects.length;
      return objects;
    }
    const inner = kustomizationAt(uri, path, state.files);
    return inner === undefined ? [] : build(inner, state, depth + 1);
  });
}

/** The objects of a file, read once however many overlays take them. */
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

/** A path next to a file, as a URI; undefined for addresses of other machines, and for what lies above the root: its first step would be a host. */
function resolvePath(from: string, path: string): string | undefined {
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

/** Clients differ in which characters of a path they escape. */
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

/** Names are regular expressions in kustomize, and nearly always plain: only those, and a trailing `.*`, are read. */
function matches(pattern: string, name: string): boolean {
  const plain = pattern.replace(/^\^/, '').replace(/\$$/, '');
  return plain.endsWith('.*') ? name.startsWith(plain.slice(0, -2)) : name === plain;
}

/** Kinds whose schema kustomize has built in: of the API groups of Kubernetes itself. */
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
