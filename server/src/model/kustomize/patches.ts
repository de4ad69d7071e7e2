import type { YamlMap, YamlNode } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { once } from '../once.ts';
import type { BuiltObject } from './built-object.ts';
import { applyJsonPatch, isJsonPatch } from './json-patch.ts';
import type { Patch, PatchTarget } from './kustomization.ts';
import { mergeStrategic } from './merge.ts';
import { meets } from './selector.ts';

/** The objects to which a patch applies. */
export function patched(
  objects: readonly BuiltObject[],
  patch: YamlNode,
  target: PatchTarget | undefined,
): readonly BuiltObject[] {
  if (target !== undefined) return objects.filter((object) => isTarget(object, target));
  const kind = textAt(patch, 'kind');
  const name = patchedName(patch);
  if (kind === undefined || name === undefined) return [];
  return objects.filter((object) => object.kind === kind && object.names.includes(name));
}

/** A patch of a kustomization, and the URI of its file; an inline patch has none. */
export interface LoadedPatch {
  readonly patch: YamlNode;
  readonly target: PatchTarget | undefined;
  readonly file: string | undefined;
}

/** Applies patches in their order. One that names its object is not compared with the hundreds of others that a kustomization can have. */
export function applyPatches(objects: readonly BuiltObject[], patches: Iterable<LoadedPatch>): readonly BuiltObject[] {
  const made = [...objects];
  // Patches change neither kinds nor names.
  const places = new Map<string, number[]>();
  for (const [place, { names }] of objects.entries()) {
    for (const name of new Set(names)) {
      const known = places.get(name);
      if (known === undefined) places.set(name, [place]);
      else known.push(place);
    }
  }
  for (const { patch, target, file } of patches) {
    const name = target === undefined ? patchedName(patch) : plainName(target);
    for (const place of name === undefined ? made.keys() : (places.get(name) ?? [])) {
      const object = made[place];
      if (object === undefined || patched([object], patch, target).length === 0) continue;
      const sources = file === undefined ? object.sources : [...object.sources, file];
      made[place] = { ...object, root: withPatch(object, patch), sources, patched: true };
    }
  }
  return made;
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
  if (patch.kind !== 'map') return object.root;
  const isRenamed = patchedName(patch) !== patchedName(object.root);
  return mergeStrategic(object.root, isRenamed ? withoutName(patch) : patch, isBuiltIn(object.group));
}

/** A patch with a target can have any name, which the object does not get. */
function withoutName(patch: YamlMap): YamlMap {
  const entries = patch.entries.map((entry) => {
    const { key, value } = entry;
    if (key !== 'metadata' || value.kind !== 'map') return entry;
    return { ...entry, value: { ...value, entries: value.entries.filter((one) => one.key !== 'name') } };
  });
  return { ...patch, entries };
}

function isTarget(object: BuiltObject, target: PatchTarget): boolean {
  const { group, kind, name, selected, labels = [], annotations = [] } = target;
  if (selected || (kind !== undefined && kind !== object.kind) || (group !== undefined && group !== object.group))
    return false;
  if (!meets(object.root, 'labels', labels) || !meets(object.root, 'annotations', annotations)) return false;
  return name === undefined || object.names.some((one) => matches(name, one));
}

function patchedName(patch: YamlNode): string | undefined {
  return textAt(nodeAt(patch, 'metadata'), 'name');
}

/** The only name that a target can mean; undefined if it can mean several. */
function plainName({ name }: PatchTarget): string | undefined {
  const plain = name && withoutAnchors(name);
  return plain?.endsWith('.*') ? undefined : plain;
}

/** kustomize treats names as regular expressions. Only plain names and a trailing `.*` are supported here: others are rare. */
function matches(pattern: string, name: string): boolean {
  const plain = withoutAnchors(pattern);
  return plain.endsWith('.*') ? name.startsWith(plain.slice(0, -2)) : name === plain;
}

function withoutAnchors(pattern: string): string {
  return pattern.replace(/^\^/, '').replace(/\$$/, '');
}

/** Whether kustomize has the schema of a group's kinds: the API groups of Kubernetes itself. */
function isBuiltIn(group: string): boolean {
  return !group.includes('.') || (group.endsWith('.k8s.io') && !group.endsWith('x-k8s.io'));
}

/** The documents of a patch, parsed once for all builds. One with an error of syntax changes nothing: what it would change is unknown. */
export const rootsIn = once(({ text }: { readonly text: string }) =>
  parseYaml(text).documents.flatMap(({ root, problems }) =>
    root === null || problems.some(({ readable }) => readable !== true) ? [] : root,
  ),
);
export const inlineRoots = once(({ text = '' }: Patch) => rootsIn({ text }));

function nodeAt(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
}

function textAt(node: YamlNode | undefined, key: string): string | undefined {
  const value = nodeAt(node, key);
  return value?.kind === 'scalar' && value.value !== null ? value.source : undefined;
}
