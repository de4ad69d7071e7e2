import { type CheckedFile, failureOf } from './reports/format.ts';
import { shownPath } from './reports/text.ts';
import { warn } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** @throws UsageError if there are files and none could be read */
export function requireReadable(files: readonly CheckedFile[]): void {
  const [first] = files;
  if (first === undefined || !files.every(isUnread)) return;
  throw new UsageError(`${shownPath(first.file)}: ${first.file.problem}`);
}

/** Reports on standard error each file that could not be checked, for outputs that have no place for it. */
export function warnOfFailures(files: readonly CheckedFile[]): void {
  for (const checked of files) {
    const failure = failureOf(checked);
    if (failure !== null) warn(`${shownPath(checked.file)}: ${failure}`);
  }
}

function isUnread({ outcome }: CheckedFile): boolean {
  return outcome === 'unreadable' || outcome === 'missing';
}
