import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { matchesAny } from '../config/globs.ts';
import { configName, type FolderConfig, nearestConfig, pathBelow } from '../config/places.ts';
import { readPriceFile } from '../config/price-file.ts';
import { type ConfigInput, type ConfigProblem, type ProjectConfig, parseConfig, resolveConfig } from '../config.ts';
import type { UnitRates } from '../cost/custom-prices.ts';
import type { RuleSetName } from '../rules/rule-sets.ts';
import { contentOfFound, contentOfNamed, type FileContent, outsideReason } from './file-content.ts';
import { pricesOfRun } from './prices/in-use.ts';
import { isFolder, type Reach } from './reach.ts';
import { lineStartsOf, positionAt } from './reports/position.ts';
import { displayPath } from './source-path.ts';
import { warn } from './terminal.ts';
import { ConfigError } from './usage-error.ts';

/** The values of a config file, and the folder that its globs are relative to. */
export interface LoadedConfig {
  readonly values: ConfigInput;
  readonly base: string;
  /** The prices of its price file. */
  readonly rates: UnitRates | undefined;
}

/** The configs of one run, each read once. */
export interface ProjectConfigs {
  /** The config file for a path, file or folder; undefined if there is none. */
  nearest(target: string): Promise<LoadedConfig | undefined>;
  /** The config of a file. */
  of(file: string): Promise<ProjectConfig>;
  /** Whether the config nearest to a file ignores it. */
  isIgnored(file: string): Promise<boolean>;
}

/**
 * Finds configs. All methods reject with a UsageError if a config cannot be read or is wrong.
 * @param reach the project: a config outside it is reported and ignored
 * @param choice a file to use, `false` for none, undefined for the `.gpulint.yaml` nearest to each file, up to the project's root or the
 * home folder
 * @param ruleSet replaces what the configs extend
 */
export function projectConfigs(
  reach: Reach,
  choice: string | false | undefined,
  ruleSet?: RuleSetName,
): ProjectConfigs {
  const replaced = ruleSet === undefined ? {} : { extends: ruleSet };
  const looks = new Map<string, Promise<FolderConfig<LoadedConfig>>>();
  const prices = pricesOfRun();
  const usual = resolveConfig({ settings: undefined, file: undefined, prices });
  let named: Promise<LoadedConfig> | undefined;
  const byFolder = new Map<string, Promise<LoadedConfig | undefined>>();

  async function chosen(): Promise<LoadedConfig | undefined> {
    if (typeof choice !== 'string') return undefined;
    named ??= contentOfNamed(choice, maxConfigBytes).then((content) => toConfig(choice, content, reach));
    return named;
  }

  async function nearest(target: string): Promise<LoadedConfig | undefined> {
    if (choice !== undefined) return chosen();
    const start = path.resolve(target);
    return inFolder(isFolder(start) ? start : path.dirname(start));
  }

  /** The config in a folder or above it, cached because one folder has many files. */
  function inFolder(folder: string): Promise<LoadedConfig | undefined> {
    if (choice !== undefined) return chosen();
    const found = byFolder.get(folder) ?? findAbove(folder);
    byFolder.set(folder, found);
    return found;
  }

  async function findAbove(folder: string): Promise<LoadedConfig | undefined> {
    const uri = pathToFileURL(path.join(folder, configName)).href;
    const found = await nearestConfig(uri, (above) => {
      const look = looks.get(above) ?? lookUpFolder(fileURLToPath(`${above}/`), reach);
      looks.set(above, look);
      return look;
    });
    return found?.found;
  }

  return {
    nearest,
    async of(file) {
      const config = await nearest(file);
      if (config === undefined && ruleSet === undefined) return usual;
      const path = (config && below(config, file)) ?? '';
      const values = { ...config?.values, ...replaced };
      return resolveConfig({ settings: undefined, file: { values, path, rates: config?.rates }, prices });
    },
    async isIgnored(file) {
      const config = await inFolder(path.dirname(path.resolve(file)));
      if (config?.values.ignore === undefined) return false;
      const inside = below(config, file);
      return inside !== undefined && matchesAny(inside, config.values.ignore);
    },
  };
}

function below({ base }: LoadedConfig, file: string): string | undefined {
  return pathBelow(pathToFileURL(base).href, pathToFileURL(path.resolve(file)).href);
}

async function lookUpFolder(folder: string, reach: Reach): Promise<FolderConfig<LoadedConfig>> {
  const bare = path.resolve(folder);
  const file = path.join(bare, configName);
  const other = path.join(bare, otherName);
  const inside = reach.covers(bare);
  if (isThere(file) && (!inside || reach.leadsOutside(file))) {
    warn(`${displayPath(file)} is ignored: ${outsideReason}; use --config to select a config`);
    return { found: undefined, top: !inside || isTop(bare) };
  }
  const found = isThere(file) ? toConfig(file, contentOfFound(file, reach, maxConfigBytes), reach) : undefined;
  if (inside && found === undefined && fs.existsSync(other)) {
    warn(`${displayPath(other)} is ignored: the config must be named ${configName}`);
  }
  return { found, top: isTop(bare) };
}

/** Also true for a link that leads nowhere: a config that is meant to apply must not be skipped without a word. */
function isThere(file: string): boolean {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The folder cannot be searched, which its files will report.
    return false;
  }
}

function isTop(folder: string): boolean {
  return folder === os.homedir() || fs.existsSync(path.join(folder, '.git'));
}

/** No config that people write is larger. */
const maxConfigBytes = 1024 * 1024;

function toConfig(file: string, content: FileContent, reach: Reach): LoadedConfig {
  const shown = displayPath(file);
  if (content.kind !== 'text') throw new ConfigError(file, `cannot read the config ${shown}: ${content.reason}`);
  const { text } = content;
  if (isManifest(text))
    throw new ConfigError(
      file,
      `${shown} is a manifest, not a config; use a file with settings, such as region: us-east-1`,
    );
  const { values, problems: found } = parseConfig(text, pricesOfRun().sheet);
  const lineStarts = lineStartsOf(text);
  const sentenceOf = ({ span, message }: ConfigProblem) => {
    const { line, column } = positionAt(lineStarts, span.start);
    return `${shown}:${line}:${column}: ${message}`;
  };
  // Only errors and warnings stop a build; hints are for authors of the config.
  const problems = found
    .filter(({ level }) => level === 'error' || level === 'warning')
    .sort((a, b) => a.span.start - b.span.start);
  const [first, ...more] = problems.slice(0, maxProblems).map(sentenceOf);
  if (first !== undefined) {
    const rest = problems.length - maxProblems;
    throw new ConfigError(file, first, rest > 0 ? [...more, `${shown}: ${rest} more`] : more);
  }
  for (const problem of found) if (problem.level === 'info') warn(sentenceOf(problem));
  const base = path.dirname(path.resolve(file));
  const { line, column } = positionAt(lineStarts, Math.max(0, text.search(/(?<=^priceFile:[ \t]{1,100})\S/m)));
  return { values, base, rates: ratesIn(file, values.priceFile, reach, `${shown}:${line}:${column}`) };
}

function isManifest(text: string): boolean {
  return /^apiVersion\s*:/m.test(text) && /^kind\s*:/m.test(text);
}

/** The prices of the price file of a config. @param place where the config names it @throws ConfigError if it cannot be read */
function ratesIn(config: string, name: string | undefined, reach: Reach, place: string): UnitRates | undefined {
  if (name === undefined) return undefined;
  const file = path.join(path.dirname(path.resolve(config)), name);
  const content = contentOfFound(file, reach, maxConfigBytes);
  const rates = content.kind === 'text' ? readPriceFile(content.text) : content.reason;
  if (typeof rates === 'string')
    throw new ConfigError(config, `${place}: cannot read the price file ${displayPath(file)}: ${rates}`);
  return rates;
}

/** A file that is not a config at all must not fill the log. */
const maxProblems = 20;

/** A common misspelling of the name, which is not read. */
const otherName = configName.replace('yaml', 'yml');
