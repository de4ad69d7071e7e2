import type { Located } from '../yaml/cursor.ts';
import { asText, type Cursor, getIn, items } from '../yaml/cursor.ts';
import type { CrossReferences } from './cross-references.ts';
import type { Container, MountedScript, Volume } from './workload.ts';

/** The container with the mounted ConfigMap scripts and settings that its command names by path. */
export function withScripts(
  container: Container,
  volumes: readonly Volume[],
  namespace: string | null,
  crossReferences: CrossReferences,
): Container {
  if (!volumes.some(({ source }) => source === 'configMap')) return container;
  const words = wordsOf(container);
  if (words.length === 0) return container;
  const byName = new Map([...volumes].reverse().map((volume) => [volume.name, volume]));
  const mounts = container.volumeMounts.flatMap((mount) => {
    const volume = byName.get(mount.name);
    const place = mount.mountPath.replace(/(?<!\/)\/+$/, '');
    return volume?.source !== 'configMap' || place === '' ? [] : [{ mount, volume, place }];
  });
  const places = new Set(mounts.map(({ place }) => place));
  const filesOf = (given: readonly NamedPath[]) => {
    const namedAt = wordsBelow(given, places);
    return mounts.flatMap(({ mount, volume, place }): readonly (MountedScript & { readonly shell: boolean })[] => {
      const named = namedAt.get(place);
      const name = asText(getIn(volume.at, 'configMap', 'name'));
      if (named === undefined || name === undefined) return [];
      const seen = crossReferences.configMap(namespace, name);
      if (seen === undefined) return [];
      return named.flatMap(({ text: path, before, at: item }) => {
        const key = keyAt(path, place, asText(getIn(mount.at, 'subPath')), getIn(volume.at, 'configMap', 'items'));
        const text = key === undefined ? undefined : seen.facts[key];
        if (text === undefined) return [];
        const shell = isShell(path, text, before);
        return shell || /\.(?:ya?ml|json|toml|py)$/.test(path) ? [{ path, text, at: item, shell }] : [];
      });
    });
  };
  const first = filesOf(words);
  if (first.length === 0) return container;
  const inside = first.flatMap((file) => (file.shell ? [] : settingsNamedIn(file)));
  // The file that names another takes precedence: DeepSpeed's has `auto` for what the trainer sets.
  const files = [...filesOf(inside.filter(({ text }) => first.every(({ path }) => path !== text))), ...first];
  const [scripts, settingsFiles] = [true, false].map((shell) =>
    files.filter((file) => file.shell === shell).map(({ path, text, at }) => ({ path, text, at })),
  );
  return { ...container, scripts: scripts ?? [], ...(settingsFiles?.length ? { settingsFiles } : {}) };
}

/** Files of settings that a file of settings names: a trainer's YAML names DeepSpeed's JSON. */
function settingsNamedIn({ text, at }: MountedScript): readonly NamedPath[] {
  if (text.length > maxText) return [];
  const paths = text.split(/[\s"',=]+/).filter((word) => word.startsWith('/') && /\.(?:ya?ml|json|toml)$/.test(word));
  return paths.map((path) => ({ text: path, before: '', at }));
}

const maxText = 200_000;

interface NamedPath {
  readonly text: string;
  /** The previous word. */
  readonly before: string;
  readonly at: Cursor;
}

function wordsOf({ command, args }: Container): readonly NamedPath[] {
  let before = '';
  return [...command, ...args].flatMap((item: Located<string>) =>
    item.value.split(/[\s;&|"'()=]+/).flatMap((text): readonly NamedPath[] => {
      const word = { text, before, at: item.at };
      before = text;
      return text.startsWith('/') ? [word] : [];
    }),
  );
}

/** The words that name a mount path or a path below it, by mount path. */
function wordsBelow(words: readonly NamedPath[], places: ReadonlySet<string>): Map<string, NamedPath[]> {
  const found = new Map<string, NamedPath[]>();
  if (places.size === 0) return found;
  for (const word of words) {
    const { text } = word;
    for (const place of pathsAbove(text)) {
      if (!places.has(place)) continue;
      const named = found.get(place) ?? [];
      named.push(word);
      found.set(place, named);
    }
  }
  return found;
}

const maxPath = 4096;

/** An absolute path and the folders above it, outermost first; empty for other texts. */
export function pathsAbove(path: string): readonly string[] {
  if (!path.startsWith('/') || path.length > maxPath) return [];
  const paths: string[] = [];
  for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) paths.push(path.slice(0, end));
  return [...paths, path];
}

/** The key of the ConfigMap behind a path: `subPath` mounts one file, and `items` rename files. */
function keyAt(
  path: string,
  place: string,
  subPath: string | undefined,
  renamed: Cursor | undefined,
): string | undefined {
  const file = subPath !== undefined && path === place ? subPath : path.slice(place.length + 1);
  if (renamed === undefined) return file;
  const item = items(renamed).find((one) => asText(getIn(one, 'path')) === file);
  return asText(getIn(item, 'key'));
}

/** Whether a script is for a shell, by its first line, its name or the word before it. */
function isShell(path: string, text: string, before: string): boolean {
  if (/^#!.*\b(?:ba|da|z|k)?sh\b/.test(text)) return true;
  if (/^#!/.test(text)) return false;
  return /\.(?:ba)?sh$/.test(path) || /(?:^|\/)(?:ba|da|z|k)?sh$|^(?:source|\.)$/.test(before);
}
