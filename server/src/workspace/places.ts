import { lazy } from '../yaml/lazy.ts';
import type { Place } from './place.ts';

/**
 * Things of one name or kind, by where they stand. What is near a file is found in as many steps as its path has folders, however many there are.
 * The same question has the same array as its answer, so that what follows from an answer can be kept with it.
 */
export interface Places<T extends Place> {
  /** Sorted by file, and in a file as they stand: never by when the files were read. */
  readonly all: readonly T[];
  /** Those in the same file; else those in the same folder; else those below the nearest folder above that has one. */
  nearest(from: Place): readonly T[];
  /** Those in the same file; else those in the nearest folder of its path, without its sibling folders. */
  nearestAbove(from: Place): readonly T[];
  /** All in the folders of a file's path. */
  above(from: Place): readonly T[];
  /** How many those are. */
  countAbove(from: Place): number;
  /** Whether one of them is in a folder that is neither above the file's nor below it. */
  isAnyApart(from: Place): boolean;
}

/** @param all sorted */
export function placesOf<T extends Place>(all: readonly T[]): Places<T> {
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
    isAnyApart(from) {
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

/** The folders that a file is in, from its own up to all there are, each with its slash. */
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
