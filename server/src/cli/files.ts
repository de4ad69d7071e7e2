import fs from 'node:fs';
import path from 'node:path';
import { matchesAny } from '../config/globs.ts';
import { configName } from '../config/places.ts';
import { kustomizationNames } from '../model/kustomize/kustomization.ts';
import { isTerraform } from '../workspace/terraform.ts';
import { isFolder, isSystemPath, type Reach, realPath } from './reach.ts';
import { systemReason } from './usage-error.ts';

/** A file to check, before it is read. */
export interface InputFile {
  /** Absolute. */
  readonly file: string;
  /** As named on the command line, or relative to the named folder; with forward slashes. */
  readonly path: string;
  /** The named folder, if the file was found by walking it; null for a file that was named itself. */
  readonly folder: string | null;
}

/** A path that cannot be walked or read, or that a walk skips with a notice. */
export interface BadInput extends InputFile {
  readonly problem: string;
  readonly leftOut?: 'file' | 'folder';
}

/** The globs of a config, and the folder to which they are relative. */
export interface Ignore {
  readonly patterns: readonly string[];
  readonly base: string;
}

/** Represents standard input in place of an absolute path. */
export const standardInput = '-';

/**
 * The files for a path argument: the file itself, or the files found by walking the folder, in the order of their paths. Symbolic links are
 * followed when named, but not in a walk, so that a walk ends. Unreadable folders are reported, and so are links that lead outside the
 * project.
 */
export async function findFiles(
  argument: string,
  ignore: Ignore,
  reach: Reach,
): Promise<readonly (InputFile | BadInput)[]> {
  const absolute = path.resolve(argument);
  const itself = { file: absolute, path: withSlashes(argument), folder: null };
  let stats: fs.Stats;
  try {
    stats = fs.statSync(absolute);
  } catch (error) {
    return [{ ...itself, problem: systemReason(error) }];
  }
  if (isSystemPath(absolute) && stats.isDirectory()) return [{ ...itself, problem: 'it is a system directory' }];
  if (stats.isDirectory()) return walk(argument, ignore, reach);
  if (stats.isFile() || stats.isFIFO() || stats.isCharacterDevice()) return [itself];
  return [{ ...itself, problem: 'it is neither a file nor a folder' }];
}

/** YAML and JSON, and their templates as Helm, Jinja, envsubst and similar tools name them. */
const manifestName = /\.(?:(?:ya?ml|json)(?:[.-](?:tmpl|tpl|template|gotmpl|j2|jinja|jinja2|in|erb|mustache))?|tpl)$/;

const skippedFolders: ReadonlySet<string> = new Set(['.git', 'node_modules', '.terraform']);

/** Walks a folder recursively, for manifests and for files of Terraform, without entering ignored folders, however large they are. */
function walk(argument: string, { base, patterns }: Ignore, reach: Reach): readonly (InputFile | BadInput)[] {
  const root = path.resolve(argument);
  const files: (InputFile | BadInput)[] = [];
  const isIgnored = (file: string) => {
    const inside = withSlashes(path.relative(base, file));
    // The config does not apply to anything outside its own folder.
    return !inside.startsWith('../') && !path.isAbsolute(inside) && matchesAny(inside, patterns);
  };
  const folders = [root];
  for (const folder of folders) {
    // Virtual file systems of the kernel (`/proc` and the like) count as empty.
    if (isSystemPath(folder)) continue;
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      files.push({ ...toInput(argument, folder), problem: systemReason(error) });
      continue;
    }
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name) && !isIgnored(file)) folders.push(file);
      } else if (entry.isFile()) {
        if ((isManifestName(entry.name) || isTerraform(entry.name)) && !isIgnored(file))
          files.push(toInput(argument, file));
      } else {
        const problem = skipReason(entry, file, reach);
        if (problem !== undefined && !isIgnored(file))
          files.push({ ...toInput(argument, file), problem, leftOut: isFolder(file) ? 'folder' : 'file' });
      }
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Whether a walk checks files of this name. */
export function isManifestName(name: string): boolean {
  return (manifestName.test(name) && name !== configName) || kustomizationNames.some((one) => one === name);
}

function toInput(argument: string, file: string): InputFile {
  const below = path.relative(path.resolve(argument), file);
  return { file, path: withSlashes(below === '' ? argument : below), folder: withSlashes(argument) };
}

/** Why a walk skips an entry that is neither a file nor a folder; undefined if nobody would miss it. Emacs locks `a.yaml` with a dangling `.#a.yaml`. */
function skipReason(entry: fs.Dirent, file: string, reach: Reach): string | undefined {
  const isNamed = isManifestName(entry.name);
  if (!entry.isSymbolicLink()) return isNamed ? 'it is not a regular file' : undefined;
  if (isNamed && realPath(file) === undefined && !entry.name.startsWith('.#'))
    return 'a symbolic link whose target does not exist';
  if (skippedFolders.has(entry.name) || !reach.leadsOutside(file) || !(isNamed || isFolder(file))) return undefined;
  return 'a symbolic link that leads outside the project; name it explicitly to check its target';
}

function withSlashes(name: string): string {
  return path.sep === '\\' ? name.replaceAll('\\', '/') : name;
}
