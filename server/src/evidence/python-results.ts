import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { type PythonSave, savesIn } from '../command/python-saves.ts';
import { baseName, type Word } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { absolute, isLost } from './lost-paths.ts';
import { keepsNowhereElse } from './lost-results.ts';
import { type PythonFile, pythonFiles } from './python-files.ts';

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

interface Code extends PythonFile {
  readonly saves: readonly PythonSave[];
}

/** The codes that a container runs and that train and save. */
function codesOf(container: Container): readonly Code[] {
  return pythonFiles(container).flatMap((file) => {
    const saves = savesIn(file.text);
    return saves.length === 0 ? [] : [{ ...file, saves }];
  });
}
