import { table } from '../yaml/table.ts';

/** A flag, a path or a config that cannot be used. The message is one sentence that names it and the way out; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  /** @param more sentences of the same kind, each for a line of its own */
  constructor(
    message: string,
    readonly more: readonly string[] = [],
  ) {
    super(message);
  }
}

/** What the operating system said, in words: `no such file or folder`. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return systemReasons[code] ?? (error instanceof Error ? error.message : String(error));
}

const systemReasons = table<string>({
  ENOENT: 'no such file or folder',
  ENOTDIR: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ELOOP: 'too many symbolic links',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
  EAGAIN: 'nothing can be read from it now',
  ENXIO: 'no such device',
});
