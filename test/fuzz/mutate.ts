import { keys, marks, numbers, templates, values } from './hostile.ts';

/** One change to a text. Both numbers are below `scale`: `at` selects the place, `choice` one of several variants. They shrink to 0. */
export interface Mutation {
  readonly kind: MutatorName;
  readonly at: number;
  readonly choice: number;
}

export const scale = 1 << 20;

/** Repeated changes grow a text; longer texts than this are not extended. */
const maxLength = 1_000_000;

/** Applies the mutations in order; `other` is the text to splice in. */
export function mutate(text: string, other: string, mutations: readonly Mutation[]): string {
  let mutant = text;
  for (const { kind, at, choice } of mutations) {
    if (mutant.length <= maxLength) mutant = mutators[kind](mutant, { at, choice, other });
  }
  return mutant;
}

interface Where extends Omit<Mutation, 'kind'> {
  readonly other: string;
}

type Mutator = (text: string, where: Where) => string;

const mutators = {
  indentLine: onLine((line, choice) => indented(line, (choice % 9) - 4)),
  indentBlock: onBlock((block, choice) => [...block.map((line) => indented(line, (choice % 9) - 4))]),
  deleteLine: onLine(() => ''),
  deleteBlock: onBlock(() => []),
  duplicateLine: onLine((line) => line + line),
  duplicateBlock: onBlock((block) => [...block, ...block]),
  joinLines: onLine((line, choice) => line.replace(/[\r\n]+$/, choice % 2 === 0 ? '' : ' ')),
  splitLine: onLine((line, choice) => {
    const cut = choice % (line.length + 1);
    return `${line.slice(0, cut)}\n${line.slice(cut)}`;
  }),
  swapLines: onLines((lines, first, choice) => {
    const second = choice % lines.length;
    return lines.map((line, index) => (index === first ? lines[second] : index === second ? lines[first] : line) ?? '');
  }),
  moveBlock: onLines((lines, first, choice) => {
    const end = endOfBlock(lines, first);
    const rest = [...lines.slice(0, first), ...lines.slice(end)];
    const to = choice % (rest.length + 1);
    return [...rest.slice(0, to), ...lines.slice(first, end), ...rest.slice(to)];
  }),
  swapWords: (text, { at, choice }) => {
    const words = placesOf(text, /[^\s:,[\]{}"']+/g);
    const [first, second] = [pick(words, at), pick(words, choice)];
    if (first === undefined || second === undefined || first.start >= second.start) return text;
    const between = text.slice(first.end, second.start);
    return text.slice(0, first.start) + of(text, second) + between + of(text, first) + text.slice(second.end);
  },
  dropMark: (text, { at }) => replaced(text, pick(placesOf(text, /["'[\]{}:,#|>&*-]/g), at), ''),
  insertMark: (text, { at, choice }) => inserted(text, at, marks[choice % marks.length] ?? ''),
  deleteRange: (text, { at, choice }) => {
    const start = Math.floor((at / scale) * text.length);
    return text.slice(0, start) + text.slice(start + 1 + (choice % 12));
  },
  truncate: (text, { at }) => text.slice(0, Math.floor((at / scale) * text.length)),
  number: (text, { at, choice }) =>
    replaced(text, pick(placesOf(text, /(?<=[\s:="',[-])\d[\w.]*/g), at), numbers[choice % numbers.length] ?? ''),
  value: (text, { at, choice }) => {
    const all = [...values, ...numbers];
    return replaced(text, pick(placesOf(text, /(?<=[:-] +)[^\s#][^\r\n]*/g), at), all[choice % all.length] ?? '');
  },
  key: (text, { at, choice }) =>
    replaced(text, pick(placesOf(text, /[\w./-]+(?=:(?:\s|$))/g), at), keys[choice % keys.length] ?? ''),
  copyKey: (text, { at, choice }) => {
    const places = placesOf(text, /[\w./-]+(?=:(?:\s|$))/g);
    const from = pick(places, choice);
    return from === undefined ? text : replaced(text, pick(places, at), of(text, from));
  },
  anchor: (text, { at, choice }) => {
    const colons = placesOf(text, /:(?=[ \t]*(?:\r?\n|$)|[ \t])/g);
    const anchored = replaced(text, pick(colons, at), ': &a ');
    const value = pick(placesOf(anchored, /(?<=: +)(?!&a)[^\s#][^\r\n]*/g), choice);
    return replaced(anchored, value, choice % 3 === 0 ? '{<<: *a}' : '*a');
  },
  mergeKey: onLine((line, choice) => `${indentOf(line)}<<: ${['*a', '{a: b}', '[*a, *b]', '1'][choice % 4]}\n${line}`),
  template: (text, { at, choice }) => inserted(text, at, templates[choice % templates.length] ?? ''),
  templateLine: onLine((line, choice) => `${templates[choice % templates.length] ?? ''}\n${line}`),
  cutTemplate: (text, { at, choice }) =>
    replaced(text, pick(placesOf(text, /\{\{-?|-?\}\}|\{%|%\}/g), at), choice % 2 === 0 ? '' : '{'),
  lineEnds: (text, { choice }) => {
    const unix = text.replace(/\r\n?/g, '\n');
    const ends = ['\r\n', '\r', '\n'] as const;
    let line = 0;
    return unix.replace(/\n/g, () => {
      line += 1;
      return choice % 3 < 2 ? (ends[choice % 3] ?? '\n') : (ends[(line * 7 + choice) % 3] ?? '\n');
    });
  },
  mergeDocuments: (text, { at }) => replaced(text, pick(placesOf(text, /^---[ \t]*(?:\r?\n)?/gm), at), ''),
  splitDocument: onLine((line) => `---\n${line}`),
  appendDocument: (text, { other, choice }) => `${text}${choice % 2 === 0 ? '\n---\n' : '---\n'}${other}`,
  repeatDocument: (text, { choice }) =>
    Array.from({ length: times(choice, text.length) }, () => text).join(choice % 2 === 0 ? '\n---\n' : ''),
  repeatBlock: onBlock((block, choice) =>
    Array.from({ length: times(choice, block.join('').length) }, () => block).flat(),
  ),
  repeatWord: (text, { at, choice }) => {
    const word = pick(placesOf(text, /\S+/g), at);
    return word === undefined
      ? text
      : replaced(text, word, of(text, word).repeat(times(choice, word.end - word.start)));
  },
  nest: onLine((line, choice) => {
    const depth = choice % 300;
    return `${indentOf(line)}x: ${(choice % 2 === 0 ? '[' : '{a: ').repeat(depth)}${(choice % 2 === 0 ? ']' : '}').repeat(depth)}\n${line}`;
  }),
  conflict: onBlock((block) => ['<<<<<<< HEAD\n', ...block, '=======\n', ...block.slice(1), '>>>>>>> topic\n']),
  looseFlow: (text, { choice }) => {
    // As people write JSON by hand: no space after the colon, no comma at the end of the line, no quotes.
    const [from, to] = [
      [/: (?=[[{])/g, ':'],
      [/,[ \t]*$/gm, ''],
      [/"([\w/-]+)":/g, '$1:'],
      [/\{(?=[^\r\n])/g, '{ // c\n'],
    ][choice % 4] as [RegExp, string];
    return text.replace(from, to);
  },
  splice: (text, { at, choice, other }) => {
    const [mine, theirs] = [linesOf(text), linesOf(other)];
    const [cut, from] = [Math.floor((at / scale) * mine.length), Math.floor((choice / scale) * theirs.length)];
    return [...mine.slice(0, cut), ...theirs.slice(from)].join('');
  },
  insertBlock: onLines((lines, first, choice, other) => {
    const theirs = linesOf(other);
    const from = choice % Math.max(theirs.length, 1);
    return [...lines.slice(0, first), ...theirs.slice(from, endOfBlock(theirs, from)), ...lines.slice(first)];
  }),
} satisfies Record<string, Mutator>;

export type MutatorName = keyof typeof mutators;

export const mutatorNames = Object.keys(mutators) as readonly MutatorName[];

/** The lines including their line ends; a lone carriage return is one. */
export function linesOf(text: string): readonly string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

function onLines(
  change: (lines: readonly string[], at: number, choice: number, other: string) => readonly string[],
): Mutator {
  return (text, { at, choice, other }) => {
    const lines = linesOf(text);
    return lines.length === 0 ? text : change(lines, Math.floor((at / scale) * lines.length), choice, other).join('');
  };
}

function onLine(change: (line: string, choice: number) => string): Mutator {
  return onLines((lines, at, choice) => lines.map((line, index) => (index === at ? change(line, choice) : line)));
}

/** A block is a line and all deeper-indented lines below it. */
function onBlock(change: (block: readonly string[], choice: number) => readonly string[]): Mutator {
  return onLines((lines, at, choice) => {
    const end = endOfBlock(lines, at);
    return [...lines.slice(0, at), ...change(lines.slice(at, end), choice), ...lines.slice(end)];
  });
}

function endOfBlock(lines: readonly string[], first: number): number {
  const depth = indentOf(lines[first] ?? '').length;
  let end = first + 1;
  while (end < lines.length && indentOf(lines[end] ?? '').length > depth) end += 1;
  return end;
}

function indentOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? '';
}

function indented(line: string, by: number): string {
  return by >= 0 ? ' '.repeat(by) + line : line.replace(new RegExp(`^ {0,${-by}}`), '');
}

/** Usually a few; rarely so many that quadratic behavior shows, within the maximum length of a text. */
function times(choice: number, length: number): number {
  const most = Math.max(1, Math.floor((choice % 50 === 0 ? 200_000 : 10_000) / Math.max(length, 1)));
  return Math.min(2 + (choice % (choice % 50 === 0 ? 5000 : 12)), most);
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function placesOf(text: string, pattern: RegExp): readonly Place[] {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ start: index, end: index + found.length }));
}

function pick(places: readonly Place[], at: number): Place | undefined {
  return places[Math.floor((at / scale) * places.length)];
}

function of(text: string, { start, end }: Place): string {
  return text.slice(start, end);
}

function replaced(text: string, place: Place | undefined, by: string): string {
  return place === undefined ? text : text.slice(0, place.start) + by + text.slice(place.end);
}

function inserted(text: string, at: number, what: string): string {
  const offset = Math.floor((at / scale) * (text.length + 1));
  return text.slice(0, offset) + what + text.slice(offset);
}
