import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { accessDenied, type Host, outside } from './confined-host.ts';
import { type LimitedWork, limitWork } from './limited-work.ts';
import { excludedFolderNames, maxFileBytes } from './protocol.ts';

/** The files on this machine's disk. */
export interface LocalFiles
  extends Required<Pick<Host, 'readFile' | 'listFiles'>>,
    Pick<LimitedWork, 'settled' | 'isBusy'> {}

/** No project has more folders, but a home folder or a disk does. */
const maxFolders = 20_000;

/** Reads and lists only regular files and folders. Nothing else is opened: a pipe can block, and opening a device can have side effects. */
export function localFiles(): LocalFiles {
  // Node has four file threads, and a hanging read blocks one permanently. Always leave one free.
  const { run, settled, isBusy } = limitWork(3, 5000);
  /** The folders of the workspace without links, as they were found last; a file that is in none of them looks them up again. */
  const tops = new Map<string, string>();
  return {
    settled,
    isBusy,
    readFile: (uri, folders) => run(() => read(fileURLToPath(uri), folders.map(toPath), tops)),
    /** Breadth-first and by name, so that the limit always cuts off the same, deepest files. */
    async listFiles(folder, limit, folders) {
      const start = toPath(folder);
      const top = toPath(folders[0] ?? folder);
      const pending = [start];
      const files: string[] = [];
      const realTop = await run(() => realpath(top)).catch(() => top);
      for (let next = 0; next < pending.length && files.length < limit; next += 1) {
        const here = pending[next] ?? '';
        // Without links in the path, both paths are the same. Folders that cannot be read are skipped.
        const real = path.join(realTop, path.relative(top, here));
        for (const entry of await run(() => entriesOf(here, real)).catch(() => [])) {
          const name = path.join(here, entry.name);
          if (entry.isDirectory() && !excludedFolderNames.includes(entry.name) && pending.length < maxFolders)
            pending.push(name);
          else if (entry.isFile() && /\.(?:ya?ml|tf)$/.test(entry.name) && files.length < limit)
            files.push(pathToFileURL(name).href);
        }
      }
      return files;
    },
  };
}

/** The path of a URI; empty if it is not a path on this machine: another scheme or host, or an invalid escape. */
function toPath(uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri === 'file://' ? 'file:///' : uri) : '';
  } catch {
    return '';
  }
}

async function entriesOf(folder: string, real: string) {
  if (isOfSystem(real) || (await realpath(folder)) !== real) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The text of a file without a byte order mark, like in editors: offsets start after it.
 * @param tops folders without links, by folder
 */
async function read(file: string, folders: readonly string[], tops: Map<string, string>): Promise<string | undefined> {
  try {
    const real = await realpath(file);
    if (!(await isInOne(real, folders, tops))) throw accessDenied(outside);
    const { size } = await regular(real);
    // Files with size 0 and content are system files, such as those in /proc.
    if (size === 0) return '';
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await readOpen(handle, real);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ELOOP') throw accessDenied('is a circular link');
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}

/** Reads an open file after checking that the path still leads to it: the path can change after the first check. */
async function readOpen(handle: FileHandle, real: string): Promise<string> {
  const { size, dev, ino } = await handle.stat();
  if (!((await openedPath(handle)) === real || (await leadsTo(real, { dev, ino }))))
    throw accessDenied('changed while being read');
  // A growing file is read up to its size when opened.
  const bytes = Buffer.alloc(Math.min(size, maxFileBytes));
  let end = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, end, bytes.length - end);
    end += bytesRead;
    if (bytesRead === 0 || end === bytes.length) break;
  }
  return bytes.toString('utf8', 0, end).replace(/^\uFEFF/, '');
}

/** The path of an open file, where the system says it: one call instead of the two of `leadsTo`. */
async function openedPath({ fd }: FileHandle): Promise<string | undefined> {
  return process.platform === 'linux' ? readlink(`/proc/self/fd/${fd}`).catch(() => undefined) : undefined;
}

async function leadsTo(real: string, { dev, ino }: { readonly dev: number; readonly ino: number }): Promise<boolean> {
  const now = await regular(real);
  return now.dev === dev && now.ino === ino && (await realpath(real)) === real;
}

async function regular(real: string) {
  const found = await lstat(real);
  if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  if (!found.isFile() || isOfSystem(real)) throw accessDenied('is not a regular file');
  if (found.size > maxFileBytes) throw accessDenied(`is larger than ${maxFileBytes / 1e6} MB`);
  return found;
}

async function isInOne(real: string, folders: readonly string[], tops: Map<string, string>): Promise<boolean> {
  if (folders.some((folder) => isBelow(real, tops.get(folder)))) return true;
  for (const folder of folders) {
    const top = folder === '' ? undefined : await realpath(folder).catch(() => undefined);
    if (top !== undefined) tops.set(folder, top);
    if (isBelow(real, top)) return true;
  }
  return false;
}

function isBelow(real: string, top: string | undefined): boolean {
  if (top === undefined) return false;
  const below = path.relative(top, real);
  return below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
}

/** Reading these files can block or have side effects. `/dev/shm` is a file system in memory. */
function isOfSystem(real: string): boolean {
  return /^\/(?:proc|sys|dev(?!\/shm\/))(?:\/|$)/.test(real);
}
