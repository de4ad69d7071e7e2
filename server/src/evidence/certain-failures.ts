import { isBareImage } from '../catalog/image-programs.ts';
import { isSlip } from '../catalog/spelling.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { absentPackages } from '../command/absent-packages.ts';
import { certainCommands } from '../command/certain-commands.ts';
import { programWords } from '../command/programs.ts';
import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from '../command/shell.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asBoolean, asText, getIn, isIncomplete, isTemplated, items } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { cloneTarget } from './repeated-clone.ts';
import { runsAsRoot } from './root-images.ts';
import { userProblem } from './user-commands.ts';

/** A command that fails in every run, with what is wrong with it. */
export interface CertainFailure {
  readonly words: readonly [Word, Word];
  readonly message: string;
  /** Whether the script goes on after it. */
  readonly goesOn: boolean;
}

/** A quick test of the text. */
export const mayFailCertainly = new RegExp(
  oneOf(
    String.raw`\b(?:pip3?\s+install|uv\s+pip|git\s+clone|nvidia-smi\s+-) -m\s+pip\b`,
    String.raw`\b(?:kaggle|mount|modprobe|sysctl|systemctl|swapon|jupyter|apt|apt-get|yum|dnf|microdnf|apk)\b`,
  ),
);

/**
 * The commands of a script that certainly fail: packages and folders that do not exist, and rights or keys that the container lacks.
 * @param text the script, and the names of the variables
 */
export function certainFailures(
  statements: readonly Statement[],
  text: string,
  container: Container,
  podSet: PodSet,
): readonly CertainFailure[] {
  const isBare =
    container.image !== undefined && !isTemplated(container.image.at) && isBareImage(container.image.value);
  const hasTorch = !isBare || /torch/.test(container.image?.value ?? '');
  const stops = /(?:^|[\s;])set -[a-z]*e/.test(text);
  const commands = certainCommands(statements);
  const mayHaveIndex = getIn(container.at, 'envFrom') !== undefined || container.volumeMounts.some(ofPip);
  const failures: CertainFailure[] = (mayHaveIndex ? [] : absentPackages(commands, text, hasTorch)).map(
    ({ word, problem }) => {
      return { words: [word, word], message: problem, goesOn: false };
    },
  );
  for (const [index, command] of commands.entries()) {
    const next = commands[index + 1];
    const found =
      forbidden(command, container, podSet) ??
      (isBare || runsAsRoot(container) ? withoutKey(command, text, container, podSet) : undefined) ??
      (next === undefined ? undefined : otherFolder(command, next, () => before(command, statements)));
    if (found === undefined) continue;
    failures.push({ ...found, goesOn: !(stops || next === undefined || next.after === '&&') });
  }
  const user = userProblem(commands, container, podSet);
  return user === undefined ? failures : [...failures, { ...user, goesOn: false }];
}

type Failure = Pick<CertainFailure, 'words' | 'message'>;

/** `/etc/pip.conf`, `/root/.config/pip`. */
function ofPip({ mountPath }: Container['volumeMounts'][number]): boolean {
  return /\bpip\b|^\/(?:$|etc\/?$|root\/?$)/.test(mountPath);
}

function before(command: SimpleCommand, statements: readonly Statement[]): readonly SimpleCommand[] {
  const all = allCommands(statements);
  return all.slice(0, all.indexOf(command));
}

/** Commands that need privileges on the node, and those of systemd, which does not run next to a container's command. */
function forbidden(command: SimpleCommand, container: Container, podSet: PodSet): Failure | undefined {
  const [first] = command.words;
  const [program = '', ...rest] = programWords(command);
  const name = baseName(program);
  const [option] = rest;
  const last = command.words.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const words = [first, command.words[1] ?? first] as const;
  if (name === 'systemctl' && option !== undefined && !option.startsWith('-'))
    return { words, message: 'systemctl fails: no systemd runs in a container whose command is a script' };
  if (mayDoAll(container, podSet)) return undefined;
  const isSetting =
    (name === 'mount' && rest.filter((one) => !one.startsWith('-')).length > 0) ||
    (name === 'sysctl' && (option === '-w' || /=/.test(option ?? ''))) ||
    (name === 'nvidia-smi' && rest.some((one) => ofDriver.has(one.split('=')[0] ?? ''))) ||
    ofKernel.has(name);
  if (!isSetting) return undefined;
  return {
    words,
    message: `${name} needs privileged: true here, which the container does not have: it fails (not permitted)`,
  };
}

const ofKernel = wordSet('modprobe insmod swapon');

/** Options of nvidia-smi that change the driver's settings. */
const ofDriver = wordSet(
  '-pm --persistence-mode -pl --power-limit -lgc --lock-gpu-clocks -ac --applications-clocks -mig --multi-instance-gpu --gpu-reset -e --ecc-config',
);

/** Whether the container has, or may have, more rights than others. */
function mayDoAll({ at }: Container, { pod }: PodSet): boolean {
  const security = getIn(at, 'securityContext');
  const [privileged, added] = [getIn(security, 'privileged'), getIn(security, 'capabilities', 'add')];
  // Some runtimes give a container a machine of its own.
  const runtime = getIn(pod, 'runtimeClassName');
  if (runtime !== undefined && !/^nvidia/.test(asText(runtime) ?? '')) return true;
  if ([at, security, getIn(pod, 'securityContext')].some((one) => isIncomplete(one) || isTemplated(one))) return true;
  if (privileged !== undefined && (isTemplated(privileged) || asBoolean(privileged) !== false)) return true;
  return (
    added !== undefined && (isTemplated(added) || items(added).some((one) => /ALL|SYS_/i.test(asText(one) ?? 'ALL')))
  );
}

/** A private repository or Kaggle, in an image of the public without a key. */
function withoutKey(command: SimpleCommand, text: string, container: Container, podSet: PodSet): Failure | undefined {
  const [program = '', task = '', ...rest] = programWords(command);
  const [first] = command.words;
  const name = baseName(program);
  const url = name === 'git' && task === 'clone' ? rest.find((one) => /^(?:git@|ssh:)/.test(one)) : undefined;
  const isKaggle = name === 'kaggle' && /^(?:datasets|competitions|kernels|models)$/.test(task);
  const word = command.words.find((one) => one.text === (url ?? task));
  if (first === undefined || word === undefined || !(url !== undefined || isKaggle)) return undefined;
  const signs = isKaggle
    ? /KAGGLE|kaggle\.json|\.kaggle/
    : /ssh-|SSH|id_rsa|id_ed|known_hosts|insteadOf|\.ssh|gitconfig/;
  if (signs.test(text) || getIn(container.at, 'envFrom') !== undefined) return undefined;
  const places = /^\/(?:$|root|home|etc)|ssh|kaggle|secret|key|token|cred/i;
  if (container.volumeMounts.some(({ mountPath }) => places.test(mountPath))) return undefined;
  if (podSet.volumes.some(({ source }) => source === 'secret' || source === 'projected')) return undefined;
  return {
    words: [first, word],
    message: isKaggle
      ? 'kaggle finds no API token: no variable, no volume and no line of the script provides one, and it fails'
      : `git clone over SSH finds no key in this image, and no volume has one: it fails; use https or mount a key`,
  };
}

/** `git clone …/my-model && cd my_model`. */
function otherFolder(
  command: SimpleCommand,
  next: SimpleCommand,
  before: () => readonly SimpleCommand[],
): Failure | undefined {
  const [program = '', task = '', ...rest] = programWords(command);
  if (baseName(program) !== 'git' || task !== 'clone' || command.words.some(({ dynamic }) => dynamic)) return undefined;
  const [cd, into] = next.words;
  const folder = cloneTarget(rest)?.replace(/\/+$/, '') ?? '';
  if (cd?.text !== 'cd' || into === undefined || into.dynamic || next.words.length !== 2) return undefined;
  const name = into.text.replace(/^\.\//, '').replace(/\/+$/, '');
  if (folder === '' || name === folder || /[/~*]|^\.+$|^-/.test(name + folder)) return undefined;
  const plain = (one: string) => one.toLowerCase().replace(/[-_.]/g, '');
  if (plain(name) !== plain(folder) && !isSlip(name, folder)) return undefined;
  if (before().some(({ words }) => words.some(({ text }) => text.includes(name)))) return undefined;
  return {
    words: [cd, into],
    message: `cd ${shorten(name, 40)} fails: git clone makes the folder ${shorten(folder, 40)}`,
  };
}
