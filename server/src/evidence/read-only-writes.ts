import { wordSet } from '../catalog/word-patterns.ts';
import { programWords } from '../command/programs.ts';
import { baseName, type Statement, type Word } from '../command/shell.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { asBoolean, asText, getIn, isTemplated } from '../yaml/cursor.ts';
import { mayMountMore, volumeNamed } from './volume-lifetime.ts';

/** A command that changes a file of a volume that nobody can change. */
export interface ReadOnlyWrite {
  readonly program: string;
  readonly path: string;
  readonly word: Word;
  /** The source of the volume, or `readOnly` if the mount says so. */
  readonly source: string;
}

/** Volumes that are read-only whatever their mount says. https://github.com/kubernetes/kubernetes/pull/58720, 2018 */
const alwaysReadOnly = wordSet('configMap secret downwardAPI projected');

/** Programs that change their operands, and how many operands come before these. */
const changes: ReadonlyMap<string, number> = new Map([
  ['chmod', 1],
  ['chown', 1],
  ['touch', 0],
  ['mkdir', 0],
  ['tee', 0],
]);

/** Programs that write to their last operand. */
const copies = wordSet('cp mv ln');

/** The first command of a script that certainly fails because its file is in a read-only volume, and after which the script does not go on. */
export function readOnlyWrite(
  statements: readonly Statement[],
  stopsOnErrors: boolean,
  container: Container,
  podSet: PodSet,
): ReadOnlyWrite | undefined {
  if (mayMountMore(container)) return undefined;
  let folder = asText(getIn(container.at, 'workingDir')) ?? '';
  let stops = stopsOnErrors;
  for (const [index, statement] of statements.entries()) {
    if (statement.kind !== 'command') return undefined;
    const [program = '', ...rest] = programWords(statement);
    const name = baseName(program);
    if (name === 'cd') folder = rest[0]?.startsWith('/') === true ? rest[0] : '';
    stops ||= name === 'set' && /^-[a-z]*e/.test(rest[0] ?? '');
    const skipped = changes.get(name) ?? (copies.has(name) ? 0 : undefined);
    const next = statements[index + 1];
    if (skipped === undefined || statement.after === '||' || next?.after === '||') continue;
    // As the last command, it decides whether the container succeeds.
    if (!(stops || next === undefined || next.after === '&&')) continue;
    const all = rest.filter((one) => !one.startsWith('-')).slice(skipped);
    // `cp -t folder file` names its target first.
    if (copies.has(name) && (all.length < 2 || rest.some((one) => /^-(?:[a-z]*t|-target)/.test(one)))) continue;
    const operands = copies.has(name) ? all.slice(-1) : all;
    for (const path of operands) {
      const word = statement.words.find(({ text }) => text === path);
      if (word === undefined || word.dynamic || !(path.startsWith('/') || folder !== '')) continue;
      const whole = path.startsWith('/') ? path : `${folder.replace(/\/+$/, '')}/${path.replace(/^\.\//, '')}`;
      const source = readOnlySource(whole, name === 'mkdir' || name === 'touch' || name === 'tee', container, podSet);
      // `mkdir -p` goes on if the folder is there, which a claim may have.
      const mayExist = source === 'readOnly' && name === 'mkdir';
      if (source !== undefined && !mayExist) return { program: name, path, word, source };
    }
  }
  return undefined;
}

/** Why a path cannot be changed; undefined if it may be. */
function readOnlySource(path: string, isNew: boolean, { volumeMounts }: Container, podSet: PodSet): string | undefined {
  const holds = (mountPath: string) =>
    path.startsWith(`${mountPath.replace(/\/+$/, '')}/`) || (!isNew && path === mountPath);
  const [mount] = volumeMounts
    .filter(({ mountPath }) => holds(mountPath))
    .sort((one, other) => other.mountPath.length - one.mountPath.length);
  const volume = mount && volumeNamed(podSet, mount.name);
  if (mount === undefined || volume === undefined) return undefined;
  if (alwaysReadOnly.has(volume.source)) return volume.source;
  const setting = getIn(mount.at, 'readOnly');
  return asBoolean(setting) === true && !isTemplated(setting) ? 'readOnly' : undefined;
}
