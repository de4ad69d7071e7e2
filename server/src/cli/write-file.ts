import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** `changed`: the file no longer holds what it was said to hold, so nothing was written. */
export type Saved = 'written' | 'changed';

/**
 * Replaces a file's content so that a reader sees the old or the new one and never a part. Its mode, owner and group stay, and so do the
 * symbolic links that lead to it. A file with several names (hard links), or one whose owner only the system could give, is written in
 * place instead: a new file in its place would not be the same one.
 * @param expected what the file must still hold; undefined where that does not matter
 * @throws when it cannot be written; it then holds what it held
 */
export function replaceContent(file: string, expected: Uint8Array | undefined, content: Uint8Array): Saved {
  const target = fs.realpathSync(file);
  const stats = fs.statSync(target);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  // Renaming over a file needs no right to write to it, so a file that is protected would be changed all the same.
  fs.accessSync(target, fs.constants.W_OK);
  const draft = path.join(path.dirname(target), `.gpulint-${randomBytes(6).toString('hex')}.tmp`);
  try {
    const isTwin = writeDraft(draft, content, stats);
    // From here on nothing takes time: the shorter, the less can happen between this look and the change.
    if (fs.realpathSync(file) !== target || !isSame(fs.statSync(target), stats)) return 'changed';
    if (!isTwin || stats.nlink > 1) return overwrite(target, stats, expected, content);
    if (expected !== undefined && !fs.readFileSync(target).equals(expected)) return 'changed';
    fs.renameSync(draft, target);
    return 'written';
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Replaces a file's content, whatever it is, as `replaceContent` does. */
export function writeAtomically(file: string, text: string): void {
  if (replaceContent(file, undefined, Buffer.from(text)) === 'changed') throw new Error('it is being replaced');
}

/** @returns whether the draft has the owner, group and mode of the file that it is to replace */
function writeDraft(draft: string, content: Uint8Array, { uid, gid, mode }: fs.Stats): boolean {
  // Nobody else may read it before it is known who may.
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

/** With setuid, setgid and the sticky bit. */
const permissions = 0o7777;

/** Writes over what a file holds. The draft with the whole new content lies next to it as long as that takes. */
function overwrite(target: string, stats: fs.Stats, expected: Uint8Array | undefined, content: Uint8Array): Saved {
  const fd = fs.openSync(target, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    if (!isSame(fs.fstatSync(fd), stats)) return 'changed';
    const before = fs.readFileSync(fd);
    if (expected !== undefined && !before.equals(expected)) return 'changed';
    try {
      // What lies beyond the old end first: a full disk shows there, before any of the old bytes is gone.
      writeAt(fd, content.subarray(before.length), before.length);
      writeAt(fd, content.subarray(0, before.length), 0);
      fs.ftruncateSync(fd, content.length);
    } catch (error) {
      attempt(() => writeAt(fd, before, 0));
      attempt(() => fs.ftruncateSync(fd, before.length));
      throw error;
    }
    attempt(() => fs.fsyncSync(fd));
    // Writing takes setuid and setgid away; only the owner can give them back.
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

/** What need not work. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The caller looks at what came of it.
  }
}
