import fs from 'node:fs';
import path from 'node:path';
import { matchesAny } from '../config/globs.ts';
import { configName } from '../config/places.ts';
import { isFolder, isOfSystem, type Reach } from './reach.ts';
import { systemReason } from './usage-error.ts';

/** A file to check, before it is read. */
export interface InputFile {
  /** Absolute. */
  readonly file: string;
  /** As given, or relative to the folder that was given; with forward slashes. */
  readonly path: string;
  /** The folder that was given, when the file was found by walking it; null for a file that was given itself. */
  readonly folder: string | null;
}

/** A path that cannot be walked or read, or that a walk passes by and tells of. */
export interface BadInput extends InputFile {
  readonly problem: string;
  readonly leftOut?: 'file' | 'folder';
}

/** The globs of a config, and the folder that they are relative to. */
export interface Ignore {
  readonly patterns: readonly string[];
  readonly base: string;
}

/** Stands for standard input in place of an absolute path. */
export const standardInput = '-';

/**
 * The files behind a path that was given: itself, or what a walk over the folder finds, in the order of their paths.
 * Symbolic links are followed when given and passed by in a walk, so that a walk ends. A folder that cannot be read is
 * reported, and so are links that lead outside the project.
 */
export async function findFiles(
  given: string,
  ignore: Ignore,
  reach: Reach,
): Promise<readonly (InputFile | BadInput)[]> {
  const absolute = path.resolve(given);
  const itself = { file: absolute, path: withSlashes(given), folder: null };
  let stats: fs.Stats;
  try {
    stats = fs.statSync(absolute);
  } catch (error) {
    return [{ ...itself, problem: systemReason(error) }];
  }
  if (isOfSystem(absolute) && stats.isDirectory()) return [{ ...itself, problem: 'it is a system directory' }];
  if (stats.isDirectory()) return walk(given, ignore, reach);
  if (stats.isFile() || stats.isFIFO() || stats.isCharacterDevice()) return [itself];
  return [{ ...itself, problem: 'it is neither a file nor a folder' }];
}

/** YAML and JSON, and templates of these as Helm, Jinja, envsubst and the like name them. */
const manifestName = /\.(?:(?:ya?ml|json)(?:[.-](?:tmpl|tpl|template|gotmpl|j2|jinja|jinja2|in|erb|mustache))?|tpl)$/;

const otherFolders: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Walks a folder down, but not into folders that are ignored, however large they are. */
function walk(given: string, { base, patterns }: Ignore, reach: Reach): readonly (InputFile | BadInput)[] {
  const root = path.resolve(given);
  const files: (InputFile | BadInput)[] = [];
  const isIgnored = (file: string) => {
    const inside = withSlashes(path.relative(base, file));
    // What stands above or beside the config is none of its business.
    return !inside.startsWith('../') && !path.isAbsolute(inside) && matchesAny(inside, patterns);
  };
  const folders = [root];
  for (const folder of folders) {
    // What the kernel makes up (`/proc` and the like) is empty to a walk.
    if (isOfSystem(folder)) continue;
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      files.push({ ...toInput(given, folder), problem: systemReason(error) });
      continue;
    }
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!otherFolders.has(entry.name) && !isIgnored(file)) folders.push(file);
      } else if (entry.isFile()) {
        if (isManifest(entry.name) && !isIgnored(file)) files.push(toInput(given, file));
      } else {
        const problem = whyPassedBy(entry, file, reach);
        if (problem !== undefined && !isIgnored(file))
          files.push({ ...toInput(given, file), problem, leftOut: isFolder(file) ? 'folder' : 'file' });
      }
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function isManifest(name: string): boolean {
  return manifestName.test(name) && name !== configName;
}

function toInput(given: string, file: string): InputFile {
  const below = path.relative(path.resolve(given), file);
  return { file, path: withSlashes(below === '' ? given : below), folder: withSlashes(given) };
}

/** Why a walk passes by what is neither a file nor a folder; undefined where nobody would miss it. */
function whyPassedBy(entry: fs.Dirent, file: string, reach: Reach): string | undefined {
  const named = isManifest(entry.name);
  if (!entry.isSymbolicLink()) return named ? 'it is not a regular file' : undefined;
  if (otherFolders.has(entry.name) || !reach.leadsOutside(file) || !(named || isFolder(file))) return undefined;
  return 'a symbolic link to a place outside the project; pass it by name to check its target';
}

function withSlashes(name: string): string {
  return path.sep === '\\' ? name.replaceAll('\\', '/') : name;
}
