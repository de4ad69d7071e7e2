import { lazy } from '../yaml/lazy.ts';
import type { Place } from './place.ts';

/**
 * Objects or references of one name or kind, by folder. A lookup takes as many steps as the path of the file has folders, however many items
 * there are. The same lookup returns the same array, so that results can be cached by identity.
 */
export interface PlaceIndex<T extends Place> {
  /** Sorted by file and by position in the file, whatever the order in which the files were read. */
  readonly all: readonly T[];
  /** The items in the same file, otherwise those in the same folder, otherwise those below the nearest parent folder that has any. */
  nearest(from: Place): readonly T[];
  /** The items in the same file, otherwise those directly in the nearest folder of its path. */
  nearestAbove(from: Place): readonly T[];
  /** All items directly in a folder of the file's path. */
  above(from: Place): readonly T[];
  /** The number of items that `above` returns. */
  countAbove(from: Place): number;
  /** Whether any item is in a folder that is neither above the file's folder nor below it. */
  isAnyInSiblingFolder(from: Place): boolean;
}

/** @param all sorted */
export function indexByPlace<T extends Place>(all: readonly T[]): PlaceIndex<T> {
  const byPath = lazy(() => {
    const inFile = new Map<string, T[]>();
    const inFolder = new Map<string, T[]>();
    const below = new Map<string, T[]>();
    for (const one of all) {
      add(inFile, one.key, one);
      const paths = pathsAbove(one.key);
      for (const path of paths) add(below, path, one);
      add(inFolder, paths[0] ?? '', one);
    }
    return { inFile, inFolder, below };
  });
  const countAbove = ({ key }: Place) =>
    pathsAbove(key).reduce((sum, path) => sum + (byPath().inFolder.get(path)?.length ?? 0), 0);
  return {
    all,
    nearest({ key }) {
      if (all.length < 2) return all;
      const { inFile, inFolder, below } = byPath();
      return inFile.get(key) ?? firstOf(pathsAbove(key), (path) => inFolder.get(path) ?? below.get(path)) ?? all;
    },
    nearestAbove({ key }) {
      const { inFile, inFolder } = byPath();
      return inFile.get(key) ?? firstOf(pathsAbove(key), (path) => inFolder.get(path)) ?? [];
    },
    above: ({ key }) => (all.length === 0 ? all : pathsAbove(key).flatMap((path) => byPath().inFolder.get(path) ?? [])),
    countAbove,
    isAnyInSiblingFolder(from) {
      const { inFolder, below } = byPath();
      const own = pathsAbove(from.key)[0] ?? '';
      return countAbove(from) + (below.get(own)?.length ?? 0) - (inFolder.get(own)?.length ?? 0) < all.length;
    },
  };
}

function firstOf<T>(paths: readonly string[], at: (path: string) => T | undefined): T | undefined {
  for (const path of paths) {
    const found = at(path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The folders of a file's path, innermost first, each with a trailing slash. The last one is empty. */
function pathsAbove(key: string): readonly string[] {
  let end = key.lastIndexOf('/') + 1;
  const paths = [key.slice(0, end)];
  while (end > 0) {
    end = end === 1 ? 0 : key.lastIndexOf('/', end - 2) + 1;
    paths.push(key.slice(0, end));
  }
  return paths;
}

function add<T>(to: Map<string, T[]>, path: string, one: T): void {
  const known = to.get(path);
  if (known === undefined) to.set(path, [one]);
  else known.push(one);
}
