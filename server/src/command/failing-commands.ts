import { either, oneOf, wordSet } from '../catalog/word-patterns.ts';
import { programWords } from './programs.ts';
import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** A command that fails in every run of a script. */
export interface FailingCommand {
  readonly command: SimpleCommand;
  /**
   * `asks`: it waits for an answer. `login`: it asks for a token. `hook`: it needs a function that nothing has loaded. `shell`: dash does not know
   * it. `lists`: the package manager knows no packages yet.
   */
  readonly reason: 'asks' | 'login' | 'hook' | 'shell' | 'lists';
  /** The word that is wrong, or after which one is missing. */
  readonly word: Word;
}

/** Commands that ask before they change something, by their program, unless a flag answers. */
const asking: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...['apt', 'apt-get', 'aptitude', 'yum', 'dnf'].map((name) => [name, wordSet('install upgrade remove')] as const),
  ['conda', wordSet('install create update remove')],
  ...['pip', 'pip3'].map((name) => [name, wordSet('uninstall')] as const),
]);

/** `-y` alone or with other letters, and what implies it. `-qq` is one of apt-get's. */
const answers = either(
  /^-[a-zA-Z]*y[a-zA-Z]*$|^-[a-zA-Z]*q(?:q|=2)|^-[dhs]$/,
  new RegExp(
    `^--(?:${oneOf('yes assume-yes assumeyes assumeno force-yes quiet=2 dry-run download-only simulate json help')})$`,
  ),
);

/** The answer in a setting of the package manager. */
const settings = /Assume-Yes|ALWAYS_YES|always_yes|assumeyes|BASH_ENV/i;

/** Words that only bash and its like know. `source` is one of POSIX's under another name. */
const bashOnly = wordSet('source [[ pushd popd shopt declare');

/** What may load the functions of conda, or anything else. */
const loads = wordSet('source . eval');

/**
 * Commands that certainly fail.
 * @param text the script, and the names of the variables
 * @param dash whether the shell of the outermost script is one
 * @param hasToken whether a variable or a file may hold an access token
 */
export function failingCommands(
  statements: readonly Statement[],
  text: string,
  dash: boolean,
  hasToken: boolean,
): FailingCommand[] {
  const found: FailingCommand[] = [];
  if (!settings.test(text)) found.push(...askingCommands(allCommands(statements)));
  if (!hasToken) found.push(...logins(allCommands(statements)));
  // `conda init` writes a file that only the next shell reads.
  if (!/bashrc|profile|hook|\beval\b/.test(text)) found.push(...unhooked(statements));
  if (dash && !replacesShell(text)) found.push(...unknownToDash(statements));
  return found;
}

/** Whether a script makes bash the shell of the image. */
export function replacesShell(text: string): boolean {
  return text.includes('dpkg-reconfigure') || (text.includes('/bin/sh') && /\bln -/.test(text));
}

function askingCommands(commands: readonly SimpleCommand[]): FailingCommand[] {
  return commands.flatMap((command, index) => {
    const [program = '', first] = programWords(command);
    const tasks = asking.get(baseName(program));
    const word = tasks && command.words.find(({ text }) => tasks.has(text));
    // `conda run pip install` and `conda env create` do not ask.
    const isOther = program.endsWith('conda') && word?.text !== first;
    // `yes | apt-get install` answers, and a variable may.
    const isAnswered =
      command.after === '|' ||
      command.heredoc !== undefined ||
      command.words.some(({ text, dynamic }) => dynamic || answers.test(text) || text.includes('<'));
    return word === undefined || isOther || isAnswered || addsOnlyNamed(command, word) || isTried(commands[index + 1])
      ? []
      : [{ command, reason: 'asks' as const, word }];
  });
}

/** Whether apt-get installs nothing but what is named, so that it does not ask. */
function addsOnlyNamed({ words }: SimpleCommand, task: Word): boolean {
  const packages = words.slice(words.indexOf(task) + 1).filter(({ text }) => !text.startsWith('-'));
  return task.text === 'install' && packages.length > 0 && packages.every(({ text }) => selfContained.has(text));
}

/** Packages that depend on and recommend nothing that the images of Debian and Ubuntu lack. https://packages.debian.org/bookworm/unzip */
const selfContained = wordSet('less make patch pv sudo time tree unzip');

/** New repositories, and scripts of other projects, which may do the same. */
const mayFetchLists = either(/update|add-apt-repository|sources\.list/, /\|\s*(?:sudo\s+)?(?:ba)?sh\b|\.sh\b|setup/);

/** The first installation of a script that never fetches the lists of packages, which the image does not have. */
export function unlistedInstall(statements: readonly Statement[], text: string): FailingCommand | undefined {
  if (mayFetchLists.test(text)) return undefined;
  // Under a condition, what it installs may be there.
  const certain = statements.filter((one) => {
    const isGroup = one.kind === 'group' && /^(?:subshell|braces)$/.test(one.keyword) && one.after !== '||';
    return one.kind === 'command' || isGroup;
  });
  for (const command of ownCommands(certain)) {
    const [program = '', ...rest] = programWords(command);
    if (program === 'make') return undefined;
    const word = command.words.find(({ text: one }) => one === 'install');
    if (!/^apt(?:-get)?$/.test(baseName(program)) || word === undefined) continue;
    // What it falls back to may be there.
    if (command.after === '||' || command.after === '|') return undefined;
    const isLocal =
      rest.some((one) => one.includes('/') || one.endsWith('.deb')) || command.words.some((one) => one.dynamic);
    return isLocal ? undefined : { command, reason: 'lists', word };
  }
  return undefined;
}

/** `huggingface-cli login` and the like without a token. */
function logins(commands: readonly SimpleCommand[]): FailingCommand[] {
  return commands.flatMap((command, index) => {
    const words = command.words.map(({ text }) => text).join(' ');
    const word = command.words.at(-1);
    const isLogin = /^(?:huggingface-cli login|hf auth login|wandb login)$/.test(words);
    const isAnswered = command.after === '|' || command.heredoc !== undefined || isTried(commands[index + 1]);
    return isLogin && !isAnswered && word !== undefined ? [{ command, reason: 'login' as const, word }] : [];
  });
}

/** Whether something else runs if the command before it fails. */
function isTried(next: Statement | undefined): boolean {
  return next?.after === '||';
}

function isExit(statement: Statement | undefined): boolean {
  return statement?.kind === 'command' && statement.words[0]?.text === 'exit';
}

/** `conda activate` and its like, before anything that may load the function. */
function unhooked(statements: readonly Statement[]): FailingCommand[] {
  // An inner shell may read a profile.
  const own = new Set(ownCommands(statements));
  for (const command of allCommands(statements)) {
    const [program = '', task] = command.words.map(({ text }) => text);
    if (loads.has(program)) return [];
    const [, word] = command.words;
    if (!/^(?:conda|(?:micro)?mamba)$/.test(program) || task !== 'activate' || word === undefined) continue;
    return own.has(command) ? [{ command, reason: 'hook', word }] : [];
  }
  return [];
}

/** Commands of a script itself, not of scripts for other shells in it. */
function* ownCommands(statements: readonly Statement[]): Generator<SimpleCommand> {
  for (const [index, statement] of statements.entries()) {
    const next = statements[index + 1];
    if (isTried(next) && !isExit(next)) continue;
    if (statement.kind === 'command') yield statement;
    else if (statement.kind === 'loop') yield* ownCommands([...statement.condition, ...statement.body]);
    else if (statement.keyword !== 'subshell') yield* ownCommands(statement.body);
  }
}

function unknownToDash(statements: readonly Statement[]): FailingCommand[] {
  for (const command of ownCommands(statements)) {
    const [first] = command.words;
    if (first === undefined || first.dynamic) continue;
    const word = bashOnly.has(first.text)
      ? first
      : first.text === 'set'
        ? // After `&&`, a test may precede it.
          command.words.find(({ text }) => text === 'pipefail' && command.after !== '&&')
        : undefined;
    if (word !== undefined) return [{ command, reason: 'shell', word }];
  }
  return [];
}
