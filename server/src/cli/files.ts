import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { matchesAny } from '../config/globs.ts';
import { configFileName } from './project-config.ts';
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

/** A path that cannot be walked or read. */
export interface BadInput extends InputFile {
  readonly problem: string;
}

/** The globs of a config, and the folder that they are relative to. */
export interface Ignore {
  readonly patterns: readonly string[];
  readonly base: string;
}

/** What a file holds. */
export type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly bom: boolean; readonly problem: string | null }
  | { readonly kind: 'skipped'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Stands for standard input in place of an absolute path. */
export const standardInput = '-';

/** Larger files are machine-made and would take long to no use. */
export const maxFileBytes = 5 * 1024 * 1024;

/**
 * The files behind a path that was given: itself, or what a walk over the folder finds, in the order of their paths.
 * Symbolic links are followed when given and passed by in a walk, so that a walk ends. A folder that cannot be read is told.
 */
export async function findFiles(given: string, ignore: Ignore): Promise<readonly (InputFile | BadInput)[]> {
  const absolute = path.resolve(given);
  const itself = { file: absolute, path: withSlashes(given), folder: null };
  let stats: fs.Stats;
  try {
    stats = fs.statSync(absolute);
  } catch (error) {
    return [{ ...itself, problem: systemReason(error) }];
  }
  if (stats.isDirectory()) return walk(given, ignore);
  if (stats.isFile() || stats.isFIFO() || stats.isCharacterDevice()) return [itself];
  return [{ ...itself, problem: 'it is neither a file nor a folder' }];
}

/** What an input holds, as UTF-8 without its byte order mark. Never throws. */
export async function contentOf(input: InputFile | BadInput): Promise<FileContent> {
  if ('problem' in input) return { kind: 'unreadable', reason: input.problem };
  try {
    if (input.file === standardInput) return decode(await readUpTo(maxFileBytes + 1, process.stdin));
    const stats = fs.statSync(input.file);
    if (stats.size > maxFileBytes) return tooLarge;
    // A pipe or a device has no size, and may have no end.
    if (!stats.isFile()) return decode(await readUpTo(maxFileBytes + 1, fs.createReadStream(input.file)));
    return decode(fs.readFileSync(input.file));
  } catch (error) {
    return { kind: 'unreadable', reason: systemReason(error) };
  }
}

/** Bytes as text. Invalid UTF-8 is read with replacement characters, and said. */
function decode(bytes: Uint8Array): FileContent {
  if (bytes.length > maxFileBytes) return tooLarge;
  const [first, second, third] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { kind: 'skipped', reason: 'UTF-16 text: save it as UTF-8' };
  }
  // YAML and JSON texts hold no NUL, and nearly every binary format has one near its start.
  if (bytes.subarray(0, 65_536).includes(0)) return { kind: 'skipped', reason: 'a binary file' };
  const bom = first === 0xef && second === 0xbb && third === 0xbf;
  const body = bom ? bytes.subarray(3) : bytes;
  try {
    return {
      kind: 'text',
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body),
      bom,
      problem: null,
    };
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
    const line = text.slice(0, text.indexOf('\ufffd')).split(/\r\n|\n|\r/).length;
    return { kind: 'text', text, bom, problem: `line ${line} is not valid UTF-8: save the file as UTF-8` };
  }
}

const tooLarge: FileContent = {
  kind: 'skipped',
  reason: `too large: files over ${maxFileBytes / 1024 / 1024} MB are not read`,
};

/** YAML and JSON, and templates of these as Helm, Jinja, envsubst and the like name them. */
const manifestName = /\.(?:(?:ya?ml|json)(?:[.-](?:tmpl|tpl|template|gotmpl|j2|jinja|jinja2|in|erb|mustache))?|tpl)$/;

const otherFolders: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Walks a folder down, but not into folders that are ignored, however large they are. */
function walk(given: string, { base, patterns }: Ignore): readonly (InputFile | BadInput)[] {
  const root = path.resolve(given);
  const files: (InputFile | BadInput)[] = [];
  const isIgnored = (file: string) => {
    const inside = withSlashes(path.relative(base, file));
    // What stands above or beside the config is none of its business.
    return !inside.startsWith('../') && !path.isAbsolute(inside) && matchesAny(inside, patterns);
  };
  const folders = [root];
  for (const folder of folders) {
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
      } else if (entry.isFile() && isManifest(entry.name) && !isIgnored(file)) files.push(toInput(given, file));
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function isManifest(name: string): boolean {
  return manifestName.test(name) && name !== configFileName;
}

function toInput(given: string, file: string): InputFile {
  const below = path.relative(path.resolve(given), file);
  return { file, path: withSlashes(below === '' ? given : below), folder: withSlashes(given) };
}

async function readUpTo(limit: number, stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

function withSlashes(name: string): string {
  return path.sep === '\\' ? name.replaceAll('\\', '/') : name;
}
