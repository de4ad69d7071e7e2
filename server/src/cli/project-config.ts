import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { matchesAny } from '../config/globs.ts';
import { configName, type FolderLook, nearestConfig, pathBelow } from '../config/places.ts';
import {
  type ConfigInput,
  type ConfigProblem,
  defaultConfig,
  type ProjectConfig,
  parseConfig,
  resolveConfig,
} from '../config.ts';
import type { RuleSetName } from '../rules/rule-sets.ts';
import { lineStartsOf, positionAt } from './reports/position.ts';
import { printable } from './terminal.ts';
import { systemReason, UsageError } from './usage-error.ts';

export const configFileName = configName;

/** What a config file tells, and the folder that its globs are relative to. */
export interface LoadedConfig {
  readonly told: ConfigInput;
  readonly base: string;
}

/** The configs of one run; each is read once. */
export interface ProjectConfigs {
  /** The config that counts for a path, file or folder; undefined where there is none. */
  nearest(given: string): Promise<LoadedConfig | undefined>;
  /** What holds for a file. */
  of(file: string): Promise<ProjectConfig>;
  /** The config nearest to a file wants it passed by. */
  isIgnored(file: string): Promise<boolean>;
}

/**
 * @param choice a file to use, `false` for none, undefined for the `.gpulint.yaml` nearest to each file, no further up than the
 * repository's root or the home folder
 * @param ruleSet in place of what the configs extend. What it returns rejects with a UsageError when a config cannot be read or is wrong.
 */
export function projectConfigs(choice: string | false | undefined, ruleSet?: RuleSetName): ProjectConfigs {
  const replaced = ruleSet === undefined ? {} : { extends: ruleSet };
  const looks = new Map<string, Promise<FolderLook<LoadedConfig>>>();
  const chosen = typeof choice === 'string' ? loadConfig(choice) : undefined;
  const byFolder = new Map<string, Promise<LoadedConfig | undefined>>();

  async function nearest(given: string): Promise<LoadedConfig | undefined> {
    if (choice !== undefined) return chosen;
    const start = path.resolve(given);
    return inFolder(isFolder(start) ? start : path.dirname(start));
  }

  /** Of the config in the folder or above it. A walk finds many files in one folder. */
  function inFolder(folder: string): Promise<LoadedConfig | undefined> {
    if (choice !== undefined) return Promise.resolve(chosen);
    const found = byFolder.get(folder) ?? findAbove(folder);
    byFolder.set(folder, found);
    return found;
  }

  async function findAbove(folder: string): Promise<LoadedConfig | undefined> {
    const uri = pathToFileURL(path.join(folder, configName)).href;
    const found = await nearestConfig(uri, (above) => {
      const look = looks.get(above) ?? lookInto(fileURLToPath(`${above}/`));
      looks.set(above, look);
      return look;
    });
    return found?.found;
  }

  return {
    nearest,
    async of(file) {
      const config = await nearest(file);
      if (config === undefined && ruleSet === undefined) return defaultConfig;
      const path = (config && below(config, file)) ?? '';
      return resolveConfig({ settings: undefined, file: { told: { ...config?.told, ...replaced }, path } });
    },
    async isIgnored(file) {
      const config = await inFolder(path.dirname(path.resolve(file)));
      if (config?.told.ignore === undefined) return false;
      const inside = below(config, file);
      return inside !== undefined && matchesAny(inside, config.told.ignore);
    },
  };
}

function below({ base }: LoadedConfig, file: string): string | undefined {
  return pathBelow(pathToFileURL(base).href, pathToFileURL(path.resolve(file)).href);
}

async function lookInto(folder: string): Promise<FolderLook<LoadedConfig>> {
  const bare = path.resolve(folder);
  const file = path.join(bare, configName);
  const other = path.join(bare, otherName);
  const found = fs.existsSync(file) ? loadConfig(file) : undefined;
  if (found === undefined && fs.existsSync(other)) {
    warn(`${shownPath(other)} is not read: the name of the config is ${configName}`);
  }
  return {
    found,
    top: bare === os.homedir() || fs.existsSync(path.join(bare, '.git')),
  };
}

function loadConfig(file: string): LoadedConfig {
  const shown = shownPath(file);
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new UsageError(`cannot read the config ${file}: ${systemReason(error)}`);
  }
  const { told, problems: found } = parseConfig(text);
  const lineStarts = lineStartsOf(text);
  const sentenceOf = ({ span, message }: ConfigProblem) => {
    const { line, column } = positionAt(lineStarts, span.start);
    return `${shown}:${line}:${column}: ${message}`;
  };
  // What counts stops no build, and hints are for who writes the file.
  const problems = found
    .filter(({ level }) => level === 'error' || level === 'warning')
    .sort((a, b) => a.span.start - b.span.start);
  const [first, ...more] = problems.slice(0, maxProblems).map(sentenceOf);
  if (first !== undefined) {
    const rest = problems.length - maxProblems;
    throw new UsageError(first, rest > 0 ? [...more, `${shown}: ${rest} more`] : more);
  }
  for (const problem of found) if (problem.level === 'info') warn(sentenceOf(problem));
  return { told, base: path.dirname(path.resolve(file)) };
}

/** A config that is something else altogether should not fill a log. */
const maxProblems = 20;

/** What people write by habit, and nothing reads. */
const otherName = configName.replace('yaml', 'yml');

function warn(sentence: string): void {
  process.stderr.write(`gpulint: ${printable(sentence)}\n`);
}

function shownPath(file: string): string {
  const below = path.relative('.', file);
  return below.startsWith('..') ? file : below;
}

function isFolder(name: string): boolean {
  return fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
