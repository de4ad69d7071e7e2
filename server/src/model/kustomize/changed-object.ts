import { asText, getIn, rootCursor } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import { groupOf } from '../manifest.ts';
import type { SourceFile } from './built-object.ts';
import type { Kustomization } from './kustomization.ts';
import { external } from './merge.ts';
import { applyPatches, inlineRoots, rootsIn } from './patches.ts';
import { transformed } from './transformers.ts';

/**
 * An object that a chart makes, with what kustomize then changes in it.
 * @param name the name in the cluster, if a template computes it
 * @param changes kustomizations in their order
 * @param files the files of their patches, by their paths as written
 */
export function changedObject(
  made: YamlNode,
  name: string | undefined,
  changes: readonly Kustomization[],
  files: ReadonlyMap<string, SourceFile>,
): YamlNode {
  if (changes.length === 0) return made;
  const at = rootCursor(made);
  const [version, kind = '', written] = [['apiVersion'], ['kind'], ['metadata', 'name']].map((path) =>
    asText(getIn(at, ...path)),
  );
  const names = [name, written].flatMap((one) => one ?? []);
  const object = { root: made, group: groupOf(version ?? ''), kind, names, file: '', sources: [] };
  const root = changes.reduce((before, kustomization) => {
    const patches = kustomization.patches.flatMap((patch) => {
      const file = patch.path === undefined ? undefined : files.get(patch.path);
      const roots = patch.text === undefined ? file && rootsIn(file) : inlineRoots(patch);
      return (roots ?? []).map((one) => ({ patch: one, target: patch.target, file: undefined }));
    });
    const [patched = object] = applyPatches([{ ...object, root: before }], patches);
    return transformed(patched.root, kind, names, kustomization);
  }, made);
  return external(root);
}
