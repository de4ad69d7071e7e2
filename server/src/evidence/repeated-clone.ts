import { wordSet } from '../catalog/word-patterns.ts';
import { programWords } from '../command/programs.ts';
import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from '../command/shell.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asText, getIn, isUnseen } from '../yaml/cursor.ts';
import { mayMountMore, outlivesNode, volumeNamed } from './volume-lifetime.ts';

/** A `git clone` into a folder that is still there when the script runs again. */
export interface RepeatedClone {
  readonly word: Word;
  readonly folder: string;
}

/** The first clone after which a script only goes on if it succeeds, into a volume that outlives the pod. */
export function repeatedClone(
  statements: readonly Statement[],
  stopsOnErrors: boolean,
  container: Container,
  podSet: PodSet,
): RepeatedClone | undefined {
  if (mayMountMore(container) || allCommands(statements).some(removesFiles)) return undefined;
  let folder = asText(getIn(container.at, 'workingDir')) ?? '';
  let stops = stopsOnErrors;
  for (const [index, statement] of statements.entries()) {
    // A condition may be that the folder does not exist.
    if (statement.kind !== 'command' || statement.after === '||') return undefined;
    const [program = '', task = '', ...rest] = programWords(statement);
    const name = baseName(program);
    if (name === 'test' || name === '[' || name === '[[') return undefined;
    if (name === 'cd') folder = resolve(folder, task);
    stops ||= name === 'set' && /^-[a-z]*e/.test(task);
    if (name !== 'git' || task !== 'clone') continue;
    const next = statements[index + 1];
    if (statement.words.some(({ dynamic }) => dynamic) || next === undefined || next.after === '||') return undefined;
    const word = statement.words.find(({ text }) => text === 'clone');
    const target = cloneTarget(rest);
    if (word === undefined || target === undefined || !(next.after === '&&' || stops)) continue;
    const into = resolve(folder, target);
    if (outlives(into, container, podSet)) return { word, folder: into };
  }
  return undefined;
}

/** The folder into which `git clone` with these words clones, as written; undefined for more words than it reads. */
export function cloneTarget(words: readonly string[]): string | undefined {
  const [url = '', target, ...others] = words.filter(
    (one, at) => !one.startsWith('-') && !takesValue.has(words[at - 1] ?? ''),
  );
  return others.length > 0 ? undefined : (target ?? /([\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1] ?? '');
}

/** Whether a command may remove the folder, before the clone or at the end of the script. */
function removesFiles(command: SimpleCommand): boolean {
  return /^(?:rm|mv|find|rsync|trap|mktemp)$/.test(baseName(programWords(command)[0] ?? ''));
}

/** Options of `git clone` whose value is the next word. */
const takesValue = wordSet(
  '-b -o -j -c --branch --depth --origin --config --filter --jobs --reference --template --separate-git-dir',
);

/** A folder as seen from another one; empty if unknown. */
function resolve(from: string, to: string): string {
  if (/[$`*]/.test(to)) return '';
  if (to.startsWith('/')) return to.replace(/\/+$/, '');
  if (from === '' || to === '' || /^[.~$-]/.test(to)) return '';
  return `${from.replace(/\/+$/, '')}/${to}`;
}

/** Whether a folder is below a mount of a volume that a later run finds again. */
function outlives(folder: string, { volumeMounts }: Container, podSet: PodSet): boolean {
  const [mount] = volumeMounts
    .filter(({ mountPath }) => folder.startsWith(`${mountPath.replace(/\/+$/, '')}/`))
    .sort((one, other) => other.mountPath.length - one.mountPath.length);
  if (mount === undefined || getIn(mount.at, 'subPathExpr') !== undefined) return false;
  const volume = volumeNamed(podSet, mount.name);
  // A volume that the pod does not declare comes from a claim template.
  if (volume === undefined) return !isUnseen(getIn(podSet.pod, 'volumes'));
  return outlivesNode(volume.source, volume.at);
}
