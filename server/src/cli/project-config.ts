import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { defaultConfig, type ProjectConfig, parseConfig } from '../config.ts';
import { lineStartsOf, positionAt } from './reports/position.ts';
import { systemReason, UsageError } from './usage-error.ts';

export const configFileName = '.gpulint.yaml';

/** A config and the folder that its globs are relative to. */
export interface LoadedConfig {
  readonly config: ProjectConfig;
  readonly base: string;
}

/**
 * The config for a path that was given: `choice` is a file to use, `false` for none, undefined for the nearest
 * `.gpulint.yaml` upward, no further than the repository's root or the home folder.
 * @throws UsageError when the file cannot be read or something in it is wrong.
 */
export function configFor(given: string, choice: string | false | undefined): LoadedConfig {
  const file = choice === undefined ? nearestConfig(path.resolve(given)) : choice;
  if (file === false || file === undefined) return { config: defaultConfig, base: path.resolve(given) };
  return loadConfig(file);
}

function loadConfig(file: string): LoadedConfig {
  const shown = path.relative('.', file).startsWith('..') ? file : path.relative('.', file);
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new UsageError(`cannot read the config ${file}: ${systemReason(error)}`);
  }
  const { config, problems } = parseConfig(text);
  const [first] = problems;
  if (first !== undefined) {
    const { line, column } = positionAt(lineStartsOf(text), first.span.start);
    const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
    throw new UsageError(`${shown}:${line}:${column}: ${first.message}${more}`);
  }
  return { config, base: path.dirname(path.resolve(file)) };
}

function nearestConfig(start: string): string | undefined {
  let folder = isFolder(start) ? start : path.dirname(start);
  for (;;) {
    const file = path.join(folder, configFileName);
    if (fs.existsSync(file)) return file;
    const above = path.dirname(folder);
    if (above === folder || folder === os.homedir() || fs.existsSync(path.join(folder, '.git'))) return undefined;
    folder = above;
  }
}

function isFolder(name: string): boolean {
  return fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
