import { normalizeUri } from '../config/places.ts';
import { emptyMap } from '../model/kustomize/merge.ts';
import { patched } from '../model/kustomize/patches.ts';
import { resolvePath } from '../model/kustomize/paths.ts';
import { kustomizationKind, operationsKind } from './kinds.ts';
import { factsAs, type Scope } from './named.ts';
import { included } from './overlay-facts.ts';
import type { ObjectSummary } from './summary.ts';
import { type Found, nameOf } from './workspace.ts';

// Which overlays apply to a file: a base says only a part of what runs.

/** The kinds that decide whether overlays add accelerators to an object of a kind. */
export function overlayKinds(kind: string): readonly string[] {
  return [kustomizationKind, operationsKind, kind];
}

/** Whether a kustomization that includes the file adds accelerators to an object of it. Linear in the number of those kustomizations. */
export function overlaysAddAccelerators(scope: Scope, group: string, kind: string, name: string): boolean {
  const folders = foldersOver(scope);
  if (folders.size === 0) return false;
  const { workspace } = scope;
  const named = workspace.objects(kind, nameOf, name, name).all;
  if (named.some((found) => found.key !== scope.key && isBelow(found.key, folders) && addsAccelerators(found.object)))
    return true;
  workspace.dependOn([operationsKind]);
  const target = { root: emptyMap, group, kind, names: [name], file: '', sources: [] };
  return [...folders].some((folder) =>
    kustomizationsIn(scope, folder).some(({ uri, object }) =>
      (factsAs(object, 'overlay')?.patches ?? []).some((one) => {
        if (patched([target], emptyMap, one.target).length === 0) return false;
        const file = one.path === null ? undefined : resolvePath(uri, one.path);
        return one.path === null || (file !== undefined && workspace.file(file)?.summary.kinds.has(operationsKind));
      }),
    ),
  );
}

/** Whether a kustomization that includes the file, or its folder, sets the tag or the digest of an image. */
export function overlaysSetImage(scope: Scope, name: string): boolean {
  return [...foldersOver(scope, [scope.key, folderOf(scope.key)])].some((folder) =>
    kustomizationsIn(scope, folder).some(({ object }) => factsAs(object, 'overlay')?.images.includes(name) === true),
  );
}

/** The folders of the kustomizations that include a file, directly or through others, and of their components. */
function foldersOver(scope: Scope, from: readonly string[] = [scope.key]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...from];
  for (let place = waiting.pop(); place !== undefined && found.size < maxFolders; place = waiting.pop()) {
    for (const { key } of scope.workspace.objects(kustomizationKind, targetOf, place).all) add(folderOf(key));
    for (const { uri, object } of kustomizationsIn(scope, place))
      for (const path of factsAs(object, 'overlay')?.components ?? []) {
        const component = resolvePath(uri, path);
        if (component !== undefined) add(normalizeUri(component));
      }
  }
  return found;

  function add(folder: string): void {
    if (found.has(folder)) return;
    found.add(folder);
    waiting.push(folder);
  }
}

/** More than any project has. */
const maxFolders = 1000;

function kustomizationsIn({ workspace }: Scope, folder: string): readonly Found[] {
  return workspace.objects(kustomizationKind, ownFolder, folder).all;
}

function targetOf({ uri, object }: Found): string | undefined {
  const target = object.group === included ? resolvePath(uri, object.name) : undefined;
  return target && normalizeUri(target);
}

function ownFolder({ key, object }: Found): string | undefined {
  return object.group === included ? undefined : folderOf(key);
}

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

function isBelow(key: string, folders: ReadonlySet<string>): boolean {
  for (let folder = folderOf(key); folder.includes('/'); folder = folderOf(folder))
    if (folders.has(folder)) return true;
  return false;
}

function addsAccelerators(object: ObjectSummary): boolean {
  return object.facts()?.type === 'patch' || Object.keys(factsAs(object, 'workload')?.demand ?? {}).length > 0;
}
