import { startFolder } from '../catalog/image-programs.ts';
import { programWords } from '../command/programs.ts';
import type { Statement, Word } from '../command/shell.ts';
import { once } from '../model/once.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { asText, getIn } from '../yaml/cursor.ts';

/** Where a command runs if it is somewhere below a folder whose path is unknown. These paths match no mount. */
export const unknownRoots = { image: '/?image', home: '/?home' } as const;

/**
 * The folder in which a container runs the command that has a word: its working directory or that of a known image, after all `cd` before the
 * command. Below one of `unknownRoots`, if it starts there; undefined if it is unknown.
 */
export function folderOf(word: Word, container: Container): string | undefined {
  return foldersOf(container).get(keyOf(word));
}

/** The folder of each command, by its words: a script may have thousands of commands. */
const foldersOf = once((container: Container): ReadonlyMap<string, string | undefined> => {
  const own = getIn(container.at, 'workingDir');
  const start = own === undefined ? (startFolder(container.image?.value ?? '') ?? unknownRoots.image) : asText(own);
  const folders = new Map<string, string | undefined>();
  walk(commandLineOf(container).statements, start && resolve('/', start), folders);
  return folders;
});

function keyOf({ item, start, end }: Word): string {
  return `${item} ${start} ${end}`;
}

/** Flags with which a launcher starts its program in another folder: `conda run --cwd`, `uv run --directory`, `mpirun -wdir`. */
const moves = /^--?(?:cwd|chdir|workdir|wdir|wd|directory|working-dir(?:ectory)?)(?:=|$)/;

/** Notes the folder of each command. @returns the folder after the last statement */
function walk(
  statements: readonly Statement[],
  from: string | undefined,
  folders: Map<string, string | undefined>,
): string | undefined {
  let folder = from;
  for (const statement of statements) {
    if (statement.kind === 'command') {
      const here = statement.words.some(({ text }) => moves.test(text)) ? undefined : folder;
      for (const word of statement.words) folders.set(keyOf(word), here);
      const [program, target = ''] = programWords(statement);
      // What runs after `||` or in the background may leave the shell where it is.
      if (program === 'cd') folder = statement.after === '||' ? undefined : resolve(folder, target);
      else if (program === 'pushd' || program === 'popd') folder = undefined;
      continue;
    }
    const isFunction = statement.kind === 'group' && statement.keyword === 'function';
    const body = statement.kind === 'loop' ? [...statement.condition, ...statement.body] : statement.body;
    const after = walk(body, isFunction ? undefined : folder, folders);
    if (statement.kind === 'group' && statement.keyword === 'subshell') continue;
    if (statement.kind === 'group' && statement.keyword === 'braces') folder = after;
    // One of several branches, a repeated one, or a function that may be called: only without `cd` it is known.
    else if (after !== folder && !(isFunction && !mentionsMove(body))) folder = undefined;
  }
  return folder;
}

function mentionsMove(statements: readonly Statement[]): boolean {
  return statements.some((statement) =>
    statement.kind === 'command'
      ? /^(?:cd|pushd|popd)$/.test(programWords(statement)[0] ?? '')
      : mentionsMove(statement.kind === 'loop' ? [...statement.condition, ...statement.body] : statement.body),
  );
}

/** A folder as seen from another one; undefined if unknown. */
function resolve(from: string | undefined, to: string): string | undefined {
  const path = to.replace(/^(?:~|\$HOME|\$\{HOME\}|$)(?=\/|$)/, unknownRoots.home);
  if (/[$`*]/.test(path) || /^[~-]/.test(path)) return undefined;
  if (!path.startsWith('/') && from === undefined) return undefined;
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${from}/${path}`).split('/')) {
    // What is above an unknown folder is unknown.
    if (part === '..' && parts.pop()?.startsWith('?')) return undefined;
    if (part !== '..' && part !== '' && part !== '.') parts.push(part);
  }
  const resolved = `/${parts.join('/')}`;
  return resolved.length > longestPath ? undefined : resolved;
}

/** Linux opens no longer path. */
const longestPath = 4096;
