import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, type Statement, type Word } from './shell.ts';

/** A word of a script that the shell or its program reads differently than it was meant. */
export interface Mistyped {
  readonly word: Word;
  readonly problem: string;
}

/** Programs that print their words. */
const prints = wordSet('echo printf');

/** Commands that assign variables. */
const assigns = wordSet('export readonly local declare');

/** The first mistyped word of a script: a bracket without its space, an assignment with spaces, a dash that is no hyphen. */
export function mistyped(statements: readonly Statement[]): Mistyped | undefined {
  for (const { words } of allCommands(statements)) {
    const [first, second] = words;
    const last = words.at(-1);
    if (first === undefined || last === undefined || prints.has(first.text)) continue;
    if (/^\[(?!\[)./.test(first.text))
      return { word: first, problem: '[ is a command and needs a space after it: the shell finds no such command' };
    if (first.text === '[' && last.text !== ']')
      return { word: last, problem: 'The test does not end with a separate ]: the shell rejects it' };
    if (second?.text === '=' && /^[A-Za-z_]\w*$/.test(first.text))
      return {
        word: second,
        problem: `The shell runs ${first.text} as a command: an assignment has no spaces around =`,
      };
    const [, , third] = words;
    if (third?.text === '=' && assigns.has(first.text) && /^[A-Za-z_]\w*$/.test(second?.text ?? ''))
      return {
        word: third,
        problem: `${first.text} ${second?.text} = assigns nothing: an assignment has no spaces around =`,
      };
    const dash = words.find((word) => isDash(word.text));
    if (dash !== undefined) return { word: dash, problem: notHyphen(dash.text) };
  }
  return undefined;
}

/** Whether a word starts like a flag, but with the dash of a text. */
export function isDash(text: string): boolean {
  return /^[\u2013\u2014][A-Za-z]/.test(text);
}

/** What is wrong with such a word. */
export function notHyphen(text: string): string {
  return `${text.slice(0, 20)} starts with a typographic dash, not a hyphen: the program does not read it as a flag`;
}
