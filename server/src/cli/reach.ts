import fs from 'node:fs';
import path from 'node:path';

/** The project of a run: what it may read without being named on the command line. */
export interface Reach {
  /** Whether a path as written is below one of the roots, whatever links it contains. */
  covers(file: string): boolean;
  /** Whether an existing file is really outside the roots, through a symbolic link, or belongs to the system. */
  leadsOutside(file: string): boolean;
}

/**
 * The roots of the path arguments: for each path its repository; without one, the working directory if the path is below it, otherwise the
 * named folder or the folder of the named file. A named folder that is itself a link was opened on purpose.
 */
export function reachOf(paths: readonly string[]): Reach {
  const roots = new Set<string>();
  for (const argument of paths) {
    const start = path.resolve(argument);
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
      return real !== undefined && (!covers(real) || isSystemPath(real));
    },
  };
}

/** The nearest folder with a `.git`, from this folder upward; undefined if there is none. */
export function repositoryOf(folder: string): string | undefined {
  for (let here = folder; ; here = path.dirname(here)) {
    if (fs.existsSync(path.join(here, '.git'))) return here;
    if (path.dirname(here) === here) return undefined;
  }
}

/** Whether a path leads into a virtual file system of the kernel, where reading queries or changes the machine. */
export function isSystemPath(file: string): boolean {
  const isVirtual = (name: string) => ['/proc', '/sys', '/dev'].some((folder) => isBelow(name, folder));
  return isVirtual(file) && !isBelow(file, '/dev/shm') && isVirtual(realPath(file) ?? file);
}

export function isFolder(name: string): boolean {
  // A link to itself, or a name that is too long, is not a folder.
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

/** The path without symbolic links; undefined if nothing exists there. */
export function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync.native(file);
  } catch {
    return undefined;
  }
}
