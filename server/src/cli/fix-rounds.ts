import fs from 'node:fs';
import type { CheckedInput } from './counted-files.ts';
import type { ConfiguredInput } from './index-inputs.ts';
import type { CheckedFile } from './reports/format.ts';

/** More rounds than any real project needs; a limit in case the fixes of two files undo each other. */
const maxRounds = 5;

/**
 * Checks all files again if one was fixed, because its workloads can be the base of others or run in them. Repeats until nothing is fixed, so that
 * a second run has the same results.
 * @param index reads a fixed file again
 */
export async function checkAgain(
  first: readonly CheckedInput[],
  check: (input: ConfiguredInput) => Promise<CheckedFile>,
  index: (fixed: ConfiguredInput) => void,
): Promise<readonly CheckedInput[]> {
  let results = first;
  let fixed = first.filter(isFixed);
  // A file alone depends on no other.
  for (let round = 1; fixed.length > 0 && first.length > 1 && round < maxRounds; round += 1) {
    for (const one of fixed) index(one);
    fixed = [];
    const next: CheckedInput[] = [];
    for (const before of results) {
      const now = canRepeat(before) ? { ...before, checked: await check(before) } : undefined;
      if (now !== undefined && isFixed(now)) fixed.push(now);
      next.push(now === undefined ? before : { ...now, checked: withEarlierFixes(before.checked, now.checked) });
    }
    results = next;
  }
  return results;
}

function isFixed({ checked }: CheckedInput): boolean {
  return checked.file.fixed !== undefined;
}

/** A pipe can be read only once. */
function canRepeat({ input, checked }: CheckedInput): boolean {
  return checked.outcome === 'checked' && fs.statSync(input.file, { throwIfNoEntry: false })?.isFile() === true;
}

function withEarlierFixes(before: CheckedFile, now: CheckedFile): CheckedFile {
  if (before.file.fixed === undefined) return now;
  return {
    ...now,
    file: { ...now.file, fixed: [...before.file.fixed, ...(now.file.fixed ?? [])] },
    fixes: [...(before.fixes ?? []), ...(now.fixes ?? [])],
  };
}
