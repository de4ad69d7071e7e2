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
const steps = wordSet('cd echo rm mkdir chmod chown set export pip pip3 sleep nvidia-smi ls date');

function programOf(statement: Statement | undefined): string {
  return statement?.kind === 'command' ? baseName(statement.words[0]?.text ?? '') : '';
}

/** Such a command that always runs; one under a condition may be meant. */
export function deletesProgress(container: Container): Deletion | undefined {
  const { command, args, env } = processInput(container);
  const { statements } = readCommandLine(command, args, env);
  const before = statements.slice(0, -1);
  // It may bring the files back.
  const lastOther = before.map((one) => !steps.has(programOf(one))).lastIndexOf(true);
  const deleted = before.flatMap((one, index) => {
    const [program, ...operands] = one.kind === 'command' && one.after !== '||' ? one.words : [];
    if (program === undefined || baseName(program.text) !== 'rm') return [];
    if (one.after === '&&' && !steps.has(programOf(statements[index - 1]))) return [];
    if (index < lastOther) return [];
    if (!operands.some(({ text }) => /^(?:-[a-z]*r[a-z]*|--recursive)$/i.test(text))) return [];
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
    // Training may resume from another directory.
    const resumes = signs.some(
      ({ flag }) =>
        flag && /resume|load|restore/.test(flag.name) && /\//.test(flag.value ?? '') && !isIn(flag.value ?? ''),
    );
    if (path !== '' && paths.some(isIn) && !resumes) return { path, words: [program, word] };
  }
  return undefined;
}
