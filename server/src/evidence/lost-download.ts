import { wordSet } from '../catalog/word-patterns.ts';
import { pythonCode } from '../command/inline-python.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isIncomplete } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { fetchCommands, startsEntrypoint } from './cpu-steps.ts';
import { isBelow } from './model-volume.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** What an init container downloads to a directory that no other container has. */
export interface LostDownload {
  readonly path: string;
  /** The word that names it; undefined in code. */
  readonly word: Word | undefined;
  /** The number of words before those of the text. */
  readonly shift: number;
  /** The emptyDir in which it is; undefined: the container's own file system. */
  readonly mount: Container['volumeMounts'][number] | undefined;
}

/** The download of an init container that ends with it: all that the container does is understood, and nothing else handles the directory. */
export function lostDownload(container: Container, podSet: PodSet): LostDownload | undefined {
  const commands = container.type === 'init' ? fetchCommands(container) : [];
  const targets = commands.map(targetOf);
  const others = commands.filter((_, index) => targets[index] === undefined);
  if (!others.every(({ words }) => leavesFiles.has(baseName(words[0]?.text ?? '')))) return undefined;
  const [only, ...more] = targets.filter((target) => target !== undefined);
  // Temporary files may be a test of the source.
  if (only === undefined || more.length > 0 || !isDirectory.test(only.path) || /^\/(?:tmp|dev)\//.test(only.path))
    return undefined;
  const [mount] = container.volumeMounts
    .filter(({ mountPath }) => isBelow(only.path, mountPath))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  const found = { ...only, mount, shift: startsEntrypoint(container) ? 1 : 0 };
  if (mount === undefined) return found;
  const volume = volumeNamed(podSet, mount.name);
  if (volume?.source !== 'emptyDir' || isIncomplete(volume.at)) return undefined;
  const isShared = podSet.containers.some(
    (other) => other !== container && other.volumeMounts.some(({ name }) => name === mount.name),
  );
  return isShared ? undefined : found;
}

const isDirectory = /^(?:\/[\w.-]+)+\/?$/;

/** Programs that neither copy files nor change the directory. */
export const leavesFiles = wordSet(
  'mkdir ls du df find echo printf test [ [[ chmod chown date set export sleep true : exit pip pip3 apt-get apt apk',
);

/** Where a command stores what it fetches, if it says so. */
function targetOf(command: SimpleCommand): { readonly path: string; readonly word: Word | undefined } | undefined {
  const { words } = command;
  if (words.some(({ text }) => asksState.test(text))) return undefined;
  const code = pythonCode(command);
  if (code !== undefined) {
    const [, path] = /\blocal_dir\s*=\s*["'](\/[^"']+)["']/.exec(code) ?? [];
    return path === undefined ? undefined : { path, word: undefined };
  }
  const start = words.length - programWords(command).length;
  const program = baseName(words[start]?.text ?? '');
  // Hugging Face's client leaves nothing in its cache if it has a directory.
  const hasDirectory = words.some(({ text }) => /^--local[-_]dir(?:=|$)/.test(text));
  for (const [index, word] of words.entries()) {
    const [before, previous] = [words[index - 1]?.text ?? '', index > start];
    const joined = /^--?([\w-]+)=(\/.*)$/.exec(word.text);
    const [flag, path] = joined === null ? [before.replace(/^-+/, ''), word.text] : [joined[1] ?? '', joined[2] ?? ''];
    if (!previous || !path.startsWith('/') || word.dynamic || (hasDirectory && /^cache/.test(flag))) continue;
    const isFlag = joined !== null || before.startsWith('-');
    if (
      isFlag
        ? flagsOf[program === 'huggingface-cli' || program === 'modelscope' ? 'hf' : program]?.has(flag) === true
        : copies.has(program) && /:\/\/|^git@/.test(before)
    )
      return { path, word };
  }
  return undefined;
}

/** The address of a server that is only asked whether it runs. */
const asksState = /:\/\/[^/]+\/(?:[\w/-]*\/)?(?:health\w*|ready\w*|live\w*|ping|status|version)$/;

/** Programs whose last operand is where they copy what an address names. */
const copies = wordSet('aws gsutil gcloud s5cmd rclone azcopy git');

/** The flags that name where a program stores what it fetches. */
const flagsOf = table<ReadonlySet<string>>({
  hf: wordSet('local-dir cache-dir local_dir cache_dir'),
  wget: wordSet('O P output-document directory-prefix'),
  curl: wordSet('o output output-dir'),
});
