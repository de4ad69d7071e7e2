import { oneOf, partOf, wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { checkpointSigns } from './launch.ts';
import { redirectsPaths } from './lost-results.ts';

/** Whether a command names a directory for its progress that none of the directories holds, and nothing shows that its files are copied. */
export function savesOutside(container: Container, kept: readonly string[]): boolean {
  if (redirectsPaths(container)) return false;
  if ([...container.command, ...container.args].some(({ value }) => copies.test(value))) return false;
  const signs = checkpointSigns(container);
  if (signs.some(({ kind, inSettings }) => kind === 'store' || (kind === 'unknown' && inSettings !== true)))
    return false;
  if (mayMove(container, kept)) return false;
  const places = signs.filter(({ kind }) => kind === 'path');
  return (
    places.some(({ flag }) => flag !== undefined && saves.test(flag.name)) &&
    places.every(({ text }) => !text.startsWith('~') && kept.every((one) => !isIn(text, one)))
  );
}

/** Whether commands work in a kept directory, or a flag names one for more than what the program reads. */
function mayMove(container: Container, kept: readonly string[]): boolean {
  const isKept = (path: string) => kept.some((one) => isIn(path, one));
  return commandsIn(container).some(({ words }) => {
    if (/^(?:cd|pushd)$/.test(words[0]?.text ?? '')) return words.slice(1).some(({ text }) => isKept(text));
    return readFlags(words).some(({ name, value }) => isKept(value ?? '') && !reads.test(name));
  });
}

const reads = partOf('data input corpus image train val test eval model weight pretrained token config vocab');

const copies = /\b(?:cp|mv|ln|rsync|scp|tar|zip)\b/;
const saves = /^(?:.*\.)?(?:output|save|checkpoints?|ckpts?)-(?:dir|directory|folder|path|root)$/;

/** The flag by which a program keeps its own progress in a file of data: `--checkpoint done.json`. Other files may be weights that it reads. */
export const progressFile = once((container: Container): Flag | undefined => {
  const flags = commandsIn(container).flatMap(({ words }) => readFlags(words));
  return flags.find(({ written, value, dynamic, isVariable }) => {
    const words = wordsOf(written);
    if (dynamic || isVariable || !words.some((word) => progress.has(word))) return false;
    return words.every((word) => progress.has(word) || places.has(word)) && dataFile.test(value ?? '');
  });
});

const progress = wordSet('checkpoint checkpoints ckpt progress');
const places = wordSet('file path out output save');
const dataFile = new RegExp(`^[\\w./-]+\\.(?:${oneOf('json jsonl csv tsv db sqlite sqlite3 pkl parquet txt')})$`);
