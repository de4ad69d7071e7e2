import { wordSet } from '../catalog/word-patterns.ts';
import { baseName, readCommandLine, type Statement, type Word } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { checkpointSigns } from './launch.ts';

/** A command that deletes the directory of the checkpoints before training starts. */
export interface Deletion {
  readonly path: string;
  readonly words: readonly [Word, Word];
}

/** Commands that neither decide whether files are deleted, nor bring files. */
const steps = wordSet(
  'cd echo rm find mkdir chmod chown set export pip pip3 sleep nvidia-smi ls date true : test [ [[ sync df free hostname',
);

function programOf(statement: Statement | undefined): string {
  return statement?.kind === 'command' ? baseName(statement.words[0]?.text ?? '') : '';
}

/** The statements that run whenever there is something to delete: those of `if [ -d DIRECTORY ]; then …; fi` too. */
function whatRuns(statement: Statement): readonly Statement[] {
  if (statement.kind !== 'group' || statement.keyword !== 'if' || statement.ends?.length !== 2) return [statement];
  const [condition, ...body] = statement.body;
  return statement.ends[0] === 1 && looksForFile(condition) ? body : [statement];
}

function isTest(statement: Statement | undefined): boolean {
  return /^(?:test|\[{1,2})$/.test(programOf(statement));
}

/** Whether a test only asks for a file or directory. */
function looksForFile(statement: Statement | undefined): boolean {
  const words = statement?.kind === 'command' ? statement.words.slice(1) : [];
  return isTest(statement) && /^-[defs]$/.test(words[0]?.text ?? '') && words.length <= 3;
}

/** Whether the options of `find` select no files in particular. */
function deletesAll(options: readonly Word[]): boolean {
  const texts = options.map(({ text }) => text);
  const isDeleted = texts.includes('-delete') || (texts.includes('-exec') && texts.includes('rm'));
  return isDeleted && texts.every((text) => unselective.has(text) || /^(?:\d|-r?f?r?)$/.test(text));
}

/** What `find` and the `rm` that it starts may have without selecting files by name or age. */
const unselective = wordSet('-delete -exec -mindepth -maxdepth -type d f rm {} + ; \\; --');

/** Such a command that always runs; one under a condition may be meant. */
export function deletesProgress(container: Container): Deletion | undefined {
  const { command, args, env } = processInput(container);
  const { statements } = readCommandLine(command, args, env);
  const before = statements.slice(0, -1).flatMap(whatRuns);
  // It may bring the files back.
  const lastOther = before.map((one) => !steps.has(programOf(one))).lastIndexOf(true);
  const deleted = before.flatMap((one, index) => {
    const [program, ...operands] = one.kind === 'command' && one.after !== '||' ? one.words : [];
    if (program === undefined || index < lastOther) return [];
    if (one.after === '&&' && !steps.has(programOf(before[index - 1]))) return [];
    if (one.after === '&&' && isTest(before[index - 1]) && !looksForFile(before[index - 1])) return [];
    const [found] = operands;
    if (baseName(program.text) === 'find' && found !== undefined && !found.dynamic && deletesAll(operands.slice(1)))
      return [{ program, word: found }];
    if (baseName(program.text) !== 'rm' || !operands.some(({ text }) => /^(?:-[a-z]*r[a-z]*|--recursive)$/i.test(text)))
      return [];
    return operands.flatMap((word) => (word.dynamic || word.text.startsWith('-') ? [] : { program, word }));
  });
  if (deleted.length === 0) return undefined;
  const signs = checkpointSigns(container);
  const paths = signs.flatMap(({ kind, text, flag }) =>
    kind === 'path' && flag !== undefined ? text.replace(/\/$/, '') : [],
  );
  for (const { program, word } of deleted) {
    const path = word.text.replace(/\/\*?$/, '');
    const isIn = (one: string) => one === path || one.startsWith(`${path}/`);
    // The folder of the checkpoints in that of the run.
    const isOfRun = (one: string) => path.startsWith(`${one}/`) && /^(?:checkpoints?|ckpts?)$/.test(baseName(path));
    // Training may resume from another directory.
    const resumes = signs.some(
      ({ flag }) =>
        flag && /resume|load|restore/.test(flag.name) && /\//.test(flag.value ?? '') && !isIn(flag.value ?? ''),
    );
    if (path !== '' && paths.some((one) => isIn(one) || isOfRun(one)) && !resumes)
      return { path, words: [program, word] };
  }
  return undefined;
}
