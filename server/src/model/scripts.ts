import type { Located } from '../yaml/cursor.ts';
import { asText, at, type Cursor, items } from '../yaml/cursor.ts';
import { type Surroundings, seenWords } from './surroundings.ts';
import type { Container, MountedScript, Volume } from './workload.ts';

/** The container with the shell scripts of ConfigMaps that its command names by the path at which they are mounted. */
export function withScripts(
  container: Container,
  volumes: readonly Volume[],
  namespace: string | null,
  surroundings: Surroundings,
): Container {
  const words = wordsOf(container);
  if (words.length === 0) return container;
  const scripts = container.volumeMounts.flatMap((mount): readonly MountedScript[] => {
    const volume = volumes.find(({ name }) => name === mount.name);
    const place = mount.mountPath.replace(/(?<!\/)\/+$/, '');
    if (volume?.source !== 'configMap' || place === '') return [];
    const named = words.filter(({ text }) => text === place || text.startsWith(`${place}/`));
    const name = asText(at(volume.at, 'configMap', 'name'));
    if (named.length === 0 || name === undefined) return [];
    const seen = surroundings.configMap(namespace, name);
    if (seen === undefined) return [];
    return named.flatMap(({ text: path, before, at: item }) => {
      const key = keyAt(path, place, asText(at(mount.at, 'subPath')), at(volume.at, 'configMap', 'items'));
      const text = key === undefined ? undefined : seen.facts[key];
      const isRead = text !== undefined && isShell(path, text, before);
      return isRead ? [{ path, text, from: seenWords(seen), at: item }] : [];
    });
  });
  return scripts.length === 0 ? container : { ...container, scripts };
}

interface NamedPath {
  readonly text: string;
  /** The word in front of it. */
  readonly before: string;
  readonly at: Cursor;
}

function wordsOf({ command, args }: Container): readonly NamedPath[] {
  let before = '';
  return [...command, ...args].flatMap((item: Located<string>) =>
    item.value.split(/[\s;&|"'()]+/).flatMap((text): readonly NamedPath[] => {
      const word = { text, before, at: item.at };
      before = text;
      return text.startsWith('/') ? [word] : [];
    }),
  );
}

/** The file of the ConfigMap behind a path: a sub-path is mounted alone, and items give their files other names. */
function keyAt(
  path: string,
  place: string,
  subPath: string | undefined,
  renamed: Cursor | undefined,
): string | undefined {
  const file = subPath !== undefined && path === place ? subPath : path.slice(place.length + 1);
  if (renamed === undefined) return file;
  const item = items(renamed).find((one) => asText(at(one, 'path')) === file);
  return asText(at(item, 'key'));
}

/** Other languages are not read. */
function isShell(path: string, text: string, before: string): boolean {
  if (/^#!.*\b(?:ba|da|z|k)?sh\b/.test(text)) return true;
  if (/^#!/.test(text)) return false;
  return /\.(?:ba)?sh$/.test(path) || /(?:^|\/)(?:ba|da|z|k)?sh$|^(?:source|\.)$/.test(before);
}
