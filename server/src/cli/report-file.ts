import fs from 'node:fs';
import path from 'node:path';
import { systemReason, UsageError } from './usage-error.ts';
import { writeAtomically } from './write-file.ts';

/**
 * Checks that a report or a baseline would not replace what gpulint reads. `--output` without its value takes the next word, which is often
 * the manifest to check.
 * @param inputs the paths and files that the command names
 * @throws UsageError if the file is one of these, a YAML file, or a manifest in JSON
 */
export function protectInputs(file: string | undefined, inputs: readonly (string | false | undefined)[]): void {
  if (file === '') throw new UsageError("'' is not a file: name one for the report");
  if (file === '-') throw new UsageError("'-' is not a file: without a file, the report goes to standard output");
  if (file === undefined || !isFilled(file)) return;
  const real = fs.realpathSync(file);
  const isNamed = inputs.some((one) => typeof one === 'string' && fs.existsSync(one) && fs.realpathSync(one) === real);
  if (isNamed || /\.ya?ml$/i.test(real) || isJsonManifest(real))
    throw new UsageError(
      `cannot write ${path.normalize(file)}: it is an input, which a report must not replace; name another file`,
    );
}

/**
 * Replaces or creates a file.
 * @throws UsageError if it cannot be written
 */
export function writeReport(file: string, text: string): void {
  try {
    if (fs.existsSync(file) && fs.statSync(file).isFile()) writeAtomically(file, text);
    else fs.writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`cannot write ${path.normalize(file)}: ${systemReason(error)}`);
  }
}

/** Whether it is a regular file with content; an empty one, as from `mktemp`, has nothing to lose. */
function isFilled(file: string): boolean {
  if (!fs.existsSync(file)) return false;
  const stats = fs.statSync(file);
  return stats.isFile() && stats.size > 0;
}

/** No manifest that people write is larger. */
const maxManifestBytes = 5 * 1024 * 1024;

/** By its first key, whatever the order of the others: reports have other keys there. */
function isJsonManifest(file: string): boolean {
  try {
    if (fs.statSync(file).size > maxManifestBytes) return false;
    const text = fs.readFileSync(file, 'utf8');
    return /^\s*\{\s*"(?:apiVersion|kind|metadata|spec|items)"\s*:/.test(text);
  } catch {
    return false;
  }
}
