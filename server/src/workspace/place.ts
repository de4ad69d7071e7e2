// If several objects have the same name, a reference means the nearest. A folder of examples has many unrelated objects with the same name.

/** A file, by its path. */
export interface Place {
  /** The file's normalized URI. */
  readonly key: string;
  /** The folders of its path, from the root. */
  readonly folders: readonly string[];
  readonly fileName: string;
}

/**
 * The place of a file.
 * @param key its normalized URI
 */
export function placeAt(key: string): Place {
  const folders = key.split('/');
  const fileName = folders.pop() ?? '';
  return { key, folders, fileName };
}

/** The candidates in the same file, otherwise those in the same folder, otherwise those below the nearest parent folder that has any. */
export function nearest<T extends Place>(candidates: readonly T[], from: Place): readonly T[] {
  if (candidates.length < 2) return candidates;
  const distances = candidates.map((candidate) => distanceOf(candidate, from));
  const least = Math.min(...distances);
  return candidates.filter((_, index) => distances[index] === least);
}

/** A distance that grows with the steps up to a common folder; -1 for the same file. */
function distanceOf(place: Place, { folders, fileName }: Place): number {
  const common = commonFolders(place.folders, folders);
  const up = folders.length - common;
  if (up > 0 || place.folders.length > common) return up * 2 + (place.folders.length > common ? 1 : 0);
  return place.fileName === fileName ? -1 : 0;
}

/** Whether the path to a folder leads up and then down again. */
export function isInSiblingFolder(from: Pick<Place, 'folders'>, to: readonly string[]): boolean {
  const common = commonFolders(from.folders, to);
  return common < from.folders.length && common < to.length;
}

/** The path of a file below the folder that it shares with another file; null for the same file. */
export function pathFrom(from: Place, to: Place): string | null {
  const common = commonFolders(from.folders, to.folders);
  const below = to.folders.slice(common);
  if (below.length === 0 && common === from.folders.length && from.fileName === to.fileName) return null;
  return [...below, to.fileName].join('/');
}

function commonFolders(a: readonly string[], b: readonly string[]): number {
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) common += 1;
  return common;
}
