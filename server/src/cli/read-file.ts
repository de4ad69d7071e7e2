import fs from 'node:fs';
import net from 'node:net';
import tty from 'node:tty';

/** How long a run waits for a pipe, in milliseconds. */
export interface ReadTimeouts {
  /** For a first writer. */
  readonly writer: number;
  /** For the next bytes. */
  readonly next: number;
  /** For the end of the data. */
  readonly end: number;
}

const timeoutMs: ReadTimeouts = { writer: 5_000, next: 20_000, end: 120_000 };

// Opening a pipe would otherwise block until it has a writer, and no other thread could interrupt that.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants;

/**
 * Reads a regular file, or its first bytes if it exceeds `limit`. A pipe or a device is never read, even if it has just replaced a file.
 *
 * @param file a path without symbolic links: the last component is not followed
 * @throws Error if it is something else or cannot be read
 */
export function readRegular(file: string, limit: number): Buffer {
  // Opening some devices has side effects, so check first.
  if (!fs.lstatSync(file).isFile()) throw new Error(notRegular);
  const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw new Error(notRegular);
    return readUpTo(fd, limit, stats.size);
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Reads whatever the user named: a file, a pipe (the shell's `<(command)`) or a device such as /dev/null. One byte more than `limit` means
 * that there is more.
 *
 * @throws Error if it is a folder, a terminal or a socket, cannot be read, or times out
 */
export async function readNamed(file: string, limit: number, timeouts = timeoutMs): Promise<Buffer> {
  const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  let open = true;
  try {
    const stats = fs.fstatSync(fd);
    if (stats.isFIFO()) {
      const start = readNow(fd, limit);
      if (start !== null && start.length > limit) return start;
      // The socket closes the descriptor.
      open = false;
      return await readPipe(fd, limit, start, timeouts);
    }
    if (stats.isDirectory()) throw new Error('it is a folder');
    if (tty.isatty(fd)) throw new Error("it is a terminal; use '-' for standard input");
    return readUpTo(fd, limit, stats.size);
  } finally {
    if (open) fs.closeSync(fd);
  }
}

const notRegular = 'it is not a regular file';

/** Reads to the end, or one byte beyond the limit. @param size the reported file size; files in /proc contain more */
function readUpTo(fd: number, limit: number, size: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length <= limit) {
    // One more byte than the file has, so that most files are read at once; the end needs no more than a small buffer.
    const wanted = Math.min(limit + 1 - length, Math.max(size - length + 1, size === 0 ? 65_536 : 1024));
    const chunk = Buffer.allocUnsafe(wanted);
    const count = fs.readSync(fd, chunk, 0, wanted, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    length += count;
  }
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/** What a pipe contains now; null if it is empty and has no writer. */
function readNow(fd: number, limit: number): Buffer | null {
  const chunk = Buffer.allocUnsafe(Math.min(limit + 1, 65_536));
  try {
    const count = fs.readSync(fd, chunk, 0, chunk.length, null);
    return count === 0 ? null : chunk.subarray(0, count);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return chunk.subarray(0, 0);
    throw error;
  }
}

function readPipe(fd: number, limit: number, start: Buffer | null, timeouts: ReadTimeouts): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks = start === null ? [] : [start];
    let length = start?.length ?? 0;
    const pipe = new net.Socket({ fd, readable: true, writable: false });
    const giveUp = (why: string) => pipe.destroy(new Error(`${why}; '-' reads standard input without a time limit`));
    const end = setTimeout(() => giveUp(`the pipe did not end within ${timeouts.end / 1000} seconds`), timeouts.end);
    const silence = start === null ? timeouts.writer : timeouts.next;
    pipe.setTimeout(silence, () => giveUp(`the pipe delivered no data for ${silence / 1000} seconds`));
    pipe.on('data', (chunk: Buffer) => {
      pipe.setTimeout(timeouts.next);
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) pipe.destroy();
    });
    pipe.on('error', reject);
    pipe.on('close', () => {
      clearTimeout(end);
      resolve(Buffer.concat(chunks));
    });
  });
}
