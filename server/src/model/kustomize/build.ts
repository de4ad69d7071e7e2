import type { YamlNode } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { groupOf, lowerManifests } from '../manifest.ts';
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
  /** What its kustomization does to it after all patches, where one of them is still to come. */
  readonly finish?: (root: YamlNode) => YamlNode;
}

/** The texts of files by their URIs. */
export type Texts = ReadonlyMap<string, string>;

/** More files, or deeper nesting, than any project has. */
const mostFiles = 300;
const mostAsked = 4 * mostFiles;
const deepest = 10;

/** Reads all that a kustomization is made of. What cannot be read is left out. */
export async function collectTexts(
  kustomization: string,
  read: (uri: string) => Promise<string | undefined>,
): Promise<Texts> {
  const texts = new Map<string, string>();
  // What is not there costs a look, too.
  const asked = new Set<string>();
  const visit = async (uri: string, depth: number): Promise<boolean> => {
    if (texts.has(uri)) return true;
    if (asked.has(uri) || texts.size >= mostFiles || asked.size >= mostAsked || depth > deepest) return false;
    asked.add(uri);
    const text = await read(uri);
    if (text === undefined) return false;
    texts.set(uri, text);
    if (!isKustomization(uri)) return true;
    const { resources = [], components = [], patches = [] } = readKustomization(text) ?? {};
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
  return texts;
}

/** The objects that a kustomization makes. @param without a patch to leave out, by its URI */
export function buildObjects(kustomization: string, texts: Texts, without?: string): readonly BuiltObject[] {
  return build(kustomization, texts, without, 0);
}

/** The patch of a kustomization that a file is; undefined where it is none. */
export function patchIn(kustomization: string, text: string, file: string): Patch | undefined {
  return readKustomization(text)?.patches.find(
    ({ path }) => path !== undefined && isSame(resolvePath(kustomization, path), file),
  );
}

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

function build(uri: string, texts: Texts, without: string | undefined, depth: number): readonly BuiltObject[] {
  const said = readKustomization(texts.get(uri) ?? '');
  if (said === undefined || depth > deepest) return [];
  return transform(uri, said, loadAll(uri, said.resources, texts, without, depth), texts, without, depth);
}

function transform(
  uri: string,
  said: Kustomization,
  loaded: readonly BuiltObject[],
  texts: Texts,
  without: string | undefined,
  depth: number,
): readonly BuiltObject[] {
  let objects = loaded;
  for (const path of said.components) {
    const component = kustomizationAt(uri, path, texts);
    const text = component === undefined ? undefined : texts.get(component);
    const inner = text === undefined ? undefined : readKustomization(text);
    if (component === undefined || inner === undefined || depth > deepest) continue;
    const added = loadAll(component, inner.resources, texts, without, depth + 1);
    objects = transform(component, inner, [...objects, ...added], texts, without, depth + 1);
  }
  for (const { path, text, target } of said.patches) {
    const from = path === undefined ? undefined : resolvePath(uri, path);
    if (isSame(from, without)) continue;
    for (const { root: patch } of parseYaml(text ?? texts.get(from ?? '') ?? '').documents) {
      if (patch === null) continue;
      const over = new Set(patched(objects, patch, target));
      objects = objects.map((object) => (over.has(object) ? { ...object, root: withPatch(object, patch) } : object));
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

function loadAll(
  uri: string,
  resources: readonly string[],
  texts: Texts,
  without: string | undefined,
  depth: number,
): readonly BuiltObject[] {
  return resources.flatMap((path) => {
    const file = resolvePath(uri, path);
    const text = file === undefined ? undefined : texts.get(file);
    if (file !== undefined && text !== undefined) return objectsOf(file, text);
    const inner = kustomizationAt(uri, path, texts);
    return inner === undefined ? [] : build(inner, texts, without, depth + 1);
  });
}

function objectsOf(uri: string, text: string): readonly BuiltObject[] {
  const file = uri.slice(uri.lastIndexOf('/') + 1);
  return parseYaml(text).documents.flatMap((document) =>
    lowerManifests(document).map(({ root, apiVersion, kind, name }) => ({
      root: root.node,
      group: groupOf(apiVersion),
      kind,
      names: name === null ? [] : [name],
      file,
    })),
  );
}

function kustomizationAt(uri: string, path: string, texts: Texts): string | undefined {
  const folder = resolvePath(uri, path);
  return kustomizationNames.map((name) => `${folder}/${name}`).find((file) => texts.has(file));
}

/** A path beside a file, as a URI; undefined for addresses of other machines, and for what lies above the root: its first step would be a host. */
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

/** Clients differ in which characters of a path they escape. */
function isSame(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  if (one === other) return true;
  try {
    return decodeURIComponent(one) === decodeURIComponent(other);
  } catch {
    return false;
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
