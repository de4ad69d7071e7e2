import { pythonCode } from '../command/inline-python.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** Python code that a container runs and whose text a manifest has. */
export interface PythonFile {
  readonly text: string;
  /** All words of the command that runs the code. */
  readonly words: readonly Word[];
  /** The first of them. */
  readonly command: Word;
  /** The word that names the file of the code; undefined for code without a file. */
  readonly file: Word | undefined;
  /** The word for a place in the code, or the word that names its file. */
  readonly wordOf: (place: Place) => Word;
}

interface Place {
  /** The text of the place. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** The codes that a container runs: of `python -c`, of here-documents, and of files that these write or that a ConfigMap has. */
export const pythonFiles = once((container: Container): readonly PythonFile[] => {
  const files = new Map((container.settingsFiles ?? []).map(({ path, text }) => [path, text]));
  const written = new Map<string, SimpleCommand>();
  return commandsIn(container).flatMap((command): readonly PythonFile[] => {
    const { words, heredoc } = command;
    const [program] = words;
    if (program === undefined) return [];
    const run = { words, command: program };
    const target = heredoc && writtenFile(command, container);
    if (target !== undefined) written.set(baseName(target), command);
    const inline = pythonCode(command);
    if (inline !== undefined)
      return [{ ...run, text: inline, file: undefined, wordOf: inHeredoc(command) ?? (() => program) }];
    const file = words.find(({ text }) => text.endsWith('.py'));
    if (file === undefined || !/^(?:python[\d.]*|torchrun|accelerate)$/.test(baseName(programWords(command)[0] ?? '')))
      return [];
    const source = written.get(baseName(file.text));
    if (source?.heredoc !== undefined)
      return [{ ...run, text: source.heredoc.text, file, wordOf: inHeredoc(source) ?? (() => file) }];
    const text = files.get(file.text);
    return text === undefined ? [] : [{ ...run, text, file, wordOf: () => file }];
  });
});

/** The text of a code with those of the modules that it imports, of those that here-documents write and ConfigMaps have. */
export function withModules(code: PythonFile, container: Container): string {
  const modules = modulesOf(container).filter(({ text }) => text !== code.text);
  const found = [code.text];
  for (const one of found) {
    // A module is added once, so that this ends.
    for (const { name, text } of modules) if (!found.includes(text) && importsModule(one, name)) found.push(text);
  }
  return found.join('\n');
}

function importsModule(code: string, name: string): boolean {
  return code.split('\n').some((line) => /^\s*(?:from|import)\s/.test(line) && line.split(/[^\w]+/).includes(name));
}

interface Module {
  /** The name by which others import it. */
  readonly name: string;
  readonly text: string;
}

const modulesOf = once((container: Container): readonly Module[] => {
  const mounted = (container.settingsFiles ?? []).filter(({ path }) => path.endsWith('.py'));
  const written = commandsIn(container).flatMap((one) => {
    const path = writtenFile(one, container);
    return path === undefined || one.heredoc === undefined ? [] : [{ path, text: one.heredoc.text }];
  });
  return [...mounted, ...written].slice(0, maxModules).map(({ path, text }) => {
    const [file = '', folder = ''] = path.split('/').reverse();
    return { name: file === '__init__.py' ? folder : file.slice(0, -'.py'.length), text };
  });
});

const maxModules = 30;

/** The Python file that `cat > file.py <<EOF` or `tee file.py <<EOF` writes: redirections are no words of a command. */
function writtenFile({ heredoc, words }: SimpleCommand, { command, args }: Container): string | undefined {
  const [program] = words;
  if (program === undefined || heredoc === undefined || !/^(?:cat|tee)$/.test(baseName(program.text))) return undefined;
  const script = [...command, ...args][program.item]?.value ?? '';
  const line = program.derived === true ? '' : script.slice(program.start, heredoc.start);
  return /(?:>\s*|\btee\s+)["']?([\w./-]+\.py)\b/.exec(line)?.[1];
}

/** The word for a place in the text of a here-document. */
function inHeredoc({ heredoc, words }: SimpleCommand): PythonFile['wordOf'] | undefined {
  const [first] = words;
  if (heredoc === undefined || first === undefined || first.derived === true) return undefined;
  return ({ path, start, end }) => ({ ...first, text: path, start: heredoc.start + start, end: heredoc.start + end });
}
