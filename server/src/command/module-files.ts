import type { ProcessInput } from './processes.ts';
import { allCommands, baseName, readCommandLine, type Word } from './shell.ts';

/** A file where Python reads the name of a module. */
export interface FileAsModule {
  readonly program: string;
  readonly word: Word;
  /** The module that the file is: `src.train` for `src/train.py`. */
  readonly module: string;
}

/** The files behind `-m` of Python or of a launcher of Python: `python -m train.py`, `torchrun -m src/train`. */
export function findFilesAsModules(input: ProcessInput): readonly FileAsModule[] {
  const { statements } = readCommandLine(input.command, input.args, input.env);
  return allCommands(statements).flatMap(({ words }) => {
    const flag = words.findIndex(({ text }) => text === '-m');
    const word = words[flag + 1];
    // Behind a script, `-m` is the script's own flag.
    const before = words.slice(0, Math.max(flag, 0)).map(({ text }) => text);
    const program = before.map(baseName).find(takesModules);
    if (flag < 0 || word === undefined || word.dynamic || word.derived === true || program === undefined) return [];
    if (before.some((text) => text.endsWith('.py') || text === '-c') || !/\.py$|^(?!-)[^\s:]*\//.test(word.text))
      return [];
    const module = word.text.replace(/^\.?\/+|\.py$/g, '').replaceAll('/', '.');
    return [{ program, word, module }];
  });
}

function takesModules(name: string): boolean {
  return /^(?:python[\d.]*|torchrun|accelerate|composer)$/.test(name);
}
