import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './seeds.ts';
import type { Target } from './target.ts';
import { privateFolder } from './watchdog.ts';

/** The shrunk failures that every test run repeats. */
export const fixtureFolder = path.join(root, 'test/fixtures/fuzz');

/** Saves a failure under a name made from its sign and text, and returns the path. Other people's texts stay out of the repository. */
export function saveFailure<T>(target: Target<T>, sign: string, input: T): string {
  const { extension, text } = target.save(input);
  const folder = path.join(target.isOwn(input) ? fixtureFolder : privateFolder, target.name);
  mkdirSync(folder, { recursive: true });
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 6);
  const name = sign
    .replace(/[^\w]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase()
    .slice(0, 60);
  const file = path.join(folder, `${name}-${hash}.${extension}`);
  writeFileSync(file, text);
  return path.relative(root, file);
}

/** The saved failures of a target. */
export function savedFailures(
  target: string,
): readonly { readonly name: string; readonly text: string; readonly extension: string }[] {
  const folder = path.join(fixtureFolder, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({
      name,
      text: readFileSync(path.join(folder, name), 'utf8'),
      extension: path.extname(name).slice(1),
    }));
}
