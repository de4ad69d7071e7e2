import process from 'node:process';
import { table } from '../yaml/table.ts';

/** The styles of the output. Colors are hand-written SGR codes: util.styleText is newer than the oldest supported Node version. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  blue(text: string): string;
  green(text: string): string;
}

export const plainStyle: Style = { bold: same, dim: same, red: same, yellow: same, blue: same, green: same };

export const colorStyle: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  yellow: sgr(33, 39),
  blue: sgr(34, 39),
  green: sgr(32, 39),
};

/** Whether to color the output: the flag, then NO_COLOR, then FORCE_COLOR, then whether the output is a capable terminal. */
export function wantsColor(
  flag: boolean | undefined,
  stream: { readonly isTTY?: boolean },
  env = process.env,
): boolean {
  if (flag !== undefined) return flag;
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/**
 * A text from a file with everything that a terminal interprets made visible: control characters, and the marks that reverse the writing
 * direction and can hide what a line says.
 */
export function printable(text: string): string {
  return text.replace(unprintable, escaped).replace(logCommand, escaped);
}

/** What `printable` writes instead of characters of a text, by their offsets. */
export function escapesIn(text: string): ReadonlyMap<number, string> {
  const found = [...text.matchAll(unprintable), ...text.matchAll(logCommand)];
  return new Map(found.map(({ index, 0: character }) => [index, escaped(character)]));
}

export function isUnprintable(character: string): boolean {
  return printable(character) !== character;
}

/** Serializes to JSON, with everything that a terminal interprets escaped; the parsed value stays the same. */
export function jsonText(value: unknown, space?: number): string {
  // A line feed is formatting between strings; within them, JSON has escaped it.
  const visible = (character: string) => (character === '\n' ? character : unicodeEscape(character));
  return JSON.stringify(value, null, space).replace(unprintable, visible).replace(logCommand, visible);
}

const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** CI logs interpret commands in these brackets anywhere in a line: `##vso[…]` in Azure Pipelines, `##[…]` in GitHub Actions. */
const logCommand = /#(?=#\w*\[)/g;

/** Prints a warning on standard error. */
export function warn(sentence: string): void {
  if (kept === undefined) process.stderr.write(`gpulint: ${printable(sentence)}\n`);
  else kept.push(sentence);
}

let kept: string[] | undefined;

/** Does work whose warnings are returned instead of printed, because threads would print them in any order. */
export async function keepingWarnings<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly warnings: readonly string[] }> {
  const before = kept;
  const warnings: string[] = [];
  kept = warnings;
  try {
    return { value: await work(), warnings };
  } finally {
    kept = before;
  }
}

const shortEscapes = table({ '\n': '\\n', '\r': '\\r', '\t': '\\t' });

function escaped(character: string): string {
  return shortEscapes[character] ?? unicodeEscape(character);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function sgr(on: number, off: number): (text: string) => string {
  return (text) => `\u001b[${on}m${text}\u001b[${off}m`;
}

function same(text: string): string {
  return text;
}
