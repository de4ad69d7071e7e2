import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from './name-words.ts';
import { baseName, type SimpleCommand } from './shell.ts';
import { isShell } from './wrappers.ts';

/** Whether it is a shell script whose name says that it only prepares something: `./setup.sh`, `bash scripts/install_deps.sh`. */
export function preparesByName([program = '', script = '']: readonly string[]): boolean {
  const name = baseName(isShell(baseName(program)) ? script : program);
  return name.endsWith('.sh') && wordsOf(name).some((word) => preparing.has(word));
}

const preparing: ReadonlySet<string> = new Set(['setup', 'install', 'prepare', 'download', 'build', 'compile']);

/** Whether it reads a file that sets up the shell, by its name: `source .venv/bin/activate`, `. /opt/conda/etc/profile.d/conda.sh`. */
export function setsVariables({ words: [program, file] }: SimpleCommand): boolean {
  if (program === undefined || file === undefined || !/^(?:source|\.)$/.test(program.text)) return false;
  return wordsOf(baseName(file.text)).some((word) => settingUp.has(word));
}

const settingUp = wordSet('activate env environment vars setvars conda bashrc profile setup secrets config');
