import fs, { constants, type Stats } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { accessDenied, outside } from './access-denied.ts';
import { maxFileBytes } from './protocol.ts';

/** What reading needs from the system: calls that wait for it in the thread of the editor's requests, and calls that block in another. */
export interface FileCalls {
  realpath(file: string): Promise<string> | string;
  lstat(file: string): Promise<Stats> | Stats;
  readlink(file: string): Promise<string> | string;
  open(file: string, flags: number): Promise<OpenFile> | OpenFile;
}

export interface OpenFile {
  readonly fd: number;
  stat(): Promise<Stats> | Stats;
  read(bytes: Buffer, offset: number, length: number): Promise<Read> | Read;
  close(): Promise<void> | void;
}

interface Read {
  readonly bytesRead: number;
}

/** Calls that block until the system has answered. */
export const blockingCalls: FileCalls = {
  realpath: fs.realpathSync.native,
  lstat: fs.lstatSync,
  readlink: fs.readlinkSync,
  open(file, flags) {
    const fd = fs.openSync(file, flags);
    return {
      fd,
      stat: () => fs.fstatSync(fd),
      read: (bytes, offset, length) => ({ bytesRead: fs.readSync(fd, bytes, offset, length, null) }),
      close: () => fs.closeSync(fd),
    };
  },
};

/**
 * The text of a file without a byte order mark, like in editors: offsets start after it.
 * @param file its path
 * @param folders their paths; with all links resolved, the file must be in one of them
 * @param tops folders without links, by folder
 */
export async function readInside(
  calls: FileCalls,
  file: string,
  folders: readonly string[],
  tops: Map<string, string>,
): Promise<string | undefined> {
  try {
    const real = await calls.realpath(file);
    if (!(await isInOne(calls, real, folders, tops))) throw accessDenied(outside);
    const { size } = await regular(calls, real);
    // Files with size 0 and content are system files, such as those in /proc.
    if (size === 0) return '';
    const handle = await calls.open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await readOpen(calls, handle, real);
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
async function readOpen(calls: FileCalls, handle: OpenFile, real: string): Promise<string> {
  const { size, dev, ino } = await handle.stat();
  if (!((await openedPath(calls, handle)) === real || (await leadsTo(calls, real, { dev, ino }))))
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
async function openedPath(calls: FileCalls, { fd }: OpenFile): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    return await calls.readlink(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

async function leadsTo(
  calls: FileCalls,
  real: string,
  { dev, ino }: { readonly dev: number; readonly ino: number },
): Promise<boolean> {
  const now = await regular(calls, real);
  return now.dev === dev && now.ino === ino && (await calls.realpath(real)) === real;
}

async function regular(calls: FileCalls, real: string): Promise<Stats> {
  const found = await calls.lstat(real);
  if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  if (!found.isFile() || isOfSystem(real)) throw accessDenied('is not a regular file');
  if (found.size > maxFileBytes) throw accessDenied(`is larger than ${maxFileBytes / 1e6} MB`);
  return found;
}

async function isInOne(
  calls: FileCalls,
  real: string,
  folders: readonly string[],
  tops: Map<string, string>,
): Promise<boolean> {
  if (folders.some((folder) => isBelow(real, tops.get(folder)))) return true;
  for (const folder of folders) {
    const top = folder === '' ? undefined : await realFolder(calls, folder);
    if (top !== undefined) tops.set(folder, top);
    if (isBelow(real, top)) return true;
  }
  return false;
}

async function realFolder(calls: FileCalls, folder: string): Promise<string | undefined> {
  try {
    return await calls.realpath(folder);
  } catch {
    return undefined;
  }
}

function isBelow(real: string, top: string | undefined): boolean {
  if (top === undefined) return false;
  const below = path.relative(top, real);
  return below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
}

/** Reading these files can block or have side effects. `/dev/shm` is a file system in memory. */
export function isOfSystem(real: string): boolean {
  return /^\/(?:proc|sys|dev(?!\/shm\/))(?:\/|$)/.test(real);
}
