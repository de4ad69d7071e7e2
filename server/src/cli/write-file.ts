import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** `changed`: the file no longer has the expected content, so nothing was written. */
export type Saved = 'written' | 'changed';

/**
 * Replaces a file's content so that a reader sees the old or the new content, never a part. Mode, owner, group and symbolic links to the
 * file are kept. A file with several names (hard links), or whose owner only the system can set, is overwritten in place, because a new
 * file would not be the same file.
 *
 * @param expected the content that the file must still have; undefined if it does not matter
 * @throws Error if it cannot be written; the file then keeps its old content
 */
export function replaceContent(file: string, expected: Uint8Array | undefined, content: Uint8Array): Saved {
  const target = fs.realpathSync(file);
  const stats = fs.statSync(target);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  // Renaming over a file requires no write permission on it, so check for protected files.
  fs.accessSync(target, fs.constants.W_OK);
  const draft = path.join(path.dirname(target), `.gpulint-${randomBytes(6).toString('hex')}.tmp`);
  try {
    const isTwin = writeDraft(draft, content, stats);
    // No slow work from here on: the shorter the gap between check and change, the less can happen in it.
    if (fs.realpathSync(file) !== target || !isSame(fs.statSync(target), stats)) return 'changed';
    if (!isTwin || stats.nlink > 1) return overwrite(target, stats, expected, content);
    if (expected !== undefined && !fs.readFileSync(target).equals(expected)) return 'changed';
    fs.renameSync(draft, target);
    return 'written';
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Replaces a file's content regardless of its old content, as `replaceContent` does. */
export function writeAtomically(file: string, text: string): void {
  if (replaceContent(file, undefined, Buffer.from(text)) === 'changed')
    throw new Error('it changed while it was being written');
}

/** @returns whether the draft has the owner, group and mode of the file that it will replace */
function writeDraft(draft: string, content: Uint8Array, { uid, gid, mode }: fs.Stats): boolean {
  // Private until its final mode is known.
  const fd = fs.openSync(draft, 'wx', 0o600);
  try {
    fs.writeFileSync(fd, content);
    const made = fs.fstatSync(fd);
    if (made.uid !== uid || made.gid !== gid) attempt(() => fs.fchownSync(fd, uid, gid));
    const owned = fs.fstatSync(fd);
    if (owned.uid !== uid || owned.gid !== gid) return false;
    fs.fchmodSync(fd, mode & permissions);
    fs.fsyncSync(fd);
    return ((fs.fstatSync(fd).mode ^ mode) & permissions) === 0;
  } finally {
    fs.closeSync(fd);
  }
}

/** Includes setuid, setgid and the sticky bit. */
const permissions = 0o7777;

/** Overwrites a file in place. Meanwhile the draft next to it keeps the complete new content. */
function overwrite(target: string, stats: fs.Stats, expected: Uint8Array | undefined, content: Uint8Array): Saved {
  const fd = fs.openSync(target, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    if (!isSame(fs.fstatSync(fd), stats)) return 'changed';
    const before = fs.readFileSync(fd);
    if (expected !== undefined && !before.equals(expected)) return 'changed';
    try {
      // Write past the old end first: a full disk shows there, before any old byte is lost.
      writeAt(fd, content.subarray(before.length), before.length);
      writeAt(fd, content.subarray(0, before.length), 0);
      fs.ftruncateSync(fd, content.length);
    } catch (error) {
      attempt(() => writeAt(fd, before, 0));
      attempt(() => fs.ftruncateSync(fd, before.length));
      throw error;
    }
    attempt(() => fs.fsyncSync(fd));
    // Writing clears setuid and setgid; only the owner can restore them.
    if (fs.fstatSync(fd).mode !== stats.mode) attempt(() => fs.fchmodSync(fd, stats.mode & permissions));
    return 'written';
  } finally {
    fs.closeSync(fd);
  }
}

function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
}

function isSame(a: fs.Stats, b: fs.Stats): boolean {
  return (['dev', 'ino', 'mode', 'uid', 'gid', 'nlink'] as const).every((key) => a[key] === b[key]);
}

/** Runs an action that may fail. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The caller checks the result.
  }
}
