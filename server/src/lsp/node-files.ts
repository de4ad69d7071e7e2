import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Host } from './confined-host.ts';
import { type LimitedWork, limitWork } from './limited-work.ts';
import { createBulkReader, type StartReader } from './node-bulk.ts';
import { type FileCalls, isOfSystem, readInside } from './node-reading.ts';
import { excludedFolderNames, isIndexedName } from './protocol.ts';

/** The files on this machine's disk. */
export interface LocalFiles
  extends Required<Pick<Host, 'readFile' | 'listFiles' | 'inBulk'>>,
    Pick<LimitedWork, 'settled' | 'isBusy'> {}

/** No project has more folders, but a home folder or a disk does. */
const maxFolders = 20_000;

const calls: FileCalls = { realpath, lstat, readlink, open };

/**
 * Reads and lists only regular files and folders. Nothing else is opened: a pipe can block, and opening a device can have side effects.
 * @param startReader starts a thread that reads many files
 */
export function localFiles(startReader?: StartReader): LocalFiles {
  // Node has four file threads, and a hanging read blocks one permanently. Always leave one free.
  const { run, settled, isBusy } = limitWork(3, 5000);
  /** The folders of the workspace without links, as they were found last; a file that is in none of them looks them up again. */
  const tops = new Map<string, string>();
  const readAlone = (file: string, folders: readonly string[]) => run(() => readInside(calls, file, folders, tops));
  const bulk = createBulkReader(startReader, readAlone);
  return {
    settled,
    isBusy: () => isBusy() || bulk.isHung(),
    inBulk: bulk.during,
    readFile: async (uri, folders) => bulk.read(fileURLToPath(uri), folders.map(toPath)),
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
          else if (entry.isFile() && isIndexedName(entry.name) && files.length < limit)
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
