import { isBareImage } from '../catalog/image-programs.ts';
import { imageParts } from '../catalog/images.ts';
import { either, oneOf, wordSet } from '../catalog/word-patterns.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { knowsUser, otherUser, runsAsRoot, userSetting } from './root-images.ts';
import { writtenNumber } from './written.ts';

/** A command that fails as the user of its container. */
export interface UserProblem {
  /** Its first word, and the one that says what it does. */
  readonly words: readonly [Word, Word];
  readonly message: string;
}

/**
 * The first command that needs root where the user is another one, or a notebook that runs as root and does not allow it.
 * @param commands those that run in any case
 */
export function userProblem(
  commands: readonly SimpleCommand[],
  container: Container,
  podSet: PodSet,
): UserProblem | undefined {
  if (!knowsUser(container, podSet)) return undefined;
  const user = userOf(container, podSet);
  const isRoot = user === undefined && isOfRoot(container, podSet);
  if (user === undefined && !(isRoot && hasNoSettings(container))) return undefined;
  for (const command of commands) {
    const words = user === undefined ? notebook(command) : installation(command);
    if (words === undefined) continue;
    const [program, task] = words;
    const message =
      user === undefined
        ? `${baseName(program.text)} exits, because the container runs as root and --allow-root is missing`
        : `${program.text} ${task.text} needs root, but the container runs as ${user}: it fails (permission denied)`;
    return { words, message };
  }
  return undefined;
}

/** The user other than root as which a container runs: the pod's, or that of the images of Jupyter. */
function userOf(container: Container, podSet: PodSet): string | undefined {
  const number = otherUser(container, podSet);
  if (number !== undefined) return `user ${number}`;
  if (container.image === undefined || isTemplated(container.image.at)) return undefined;
  if (userSetting('runAsUser', container, podSet) !== undefined) return undefined;
  return stacks.test(imageParts(container.image.value).repository) ? 'jovyan' : undefined;
}

/** https://github.com/jupyter/docker-stacks: all of them end with `USER ${NB_UID}`. */
const stacks = new RegExp(
  `^(?:docker\\.io/|quay\\.io/)?jupyter/(?:${oneOf('base minimal scipy r julia tensorflow pytorch datascience pyspark all-spark')})-notebook$`,
);

/** Whether a container certainly runs as root, in an image that configures no notebook. */
function isOfRoot(container: Container, podSet: PodSet): boolean {
  const { image } = container;
  if (image === undefined || isTemplated(image.at)) return false;
  const setting = userSetting('runAsUser', container, podSet);
  if (setting !== undefined && writtenNumber(setting) !== 0) return false;
  return isBareImage(image.value) || runsAsRoot(container);
}

/** Whether nothing but the command line may set up a notebook. */
function hasNoSettings({ at, env, command, args, volumeMounts }: Container): boolean {
  if (['env', 'volumeMounts'].some((key) => isUnseen(getIn(at, key)) || isIncomplete(getIn(at, key)))) return false;
  if (getIn(at, 'envFrom') !== undefined || env.some(({ name }) => /^JUPYTER_.*(?:CONFIG|PATH|ROOT)/.test(name)))
    return false;
  if (volumeMounts.some(({ mountPath }) => /^\/(?:$|root|etc|usr|opt)/.test(mountPath))) return false;
  return ![...command, ...args].some(({ value }) => settings.test(value));
}

const settings = either(/allow[-_]root|jupyter_\w*config|generate-config|--config/, /\bsu(?:do)? |\bgosu\b|useradd/);

/** `jupyter lab`, not `jupyter lab list`. */
function notebook({ words }: SimpleCommand): readonly [Word, Word] | undefined {
  const [program, task, next] = words;
  if (program === undefined || words.some(({ dynamic, text }) => dynamic && text.startsWith('$'))) return undefined;
  const name = baseName(program.text);
  const isJoined = /^jupyter-(?:lab|notebook|server)$/.test(name);
  const first = isJoined ? task : next;
  if (first !== undefined && !first.text.startsWith('-')) return undefined;
  // A variable may allow it.
  if (words.some(({ text }) => settings.test(text))) return undefined;
  if (words.some(({ text }) => /^--?(?:h|help|help-all|version|generate\S*)$/.test(text))) return undefined;
  if (isJoined) return [program, program];
  return name === 'jupyter' && task !== undefined && notebooks.has(task.text) ? [program, task] : undefined;
}

const notebooks = wordSet('lab notebook server');

function installation({ words }: SimpleCommand): readonly [Word, Word] | undefined {
  const [program] = words;
  if (program === undefined || !managers.has(baseName(program.text))) return undefined;
  const task = words.find(({ text }) => tasks.has(text));
  return task && [program, task];
}

const managers = wordSet('apt apt-get yum dnf microdnf apk');
const tasks = wordSet('update upgrade install add');
