import path from 'node:path';
import { type InputFile, standardInput } from './files.ts';
import { repositoryOf } from './reach.ts';

/** The root of the repository that the command runs in, or the folder it runs in: what paths in reports for CI are relative to. */
export function sourceRoot(): string {
  const start = path.resolve('.');
  return repositoryOf(start) ?? start;
}

/** The path of an input below the root, with forward slashes; absolute where it is outside. */
export function sourcePath(root: string, { file, path: shown }: InputFile): string {
  if (file === standardInput) return shown;
  const below = path.relative(root, file);
  const outside = below === '..' || below.startsWith(`..${path.sep}`) || path.isAbsolute(below);
  return (outside ? file : below).split(path.sep).join('/');
}

/** A path as messages show it: from here, or absolute where it is not below. */
export function placeShown(file: string): string {
  const below = path.relative('.', file);
  return below.startsWith('..') ? file : below;
}
