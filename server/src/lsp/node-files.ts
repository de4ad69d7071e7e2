import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Host, outside, accessDenied } from './confined-host.ts';
import { type LimitedWork, limitWork } from './limited-work.ts';
import { maxFileBytes, excludedFolderNames } from './requests.ts';

/** The files of this machine's disk. */
export interface LocalFiles
  extends Required<Pick<Host, 'readFile' | 'listFiles'>>,
    Pick<LimitedWork, 'settled' | 'isBusy'> {}

/** A home folder, or a disk, has more folders than a project. */
const maxFolders = 20_000;

/** Reads and lists regular files and folders only. Nothing else is even opened: a pipe may wait forever, and a device may do something. */
export function localFiles(): LocalFiles {
  // Node has four threads for files, and one that hangs never comes back: a fourth read would take the last one.
  const { run, settled, isBusy } = limitWork(3, 5000);
  return {
    settled,
    isBusy,
    readFile: (uri, folders) => run(() => read(fileURLToPath(uri), folders.map(toPath))),
    /** Breadth first and by name, so that what is cut off is deepest and always the same. */
    async listFiles(folder, most, folders) {
      const start = toPath(folder);
      const top = toPath(folders[0] ?? folder);
      const pending = [start];
      const files: string[] = [];
      const realTop = await run(() => realpath(top)).catch(() => top);
      for (let next = 0; next < pending.length && files.length < most; next += 1) {
        const here = pending[next] ?? '';
        // Where the path has no links in it, the two end alike. A folder that may not be read is passed by.
        const real = path.join(realTop, path.relative(top, here));
        for (const entry of await run(() => entriesOf(here, real)).catch(() => [])) {
          const name = path.join(here, entry.name);
          if (entry.isDirectory() && !excludedFolderNames.includes(entry.name) && pending.length < maxFolders) pending.push(name);
          else if (entry.isFile() && /\.ya?ml$/.test(entry.name) && files.length < most)
            files.push(pathToFileURL(name).href);
        }
      }
      return files;
    },
  };
}

/** Of a folder in another file system nothing on this disk is meant. */
/** Nothing where the URI is no path of this machine: another host, or an escape that stands for nothing. */
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

/** Without a byte order mark, as editors show a file: places are counted behind it. */
async function read(file: string, folders: readonly string[]): Promise<string | undefined> {
  try {
    const real = await realpath(file);
    if (!(await isInOne(real, folders))) throw accessDenied(outside);
    const { size } = await regular(real);
    // What says so and has content all the same is a view of the system, as in /proc.
    if (size === 0) return '';
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await readOpen(handle, real);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ELOOP') throw accessDenied('is a link that leads in a circle');
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}

/** The path could lead elsewhere since it was looked at, so what was opened is held against it. */
async function readOpen(handle: FileHandle, real: string): Promise<string> {
  const { dev, ino, size } = await handle.stat();
  const now = await regular(real);
  if (now.dev !== dev || now.ino !== ino || (await realpath(real)) !== real) throw accessDenied('changed while it was read');
  // A file that grows is read as far as it was.
  const bytes = Buffer.alloc(Math.min(size, maxFileBytes));
  let end = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, end, bytes.length - end);
    end += bytesRead;
    if (bytesRead === 0 || end === bytes.length) break;
  }
  return bytes.toString('utf8', 0, end).replace(/^\uFEFF/, '');
}

async function regular(real: string) {
  const found = await lstat(real);
  if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  if (!found.isFile() || isOfSystem(real)) throw accessDenied('is not a regular file');
  if (found.size > maxFileBytes) throw accessDenied(`is larger than ${maxFileBytes / 1e6} MB`);
  return found;
}

async function isInOne(real: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const top = folder === '' ? undefined : await realpath(folder).catch(() => undefined);
    if (top === undefined) continue;
    const below = path.relative(top, real);
    if (below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below)) return true;
  }
  return false;
}

/** Reading there may wait, or do something. `/dev/shm` is a disk in memory. */
function isOfSystem(real: string): boolean {
  return /^\/(?:proc|sys|dev(?!\/shm\/))(?:\/|$)/.test(real);
}
