import fs from 'node:fs';
import net from 'node:net';
import tty from 'node:tty';

/** How long a pipe may keep a run waiting, in milliseconds. */
export interface Patience {
  /** For somebody to write to it at all. */
  readonly writer: number;
  /** For the next bytes. */
  readonly next: number;
  /** For its end. */
  readonly end: number;
}

const timeoutMs: Patience = { writer: 5_000, next: 20_000, end: 120_000 };

// Opening a pipe would otherwise wait until somebody writes to it, and no other thread could end that wait.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants;

/**
 * Reads a regular file, or its first bytes where it has more than `limit`. A pipe or a device is not read, even if it took the place of a
 * file a moment ago.
 * @param file without symbolic links: the last one would not be followed
 * @throws when it is something else, or cannot be read
 */
export function readRegular(file: string, limit: number): Buffer {
  // Opening some devices has an effect, so they are recognised before.
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
 * Reads what the user named: a file, a pipe (the shell's `<(command)`) or a device such as /dev/null. One byte more than `limit` says that
 * there is more.
 * @throws when it is a folder, a terminal or a socket, cannot be read, or keeps the run waiting
 */
export async function readNamed(file: string, limit: number, wait = timeoutMs): Promise<Buffer> {
  const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  let open = true;
  try {
    const stats = fs.fstatSync(fd);
    if (stats.isFIFO()) {
      const start = readNow(fd, limit);
      if (start !== null && start.length > limit) return start;
      // The socket closes the descriptor.
      open = false;
      return await readPipe(fd, limit, start, wait);
    }
    if (stats.isDirectory()) throw new Error('it is a folder');
    if (tty.isatty(fd)) throw new Error("it is a terminal; '-' is standard input");
    return readUpTo(fd, limit, stats.size);
  } finally {
    if (open) fs.closeSync(fd);
  }
}

const notRegular = 'it is not a regular file';

/** To the end, or one byte beyond the limit. @param size what the file is said to hold; files in /proc hold more than that */
function readUpTo(fd: number, limit: number, size: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length <= limit) {
    const wanted = Math.min(limit + 1 - length, Math.max(size - length + 1, 65_536));
    const chunk = Buffer.allocUnsafe(wanted);
    const count = fs.readSync(fd, chunk, 0, wanted, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    length += count;
  }
  return Buffer.concat(chunks);
}

/** What a pipe holds at this moment; null where that is nothing and nobody has it open for writing. */
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

function readPipe(fd: number, limit: number, start: Buffer | null, wait: Patience): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks = start === null ? [] : [start];
    let length = start?.length ?? 0;
    const pipe = new net.Socket({ fd, readable: true, writable: false });
    const giveUp = (why: string) => pipe.destroy(new Error(`${why}; '-' reads standard input without a time limit`));
    const end = setTimeout(() => giveUp(`the pipe did not end within ${wait.end / 1000} seconds`), wait.end);
    const silence = start === null ? wait.writer : wait.next;
    pipe.setTimeout(silence, () => giveUp(`nothing came through the pipe for ${silence / 1000} seconds`));
    pipe.on('data', (chunk: Buffer) => {
      pipe.setTimeout(wait.next);
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
