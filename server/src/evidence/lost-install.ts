import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { programWords } from '../command/programs.ts';
import { allCommands, baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { asBoolean, getIn } from '../yaml/cursor.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { leavesFiles } from './lost-download.ts';

/**
 * The words of the command with which an init container installs packages in its own file system, if it does nothing else: they end with it, and
 * the other containers have the packages of their own images.
 */
export function lostInstall(container: Container): readonly [Word, Word] | undefined {
  if (container.type !== 'init' || mayHaveVariables(container) || mayRunMore(container)) return undefined;
  if (container.env.some(({ name }) => redirects.test(name))) return undefined;
  // It may install a driver on the node.
  if (asBoolean(getIn(container.at, 'securityContext', 'privileged')) === true) return undefined;
  // Someone else may read what is installed below a mount.
  if (container.volumeMounts.some(({ mountPath }) => holdsPrograms.test(mountPath))) return undefined;
  const { complete, statements } = commandLineOf(container);
  const commands = allCommands(statements).filter(({ words }) => words.length > 0);
  const installs = commands.filter(isInstall);
  const [install] = installs;
  if (!complete || install === undefined) return undefined;
  const isRest = (command: SimpleCommand) => leavesFiles.has(baseName(command.words[0]?.text ?? ''));
  if (!commands.every((command) => installs.includes(command) || isRest(command))) return undefined;
  const [first, last] = [install.words[0], install.words.at(-1)];
  return first && last && [first, last];
}

/** Whether a command installs packages where the image has its own. */
function isInstall(command: SimpleCommand): boolean {
  const [program = '', ...rest] = programWords(command);
  const isModule = /^python3?$/.test(program) && rest[0] === '-m';
  const [name = '', ...words] = isModule ? rest.slice(1) : [program, ...rest];
  const place = name === 'uv' ? words.slice(1) : words;
  return (
    installers.has(name) &&
    (place[0] === 'install' || place[0] === 'add') &&
    !place.some((word) => elsewhere.test(word))
  );
}

const installers = wordSet('pip pip3 uv conda mamba apt apt-get apk yum dnf microdnf');

/** Flags with another place, and paths of packages, which may get files. */
const elsewhere = new RegExp(
  `^(?:-[tpe]|--(?:${oneOf('target prefix root editable installroot src dry-run')}))(?:$|=)|^[./]|\\$`,
);

/** Variables by which packages may be installed elsewhere; `--user` installs below HOME. */
const redirects = /^(?:PIP|UV|CONDA|PYTHON|HOME$)/i;

/** Mounts in which programs and packages may be. */
const holdsPrograms = new RegExp(
  `^/(?:${oneOf('usr opt lib lib64 bin root home app var etc srv nix workspace')})?(?:/|$)|${oneOf('env conda python packages site lib bin deps tools pip')}`,
);
