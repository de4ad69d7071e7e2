import fs from 'node:fs';
import path from 'node:path';

/** More than any kubeconfig or token has. */
const maxBytes = 5_000_000;

/** A path that the user of the machine has set: `~` is the home folder. */
export function ownPath(file: string, home: string): string {
  return file.replace(/^~(?=[/\\]|$)/, home);
}

/** The text of such a file; undefined if it cannot be read, is not a regular file, or is too large. */
export function ownFile(file: string, home: string): string | undefined {
  try {
    const place = path.resolve(ownPath(file, home));
    // Opening a pipe would never end.
    return isUsual(fs.statSync(place)) ? fs.readFileSync(place, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a file is a regular one of a usual size. */
export function isUsual(stats: fs.Stats): boolean {
  return stats.isFile() && stats.size <= maxBytes;
}
