import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** A `pip install` that fails in every run of a script. */
export interface FailingInstall {
  readonly command: SimpleCommand;
  /** `managed`: it would change the Python of the system. `nothing`: it names no package. */
  readonly reason: 'managed' | 'nothing';
  readonly word: Word;
}

/** Flags without a value, after which packages still have to follow. */
const bareFlags = wordSet(
  '-U --upgrade -q -qq -v --quiet --verbose --user --pre -I --ignore-installed --force-reinstall --no-deps',
  '--no-cache-dir --no-cache --no-build-isolation --break-system-packages --system',
);

/** The words after `install` of pip; undefined for other commands, and for those that get their words from elsewhere. */
function operandsOf({ words }: SimpleCommand): readonly Word[] | undefined {
  const texts = words.map(({ text }) => text);
  const at = texts.indexOf('install');
  const line = texts.slice(0, Math.max(at, 0)).join(' ');
  return /^(?:sudo )?(?:pip3?|python3? -m pip|uv pip)$/.test(line) ? words.slice(at + 1) : undefined;
}

/** Every `pip install` that names nothing to install: pip exits with an error. */
export function emptyInstalls(statements: readonly Statement[]): FailingInstall[] {
  const commands = allCommands(statements);
  return commands.flatMap((command, index) => {
    const operands = operandsOf(command);
    const word = command.words.find(({ text }) => text === 'install');
    if (operands === undefined || word === undefined || commands[index + 1]?.after === '||') return [];
    // Packages may come from a pipe only behind xargs, but a heredoc or a redirection hints at something else.
    if (command.heredoc !== undefined || !operands.every(({ text, dynamic }) => !dynamic && bareFlags.has(text)))
      return [];
    return [{ command, reason: 'nothing' as const, word }];
  });
}

/** Words of scripts that may install somewhere else, or lift the ban. */
const elsewhere = new RegExp(
  oneOf(
    'venv virtualenv VIRTUAL_ENV conda mamba pyenv poetry pipx EXTERNALLY BREAK_SYSTEM deadsnakes get-pip',
    'PATH= PIP_ pip\\.conf pip3?\\sconfig --target --prefix --root= \\s-t\\s python3?\\.\\d pip3?\\.\\d add-apt-repository',
  ),
);

/** What may make a program named `python`. */
const makesPython =
  /python-is-python3|\bln -|alternatives|alias |venv|virtualenv|conda|mamba|pyenv|\buv\b|PATH=|function|\/bin\/python(?![\d.])|python\s*\(\)|\.sh\b/;

/** The first `python` of a script that has only installed `python3`, in an image that has neither. */
export function missingPython(statements: readonly Statement[], text: string): Word | undefined {
  if (makesPython.test(text)) return undefined;
  let isSystem = false;
  const commands = allCommands(statements);
  for (const [index, { words, after }] of commands.entries()) {
    const texts = words.map((one) => one.text).filter((one) => one !== 'sudo' && one !== 'exec');
    const [program = ''] = texts;
    if (/^(?:apt|apt-get)$/.test(baseName(program))) {
      // Releases before Ubuntu 20.04 have a package of that name, and others may need one.
      if (texts.some((one) => /^python(?:-|$|2)|^software-properties/.test(one))) return undefined;
      isSystem ||= texts.some((one) => ofSystem.test(one));
    }
    if (/^(?:\.|source|eval|make|cmake)$/.test(program)) return undefined;
    if (program !== 'python' || !isSystem) continue;
    return after === '||' || commands[index + 1]?.after === '||'
      ? undefined
      : words.find((one) => one.text === 'python');
  }
  return undefined;
}

/** Flags with which pip goes on. */
const allowing = /^--(?:break-system-packages|help|dry-run)/;

/** What brings the system's own pip. */
const ofSystem = /^python3?(?:-pip|-full|-dev)?$/;

/**
 * The first `pip install` of a script for the Python that its package manager has installed, in a system that forbids it.
 * https://peps.python.org/pep-0668/, read 2026-11-29
 */
export function managedInstall(statements: readonly Statement[], text: string): FailingInstall | undefined {
  if (elsewhere.test(text)) return undefined;
  // Under a condition, something else may run.
  const certain = statements.filter((one) => {
    return one.kind === 'command' || (one.kind === 'group' && /^(?:subshell|braces)$/.test(one.keyword));
  });
  let isSystem = false;
  const commands = allCommands(certain);
  for (const [index, command] of commands.entries()) {
    const { words } = command;
    const program = baseName(words.find((one) => one.text !== 'sudo')?.text ?? '');
    if (/^(?:apt|apt-get)$/.test(program) && words.some((one) => ofSystem.test(one.text))) isSystem = true;
    if (/^(?:\.|source|eval)$/.test(program)) return undefined;
    const word = words.find((one) => one.text === 'install');
    const isTried = command.after === '||' || commands[index + 1]?.after === '||';
    const operands = program === 'uv' ? undefined : operandsOf(command);
    const isAllowed = operands?.some(({ text, dynamic }) => dynamic || allowing.test(text)) !== false;
    if (isSystem && !isAllowed && word !== undefined) return isTried ? undefined : { command, reason: 'managed', word };
  }
  return undefined;
}
