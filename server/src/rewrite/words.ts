import type { Flag } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import type { Located } from '../yaml/cursor.ts';
import { replacePart, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Edits } from './fix.ts';
import { spanOfWords } from './word-span.ts';

/** The items of a container's command and args, in order. */
type Lines = readonly Located<string>[];

/** Sets the value of a flag and keeps its form. Undefined for switches, and if the text cannot be edited without damage. */
export function setFlag(document: YamlDocument, lines: Lines, { word, valueWord }: Flag, value: string): Edits {
  if (valueWord === undefined) return undefined;
  const text = valueWord === word ? word.text.slice(0, word.text.indexOf('=') + 1) + value : value;
  return rewriteWord(document, lines, valueWord, text);
}

/** Replaces the number at the end of words such as `--nnodes=4` or `-np 16`. */
export function setLastNumber(
  document: YamlDocument,
  lines: Lines,
  words: readonly [Word, Word],
  value: number,
): Edits {
  const [, last] = words;
  const before = /^(.*?)(?<!\d)\d+$/s.exec(last.text)?.[1];
  return before === undefined ? undefined : rewriteWord(document, lines, last, `${before}${value}`);
}

/** Replaces a word that is an item or a part of a script. */
export function rewriteWord(document: YamlDocument, lines: Lines, word: Word, text: string): Edits {
  const item = lines[word.item];
  if (item === undefined || word.dynamic || word.derived === true) return undefined;
  if (word.start !== 0 || word.end !== item.value.length) {
    const span = spanOfWords(document, lines, [word, word]);
    return span && replacePart(document, item.at, span, word.text, text);
  }
  const isNumber = item.at.node.kind === 'scalar' && typeof item.at.node.value === 'number';
  return replaceScalar(document, item.at, isNumber && /^\d+$/.test(text) ? Number(text) : text);
}
