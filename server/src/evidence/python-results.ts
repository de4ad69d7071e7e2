import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { pythonCode } from '../command/inline-python.ts';
import { type PythonSave, savesIn } from '../command/python-saves.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { absolute, isLost } from './lost-paths.ts';
import { keepsNowhereElse } from './lost-results.ts';

/** The model that Python code in a manifest trains, and loses with its pod. */
export interface LostModel {
  readonly path: string;
  /** The path in the code, or the word of the command that names the file of the code. */
  readonly word: Word;
}

/** Where the only training code of a container saves its model, if every place of it ends with the pod and nothing can copy files elsewhere. */
export function lostModel(container: Container, podSet: PodSet): LostModel | undefined {
  const [code, ...others] = codesOf(container);
  if (code === undefined || others.length > 0 || !keepsNowhereElse(container, podSet)) return undefined;
  if (goesOn(code, container) || mayUseVolume(code.text, container, podSet)) return undefined;
  const places = code.saves.map((save) => ({
    save,
    text: absolute({ text: save.path, word: code.command }, container),
  }));
  if (places.some(({ text }) => text === undefined || !isLost({ text }, container, podSet))) return undefined;
  const [first] = places;
  return first && { path: first.save.path, word: code.wordOf(first.save) };
}

/** Whether a command after the code may copy or convert the model. */
function goesOn(code: Code, container: Container): boolean {
  const commands = commandsIn(container);
  const at = commands.findIndex(({ words }) => words[0] === code.command);
  return commands.slice(at + 1).some((command) => !harmless.has(baseName(programWords(command)[0] ?? '')));
}

const harmless = wordSet('echo printf ls du df cat date true exit wait set nvidia-smi');

/** Whether code names the folder of a volume that outlives the pod, except to read from it: it may also save there. */
function mayUseVolume(text: string, container: Container, podSet: PodSet): boolean {
  const paths = container.volumeMounts
    .filter(({ mountPath }) => !isLost({ text: mountPath }, container, podSet))
    .map(({ mountPath }) => mountPath.replace(/\/$/, ''))
    .filter((path) => path !== '');
  if (!paths.some((path) => text.includes(path))) return false;
  return text.split('\n').some((line) => paths.some((path) => line.includes(path)) && !reads.test(line));
}

const reads = new RegExp(`${oneOf('load read dataset folder glob listdir train_ data_')}|["']r["']`, 'i');

interface Code {
  readonly text: string;
  readonly saves: readonly PythonSave[];
  /** The word of the command that runs the code. */
  readonly command: Word;
  readonly wordOf: (save: PythonSave) => Word;
}

/** The codes that a container runs and that train: of `python -c`, of here-documents, and of files that these write or that a ConfigMap has. */
function codesOf(container: Container): readonly Code[] {
  const files = new Map((container.settingsFiles ?? []).map(({ path, text }) => [path, text]));
  const written = new Map<string, SimpleCommand>();
  return commandsIn(container).flatMap((command): readonly Code[] => {
    const { words, heredoc } = command;
    const [program] = words;
    if (program === undefined) return [];
    const target = heredoc && writtenFile(command, container);
    if (target !== undefined) written.set(baseName(target), command);
    const inline = pythonCode(command);
    if (inline !== undefined) return codeOf(inline, program, inHeredoc(command) ?? (() => program));
    const file = words.find(({ text }) => text.endsWith('.py'));
    if (file === undefined || !/^(?:python[\d.]*|torchrun|accelerate)$/.test(baseName(programWords(command)[0] ?? '')))
      return [];
    const source = written.get(baseName(file.text));
    if (source?.heredoc !== undefined) return codeOf(source.heredoc.text, program, inHeredoc(source) ?? (() => file));
    return codeOf(files.get(file.text) ?? '', program, () => file);
  });
}

/** The Python file that `cat > file.py <<EOF` or `tee file.py <<EOF` writes: redirections are no words of a command. */
function writtenFile({ heredoc, words }: SimpleCommand, { command, args }: Container): string | undefined {
  const [program] = words;
  if (program === undefined || heredoc === undefined || !/^(?:cat|tee)$/.test(baseName(program.text))) return undefined;
  const script = [...command, ...args][program.item]?.value ?? '';
  const line = program.derived === true ? '' : script.slice(program.start, heredoc.start);
  return /(?:>\s*|\btee\s+)["']?([\w./-]+\.py)\b/.exec(line)?.[1];
}

function codeOf(code: string, command: Word, wordOf: Code['wordOf']): readonly Code[] {
  const saves = savesIn(code);
  return saves.length === 0 ? [] : [{ text: code, saves, command, wordOf }];
}

/** The word for a place in the text of a here-document. */
function inHeredoc({ heredoc, words }: SimpleCommand): Code['wordOf'] | undefined {
  const [first] = words;
  if (heredoc === undefined || first === undefined || first.derived === true) return undefined;
  return ({ path, start, end }) => ({ ...first, text: path, start: heredoc.start + start, end: heredoc.start + end });
}
