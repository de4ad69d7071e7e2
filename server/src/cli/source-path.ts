import fs from 'node:fs';
import path from 'node:path';
import { type InputFile, standardInput } from './files.ts';

/** The root of the repository that the command runs in, or the folder it runs in: what paths in reports for CI are relative to. */
export function sourceRoot(): string {
  const start = path.resolve('.');
  let folder = start;
  while (!fs.existsSync(path.join(folder, '.git'))) {
    const above = path.dirname(folder);
    if (above === folder) return start;
    folder = above;
  }
  return folder;
}

/** The path of an input below the root, with forward slashes; absolute where it is outside. */
export function sourcePath(root: string, { file, path: shown }: InputFile): string {
  if (file === standardInput) return shown;
  const below = path.relative(root, file);
  const outside = below === '..' || below.startsWith(`..${path.sep}`) || path.isAbsolute(below);
  return (outside ? file : below).split(path.sep).join('/');
}
