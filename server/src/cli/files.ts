import fs from 'node:fs';
import path from 'node:path';
import { escapePath, glob } from 'tinyglobby';
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
  if (isOfSystem(absolute) && stats.isDirectory()) return [{ ...itself, problem: 'it belongs to the system' }];
  if (stats.isDirectory()) return walk(given, ignore, reach);
  if (stats.isFile() || stats.isFIFO() || stats.isCharacterDevice()) return [itself];
  return [{ ...itself, problem: 'it is neither a file nor a folder' }];
}

// YAML and JSON, and templates of these as Helm, Jinja, envsubst and the like name them.
const namePatterns = [
  '**/*.{yaml,yml,json}',
  '**/*.{yaml,yml,json}{.,-}{tmpl,tpl,template,gotmpl,j2,jinja,jinja2,in,erb,mustache}',
  '**/*.tpl',
];

// Links and pipes are reported if they have a manifest's name; links to folders are reported whatever their name.
const manifestName = /\.(ya?ml|json|tpl)([.-]\w+)?$/;

const notManifests = ['**/.git/**', '**/node_modules/**', `**/${configName}`];

async function walk(given: string, ignore: Ignore, reach: Reach): Promise<readonly (InputFile | BadInput)[]> {
  const root = path.resolve(given);
  const unreadable = new Map<string, string>();
  const others = new Map<string, fs.Dirent>();
  // Globs match only what is below the folder they are evaluated in, so that folder is the one the ignore globs are relative to.
  const inside = withSlashes(path.relative(ignore.base, root));
  const outside = inside.startsWith('..') || path.isAbsolute(inside);
  const prefix = outside || inside === '' ? '' : `${escapePath(inside)}/`;
  const base = outside ? root : ignore.base;
  const found = await glob(
    namePatterns.map((pattern) => prefix + pattern),
    {
      cwd: base,
      dot: true,
      expandDirectories: false,
      followSymbolicLinks: false,
      ignore: [
        ...notManifests.map((pattern) => prefix + pattern),
        ...(outside ? [] : ignore.patterns.flatMap(withWhatIsBelow)),
      ],
      fs: { readdir: tellingReaddir(unreadable, others) },
    },
  );
  const files: (InputFile | BadInput)[] = found.map((name) => toInput(given, path.resolve(base, name)));
  for (const [folder, problem] of unreadable) files.push({ ...toInput(given, folder), problem });
  for (const [file, entry] of others) {
    const problem = whyPassedBy(entry, file, reach);
    if (problem !== undefined)
      files.push({ ...toInput(given, file), problem, leftOut: isFolder(file) ? 'folder' : 'file' });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function toInput(given: string, file: string): InputFile {
  const below = path.relative(path.resolve(given), file);
  return { file, path: withSlashes(below === '' ? given : below), folder: withSlashes(given) };
}

/** A pattern without a slash is meant at any depth, as in .gitignore, and covers what is below it. */
function withWhatIsBelow(pattern: string): readonly string[] {
  const bare = pattern.replace(/^\.?\//, '').replace(/\/+$/, '');
  if (bare === '') return [];
  const anchored = /^\.?\//.test(pattern) || bare.includes('/');
  const whole = anchored ? bare : `**/${bare}`;
  return [whole, `${whole}/**`];
}

/** Why a walk passes by what is neither a file nor a folder; undefined where nobody would miss it. */
function whyPassedBy(entry: fs.Dirent, file: string, reach: Reach): string | undefined {
  const isManifest = manifestName.test(entry.name) && entry.name !== configName;
  if (!entry.isSymbolicLink()) return isManifest ? 'it is not a regular file' : undefined;
  if (entry.name === 'node_modules' || !reach.leadsOutside(file) || !(isManifest || isFolder(file))) return undefined;
  return 'a symbolic link that leads outside the project: name it to check what it leads to';
}

/**
 * readdir that notes what it could not read, and what is neither a file nor a folder: the walk itself passes over both in silence. What the
 * kernel makes up (`/proc` and the like) is empty to it.
 */
function tellingReaddir(unreadable: Map<string, string>, others: Map<string, fs.Dirent>): typeof fs.readdir {
  const readdir = (
    folder: string,
    options: { withFileTypes: true },
    done: (error: unknown, entries: fs.Dirent[]) => void,
  ) => {
    if (isOfSystem(folder)) return done(null, []);
    fs.readdir(folder, options, (error, entries) => {
      if (error !== null) unreadable.set(folder, systemReason(error));
      else
        for (const entry of entries)
          if (!entry.isFile() && !entry.isDirectory()) others.set(path.resolve(folder, entry.name), entry);
      done(error, entries);
    });
  };
  return readdir as typeof fs.readdir;
}

function withSlashes(name: string): string {
  return path.sep === '\\' ? name.replaceAll('\\', '/') : name;
}
