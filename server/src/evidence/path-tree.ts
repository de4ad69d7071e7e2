import { type Cursor, childAt } from '../yaml/cursor.ts';
import { cursorsIn } from './written.ts';

/**
 * Many paths, written as for `placesAt`, each with what belongs to it. A search reads each part of an object once, however many of the paths go
 * through it, and most objects have few of the fields.
 */
export interface PathTree<T> {
  /** What belongs to the paths that end here. */
  readonly values: T[];
  readonly branches: { readonly step: string; readonly tree: PathTree<T> }[];
}

export function pathTree<T>(paths: readonly (readonly [path: string, value: T])[]): PathTree<T> {
  const root: PathTree<T> = { values: [], branches: [] };
  for (const [path, value] of paths) path.split('.').reduce(branchOf, root).values.push(value);
  return root;
}

function branchOf<T>(tree: PathTree<T>, step: string): PathTree<T> {
  const known = tree.branches.find((one) => one.step === step);
  if (known !== undefined) return known.tree;
  const branch: PathTree<T> = { values: [], branches: [] };
  tree.branches.push({ step, tree: branch });
  return branch;
}

/** A place at one of the paths. */
export interface PlaceInTree<T> {
  readonly at: Cursor;
  readonly value: T;
}

/** All places at the paths of a tree. */
export function placesInTree<T>(root: Cursor | undefined, tree: PathTree<T>): readonly PlaceInTree<T>[] {
  const found: PlaceInTree<T>[] = [];
  if (root !== undefined) search(root, tree, found);
  return found;
}

function search<T>(at: Cursor, { values, branches }: PathTree<T>, found: PlaceInTree<T>[]): void {
  for (const value of values) found.push({ at, value });
  for (const { step, tree } of branches) {
    if (step === '*') {
      for (const each of cursorsIn(at)) search(each, tree, found);
      continue;
    }
    const child = childAt(at, step);
    if (child !== undefined) search(child, tree, found);
  }
}
