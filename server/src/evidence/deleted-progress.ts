import { baseName, readCommandLine, type Word } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { checkpointSigns } from './launch.ts';

/** A command that deletes the directory of the checkpoints before training starts. */
export interface Deletion {
  readonly path: string;
  readonly words: readonly [Word, Word];
}

/** Such a command that always runs; one under a condition may be meant. */
export function deletesProgress(container: Container): Deletion | undefined {
  const { command, args, env } = processInput(container);
  const { statements } = readCommandLine(command, args, env);
  const deleted = statements.slice(0, -1).flatMap((one) => {
    const [program, ...operands] = one.kind === 'command' && one.after !== '||' ? one.words : [];
    if (program === undefined || baseName(program.text) !== 'rm') return [];
    if (!operands.some(({ text }) => /^(?:-[a-z]*r[a-z]*|--recursive)$/i.test(text))) return [];
    return operands.flatMap((word) => (word.dynamic || word.text.startsWith('-') ? [] : { program, word }));
  });
  if (deleted.length === 0) return undefined;
  const paths = checkpointSigns(container).flatMap(({ kind, text, flag }) =>
    kind === 'path' && flag !== undefined ? text.replace(/\/$/, '') : [],
  );
  for (const { program, word } of deleted) {
    const path = word.text.replace(/\/\*?$/, '');
    if (path !== '' && paths.some((one) => one === path || one.startsWith(`${path}/`)))
      return { path, words: [program, word] };
  }
  return undefined;
}
