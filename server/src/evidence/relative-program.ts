import { startFolder, startsAtRoot } from '../catalog/image-programs.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';
import { asText, getIn, isTemplated, isUnseen, type Located } from '../yaml/cursor.ts';

/** A program of the system whose path lacks its first slash. */
export interface RelativeProgram {
  readonly at: Located<string>['at'];
  readonly path: string;
  /** The folder in which it is looked for; undefined: that of the image, which is unknown. */
  readonly folder: string | undefined;
}

/**
 * The program of a command such as `bin/sh`, which the runtime looks for in the working directory because of the slash in it. Undefined if that
 * is the root of the file system, where it is found.
 */
export function relativeProgram(
  [first]: readonly Located<string>[],
  { at, image }: Container,
): RelativeProgram | undefined {
  if (first === undefined || isTemplated(first.at) || !isOfSystem(first.value)) return undefined;
  const own = getIn(at, 'workingDir');
  if (own !== undefined && (isTemplated(own) || isUnseen(own))) return undefined;
  if (own === undefined && startsAtRoot(image?.value ?? '')) return undefined;
  const folder = own === undefined ? startFolder(image?.value ?? '') : asText(own);
  return folder === '' || /^\/+$/.test(folder ?? '') ? undefined : { at: first.at, path: first.value, folder };
}

/** Programs have a folder `bin` of their own, but none with these. */
function isOfSystem(path: string): boolean {
  const [, folder = '', name = ''] = /^((?:usr\/(?:local\/)?)?s?bin)\/([\w.+-]+)$/.exec(path) ?? [];
  return folder.startsWith('usr/') || systemPrograms.has(name);
}

const systemPrograms = wordSet('sh bash dash ash zsh env sleep cat echo tail true ls mkdir cp mv rm chmod');
