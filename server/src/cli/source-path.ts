import path from 'node:path';
import { type InputFile, standardInput } from './files.ts';
import { repositoryOf } from './reach.ts';

/** The root of the repository that contains the working directory, or the working directory itself: the base of paths in CI reports. */
export function sourceRoot(): string {
  const start = path.resolve('.');
  return repositoryOf(start) ?? start;
}

/** The path of an input relative to the root, with forward slashes; absolute if it is outside. */
export function sourcePath(root: string, { file, path: shown }: InputFile): string {
  if (file === standardInput) return shown;
  return (pathInside(root, file) ?? file).split(path.sep).join('/');
}

/** A path as messages show it: relative to the working directory, or absolute if it is outside. */
export function displayPath(file: string): string {
  return pathInside('.', file) ?? file;
}

/** Relative to the folder, `.` for the folder itself; undefined if the file is outside. */
function pathInside(folder: string, file: string): string | undefined {
  const below = path.relative(folder, file);
  const outside = below === '..' || below.startsWith(`..${path.sep}`) || path.isAbsolute(below);
  return outside ? undefined : below || '.';
}
