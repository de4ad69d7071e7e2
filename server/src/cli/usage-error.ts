import { table } from '../yaml/table.ts';

/** A flag, path or config that cannot be used. The message is one sentence with the cause and the remedy; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  /** @param more further sentences of the same kind, each printed on its own line */
  constructor(
    message: string,
    readonly more: readonly string[] = [],
  ) {
    super(message);
  }
}

/** A config, or the price file that it names, cannot be used. */
export class ConfigError extends UsageError {
  /** @param config the path of the config */
  constructor(
    readonly config: string,
    message: string,
    more?: readonly string[],
  ) {
    super(message, more);
  }
}

/** An operating system error in words: `no such file or folder`. */
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
  EAGAIN: 'no data is available now',
  ENXIO: 'no such device',
});
