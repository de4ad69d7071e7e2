import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, type Word } from '../command/shell.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, Volume } from '../model/workload.ts';
import { type Cursor, entries, getIn, isIncomplete, items, keyOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { writtenText } from './written.ts';

/** A file that a command names in a directory, and the word that names it. */
export interface NamedFile {
  readonly name: string;
  readonly word: Word;
}

/** Commands that ask whether a file exists, or name files that they do not read here. */
const tests = wordSet('[ [[ test find ls stat rm echo printf kubectl docker podman ssh mpirun');

/** The files directly in a directory that the commands of a container name for certain. */
export function filesNamedIn(container: Container, directory: string): readonly NamedFile[] {
  const { statements, complete } = commandLineOf(container);
  const commands = allCommands(statements);
  if (!complete || commands.some(({ words, after }) => after === '||' || tests.has(baseName(words[0]?.text ?? ''))))
    return [];
  const start = `${directory.replace(/\/$/, '')}/`;
  return commands.flatMap(({ words }) =>
    words.flatMap((word) => {
      const path = word.text.slice(word.text.indexOf('=') + 1);
      const name = path.startsWith(start) ? path.slice(start.length) : '';
      // With an ending, it is not a directory.
      return word.dynamic || word.derived || !/^\w[\w-]*(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,5}$/i.test(name)
        ? []
        : [{ name, word }];
    }),
  );
}

/** The kinds that the sources of volumes and variables name. */
export const dataKinds = table<'Secret' | 'ConfigMap'>({
  secretKeyRef: 'Secret',
  configMapKeyRef: 'ConfigMap',
  secret: 'Secret',
  configMap: 'ConfigMap',
});

type KeysOf = (kind: 'Secret' | 'ConfigMap', name: string) => readonly string[] | undefined;

/** The object that fills a volume, and the names of its files; without these if some are unknown. */
export function filesOfVolume(volume: Volume | undefined, keysOf: KeysOf): readonly [string, (readonly string[])?] {
  const own = getIn(volume?.at, volume?.source ?? '');
  const projected = volume?.source === 'projected' ? getIn(own, 'sources') : undefined;
  const sources = projected === undefined ? [own] : items(projected).flatMap((one) => entries(one));
  let [first, all]: [string, readonly string[]] = ['', []];
  for (const source of sources) {
    const kind = source && dataKinds[keyOf(source)];
    const name = writtenText(getIn(source, 'name') ?? getIn(source, 'secretName'));
    if (kind === undefined || name === undefined || isIncomplete(source) || isIncomplete(projected)) return [''];
    const files = getIn(source, 'optional') === undefined ? filesOf(source, keysOf(kind, name)) : undefined;
    if (files === undefined) return [''];
    first ||= `${kind} ${name}`;
    all = [...all, ...files];
  }
  return [first, all];
}

function filesOf(source: Cursor | undefined, keys: readonly string[] | undefined): readonly string[] | undefined {
  const listed = getIn(source, 'items');
  if (listed === undefined) return keys;
  const paths = items(listed).map((item) => writtenText(getIn(item, 'path')));
  return isIncomplete(listed) || paths.includes(undefined) ? undefined : paths.flatMap((path) => path ?? []);
}
