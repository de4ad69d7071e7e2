import { changedLines, type LineChange } from './line-diff.ts';
import { isUnprintable, printable, type Style } from './terminal.ts';

/**
 * The difference between two texts in the format of `diff -u`, which `git apply` and `patch -p1` accept. As in that format, lines end with
 * a line feed, and anything before it, such as a carriage return, belongs to the line.
 *
 * @param name the file's path relative to where the diff will be applied, with forward slashes
 */
export function unifiedDiff(name: string, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const pieces = [`--- ${fileName(`a/${name}`)}\n+++ ${fileName(`b/${name}`)}\n`];
  for (const hunk of hunksOf(changedLines(old, now), old.length)) {
    pieces.push(`@@ -${rangeText(hunk.oldStart, hunk.oldEnd)} +${rangeText(hunk.newStart, hunk.newEnd)} @@\n`);
    let at = hunk.oldStart;
    for (const { oldStart, oldEnd, newStart, newEnd } of hunk.changes) {
      pieces.push(marked(' ', old, at, oldStart), marked('-', old, oldStart, oldEnd));
      pieces.push(marked('+', now, newStart, newEnd));
      at = oldEnd;
    }
    pieces.push(marked(' ', old, at, hunk.oldEnd));
  }
  return pieces.join('');
}

/** The diff for a terminal: in color, and without anything that a terminal interprets. */
export function showDiff(diff: string, style: Style): string {
  const shown = diff.split('\n').map((line) => {
    const text = printable(line);
    if (line.startsWith('--- ') || line.startsWith('+++ ')) return style.bold(text);
    if (line.startsWith('@@')) return style.blue(text);
    return line.startsWith('+') ? style.green(text) : line.startsWith('-') ? style.red(text) : text;
  });
  return shown.join('\n');
}

const contextLines = 3;

interface Hunk extends LineChange {
  readonly changes: readonly LineChange[];
}

/** Changes with their context lines; changes whose contexts meet form one hunk. */
function hunksOf(changes: readonly LineChange[], length: number): readonly Hunk[] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (last !== undefined && change.oldStart - last.oldEnd <= 2 * contextLines) group?.push(change);
    else groups.push([change]);
  }
  return groups.flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) return [];
    const above = Math.min(contextLines, first.oldStart);
    const below = Math.min(contextLines, length - last.oldEnd);
    return {
      oldStart: first.oldStart - above,
      oldEnd: last.oldEnd + below,
      newStart: first.newStart - above,
      newEnd: last.newEnd + below,
      changes: group,
    };
  });
}

/** An empty range is located by the line above it. */
function rangeText(start: number, end: number): string {
  const count = end - start;
  if (count === 0) return `${start},0`;
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`;
}

function marked(mark: string, lines: readonly string[], start: number, end: number): string {
  const whole = (line: string) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`);
  return lines
    .slice(start, end)
    .map((line) => mark + whole(line))
    .join('');
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** A name as Git writes it: quoted if a character would end the line or the name; followed by a tab if it contains spaces. */
function fileName(name: string): string {
  if (![...name].some((character) => character === '"' || character === '\\' || isUnprintable(character))) {
    return name.includes(' ') ? `${name}\t` : name;
  }
  const quoted = Array.from(name, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return isUnprintable(character) ? [...Buffer.from(character)].map(octal).join('') : character;
  });
  return `"${quoted.join('')}"`;
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`;
}
