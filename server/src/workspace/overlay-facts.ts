import { namesAcceleratorResources } from '../model/concern.ts';
import { kustomizationAt, type Patch, type PatchTarget } from '../model/kustomize/kustomization.ts';
import { inlineRoots } from '../model/kustomize/patches.ts';
import { asText, getIn, rootCursor } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { unescaped } from './kinds.ts';

/** What a kustomization may add to objects that it includes. */
export interface OverlayFacts {
  /** The folders of its components, as written. */
  readonly components: readonly string[];
  /** Inline patches that name resources of accelerators, and files of operations. */
  readonly patches: readonly OverlayPatch[];
  /** The names of the images whose tag or digest it sets. */
  readonly images: readonly string[];
}

/** A patch of a kustomization: its file (null for an inline patch) and the objects that it changes. */
export interface OverlayPatch {
  readonly path: string | null;
  readonly target: PatchTarget;
}

/** The facts of a kustomization, and the paths that it includes; undefined if it has none. */
export function overlayIn({
  root,
}: YamlDocument): { readonly facts: OverlayFacts; readonly resources: readonly string[] } | undefined {
  if (root?.kind !== 'map') return undefined;
  const { resources, components, patches, images } = kustomizationAt(rootCursor(root));
  const set = images.filter(({ newTag, digest }) => newTag !== undefined || digest !== undefined);
  const facts = { components, patches: patches.flatMap(overlayPatches), images: set.map(({ name }) => name) };
  return resources.length + components.length + patches.length === 0 ? undefined : { facts, resources };
}

/** The group of the paths that a kustomization includes. */
export const included = 'included';

function overlayPatches(patch: Patch): readonly OverlayPatch[] {
  const { path, text = '', target } = patch;
  // The objects of other files name their target.
  if (path !== undefined) return target === undefined ? [] : [{ path, target }];
  if (!namesAcceleratorResources(unescaped(text))) return [];
  if (target !== undefined) return [{ path: null, target }];
  return inlineRoots(patch).flatMap((node) => {
    const root = rootCursor(node);
    const [kind, name] = [asText(getIn(root, 'kind')), asText(getIn(root, 'metadata', 'name'))];
    return name === undefined ? [] : [{ path: null, target: { group: undefined, kind, name, selected: false } }];
  });
}
