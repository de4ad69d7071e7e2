import { startFolder } from '../catalog/image-programs.ts';
import { programWords } from '../command/programs.ts';
import type { Statement, Word } from '../command/shell.ts';
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
  const own = getIn(container.at, 'workingDir');
  const start = own === undefined ? (startFolder(container.image?.value ?? '') ?? unknownRoots.image) : asText(own);
  const { found, folder } = walk(commandLineOf(container).statements, start && resolve('/', start), word);
  return found ? folder : undefined;
}

/** Flags with which a launcher starts its program in another folder: `conda run --cwd`, `uv run --directory`, `mpirun -wdir`. */
const moves = /^--?(?:cwd|chdir|workdir|wdir|wd|directory|working-dir(?:ectory)?)(?:=|$)/;

interface Step {
  /** Whether a statement has the word. If so, `folder` is that of the statement, else the one after the last statement. */
  readonly found: boolean;
  readonly folder: string | undefined;
}

function walk(statements: readonly Statement[], from: string | undefined, word: Word): Step {
  let folder = from;
  for (const statement of statements) {
    if (statement.kind === 'command') {
      if (statement.words.some((one) => isSame(one, word)))
        return { found: true, folder: statement.words.some(({ text }) => moves.test(text)) ? undefined : folder };
      const [program, target = ''] = programWords(statement);
      // What runs after `||` or in the background may leave the shell where it is.
      if (program === 'cd') folder = statement.after === '||' ? undefined : resolve(folder, target);
      else if (program === 'pushd' || program === 'popd') folder = undefined;
      continue;
    }
    const isFunction = statement.kind === 'group' && statement.keyword === 'function';
    const body = statement.kind === 'loop' ? [...statement.condition, ...statement.body] : statement.body;
    const inner = walk(body, isFunction ? undefined : folder, word);
    if (inner.found) return inner;
    if (statement.kind === 'group' && statement.keyword === 'subshell') continue;
    if (statement.kind === 'group' && statement.keyword === 'braces') folder = inner.folder;
    // One of several branches, a repeated one, or a function that may be called: only without `cd` it is known.
    else if (inner.folder !== folder && !(isFunction && !mentionsMove(body))) folder = undefined;
  }
  return { found: false, folder };
}

function mentionsMove(statements: readonly Statement[]): boolean {
  return statements.some((statement) =>
    statement.kind === 'command'
      ? /^(?:cd|pushd|popd)$/.test(programWords(statement)[0] ?? '')
      : mentionsMove(statement.kind === 'loop' ? [...statement.condition, ...statement.body] : statement.body),
  );
}

function isSame(one: Word, other: Word): boolean {
  return one.item === other.item && one.start === other.start && one.end === other.end;
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
  return `/${parts.join('/')}`;
}
