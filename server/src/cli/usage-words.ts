import fs from 'node:fs';
import type { Command, CommanderError } from 'commander';
import { didYouMean, nearest } from '../config.ts';
import { table } from '../yaml/table.ts';

// What is wrong with the words of a command line, and what to type instead.

/** What other tools call a command or an option of gpulint. */
const otherNames = table<string>({
  lint: 'check',
  scan: 'check',
  validate: 'check',
  test: 'check',
  fix: 'check --fix',
  breakdown: 'cost',
  diff: 'cost --base',
  docs: 'explain',
  version: '--version',
});

/** The command that the first words name, and the words after its name. */
export function commandOf(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const [first, ...rest] = words;
  const command = program.commands.find((one) => one.name() === first);
  return command === undefined ? { command: program, rest: words } : commandOf(command, rest);
}

/** `unknown command 'chekc'; did you mean 'check'?`, or where the commands are listed. */
export function unknownCommand(name: string, parent: Command): string {
  const within = parent.parent === null ? '' : ` of '${parent.name()}'`;
  const other = parent.parent === null ? otherNames[name] : undefined;
  const known = parent.commands.map((command) => command.name());
  const remedy = didYouMean(other === undefined ? nearest(name, known) : [other]) || `; ${seeHelp(parent)}`;
  return `unknown command '${name}'${within}${remedy}`;
}

/** Commander's sentence, followed by its guess or a pointer to the help. */
export function usageSentence({ message, code }: CommanderError, args: readonly string[], program: Command): string {
  const [what = '', guess] = message.replace(/^error: /, '').split(/\n\(Did you mean (.*)\?\)$/);
  const sentence = what
    .replace(/\.$/, '')
    .replace('. Allowed choices are', '; allowed:')
    .replace(/\. Expected \d+ arguments? but got \d+/, '')
    .replace(' is invalid. allowed:', ' is invalid; allowed:')
    .replace(/ is invalid\. (?=[a-z])/, ' is invalid: ');
  const { command, rest } = commandOf(
    program,
    args.filter((arg) => !arg.startsWith('-')),
  );
  const [name] = rest;
  const hasCommands = command.commands.length > 0;
  if (
    name !== undefined &&
    hasCommands &&
    (code === 'commander.unknownCommand' || code === 'commander.excessArguments')
  )
    return fs.existsSync(name) && command === program
      ? `unknown command '${name}'; to check a path run 'gpulint check ${name}'`
      : unknownCommand(name, command);
  if (code === 'commander.excessArguments' && command.name() === 'rules')
    return `'rules' lists all rules; to explain one run 'gpulint explain ${name}'`;
  const format = code === 'commander.unknownOption' ? formatMeant(sentence, args, command) : undefined;
  const meant = guess ?? format;
  if (meant !== undefined) return `${sentence}${didYouMean([meant])}`;
  return sentence.includes('; allowed:') ? sentence : `${sentence}; ${seeHelp(command)}`;
}

/** `--format json` for `--json` and `-o json`. */
function formatMeant(sentence: string, args: readonly string[], command: Command): string | undefined {
  const option = /'(-[^']+)'/.exec(sentence)?.[1];
  if (option === undefined) return undefined;
  const formats = command.options.find(({ long }) => long === '--format')?.argChoices ?? [];
  const value = /^--?[a-z]+=(.+)$/.exec(option)?.[1] ?? args[args.indexOf(option) + 1];
  const meant = formats.find((format) => option === `--${format}`) ?? formats.find((format) => format === value);
  return meant && `--format ${meant}`;
}

function seeHelp(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  return `see '${names.join(' ')} --help'`;
}
