import { once } from '../yaml/once.ts';
import type { ProcessInput } from './processes.ts';
import { allCommands, baseName, readCommandLine, type Word } from './shell.ts';

/** A file where Python reads the name of a module. */
export interface FileAsModule {
  readonly program: string;
  readonly word: Word;
  /** The module that the file is: `src.train` for `src/train.py`. */
  readonly module: string;
}

/** The files behind `-m` of Python or of a launcher of Python: `python -m train.py`, `torchrun --nnodes=2 -m train.py`. */
export const findFilesAsModules = once((input: ProcessInput): readonly FileAsModule[] => {
  const { statements } = readCommandLine(input.command, input.args, input.env);
  return allCommands(statements).flatMap(({ words }) => {
    const texts = words.map(({ text }) => text);
    const flag = texts.indexOf('-m');
    const start = texts.findIndex((text) => isPython(text) || launchers.has(baseName(text)));
    const [word, program] = [words[flag + 1], texts[start]];
    if (flag < start || word === undefined || program === undefined) return [];
    const before = texts.slice(start + 1, flag);
    // Behind a script, `-m` is the script's own flag; the options of a launcher can have values.
    const isOwn = isPython(program)
      ? before.every((text) => text.startsWith('-') && text !== '-c')
      : before.every((text, at) => text.startsWith('-') || text === 'launch' || /^-[^=]*$/.test(before[at - 1] ?? ''));
    const isFile = word.text.endsWith('.py') || (isPython(program) && /^[\w.-]+\/[\w./-]+$/.test(word.text));
    if (!isOwn || !isFile || word.dynamic || word.derived === true) return [];
    const module = word.text.replace(/^\.?\/+|\.py$/g, '').replaceAll('/', '.');
    return [{ program: baseName(program), word, module }];
  });
});

function isPython(text: string): boolean {
  return /^python[\d.]*$/.test(baseName(text));
}

const launchers: ReadonlySet<string> = new Set(['torchrun', 'accelerate', 'composer']);
