import fs from 'node:fs';
import path from 'node:path';

/** The project of a run: what it may read without having been given it by name. */
export interface Reach {
  /** Whether a path is below one of the roots as it is written, whatever links it goes through. */
  covers(file: string): boolean;
  /** Whether a file that is there is in truth elsewhere, because a symbolic link leads to it, or belongs to the system. */
  leadsOutside(file: string): boolean;
}

/**
 * The roots of the paths that were given: for each the repository that it is in; without one the folder that the command runs in, if the path
 * is below it, else the folder itself that was given or that the file is in. A folder that is a link itself was opened by who named it.
 */
export function reachOf(paths: readonly string[]): Reach {
  const roots = new Set<string>();
  for (const given of paths) {
    const start = path.resolve(given);
    const folder = isFolder(start) ? start : path.dirname(start);
    for (const root of folder === start ? [rootOf(folder), folder] : [rootOf(folder)]) {
      roots.add(root);
      roots.add(realPath(root) ?? root);
    }
  }
  const all = [...roots];
  const covers = (file: string) => all.some((root) => isBelow(file, root));
  return {
    covers,
    leadsOutside(file) {
      const real = realPath(file);
      return real !== undefined && (!covers(real) || isOfSystem(real));
    },
  };
}

/** The nearest folder with a `.git`, from a folder upward; undefined where there is none. */
export function repositoryOf(folder: string): string | undefined {
  for (let here = folder; ; here = path.dirname(here)) {
    if (fs.existsSync(path.join(here, '.git'))) return here;
    if (path.dirname(here) === here) return undefined;
  }
}

/** Whether a path leads into a file system that the kernel makes up: reading there asks or tells the machine something. */
export function isOfSystem(file: string): boolean {
  const isThere = (name: string) => ['/proc', '/sys', '/dev'].some((folder) => isBelow(name, folder));
  return isThere(file) && !isBelow(file, '/dev/shm') && isThere(realPath(file) ?? file);
}

export function isFolder(name: string): boolean {
  // A link that leads to itself, or a name that is too long, leads to no folder.
  const real = realPath(name);
  return real !== undefined && fs.statSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
}

function rootOf(folder: string): string {
  const here = path.resolve('.');
  return repositoryOf(folder) ?? (isBelow(folder, here) ? here : folder);
}

function isBelow(file: string, folder: string): boolean {
  return file === folder || file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** Without symbolic links; undefined where nothing is there. */
export function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync.native(file);
  } catch {
    return undefined;
  }
}
