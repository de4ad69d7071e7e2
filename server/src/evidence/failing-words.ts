import { bashism } from '../command/bashisms.ts';
import { type FailingCommand, replacesShell } from '../command/failing-commands.ts';
import { baseName, type Word } from '../command/shell.ts';
import type { Container } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';

/** What is wrong with a command that fails in every run. */
export function wordsOfFailure({ command, reason, word }: FailingCommand): string {
  const [program] = command.words;
  const name = `${baseName(program?.text ?? '')} ${word.text}`;
  if (reason === 'asks') {
    // apt-get goes on if it installs nothing but what is named.
    const when = /^apt(?:-get)? install/.test(name) ? 'before it adds dependencies' : 'before it continues';
    return `${name} without -y asks ${when}, and no terminal answers: it aborts`;
  }
  if (reason === 'lists')
    return `${name} finds no packages before ${baseName(program?.text ?? '')} update: this image has no package lists`;
  if (reason === 'login')
    return `${command.words.map((one) => one.text).join(' ')} asks for a token, and no terminal answers: it fails; set the token in a variable`;
  if (reason === 'hook') {
    const tool = baseName(program?.text ?? '');
    const remedy =
      tool === 'conda' ? 'source conda.sh first' : `load it with eval "$(${tool} shell hook --shell bash)"`;
    return `${name} needs a function that this shell does not load: it fails; use ${tool} run, or ${remedy}`;
  }
  if (word.text === 'pipefail')
    return 'sh is dash in this image and does not know pipefail: the script stops; run it with bash';
  const remedy = word.text === 'source' ? 'write . or run it with bash' : 'run the script with bash';
  return `sh is dash in this image and does not know ${word.text}: the command fails; ${remedy}`;
}

/** What dash reads differently than bash in the script of `sh -c`. */
export function dashProblem(
  [, , script]: Container['args'],
  text: string,
): { readonly word: Word; readonly message: string } | undefined {
  const found = script === undefined || replacesShell(text) ? undefined : bashism(script.value, 2);
  return (
    found && {
      word: found.word,
      message: `sh is dash in this image and does not know ${shorten(found.shown, 30)}: ${found.effect}`,
    }
  );
}
