import { oneOf } from '../catalog/word-patterns.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { getIn, isTemplated, isUnseen } from '../yaml/cursor.ts';
import { filesOfVolume } from './config-files.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** A mount of a ConfigMap or a Secret at the path of a file, which makes that path a folder. */
export interface FolderForFile {
  readonly mount: Container['volumeMounts'][number];
  /** The file of the volume that is meant; undefined if it is unknown. */
  readonly file: string | undefined;
  /** Whether a command or a variable of the container has the path. */
  readonly isNamed: boolean;
}

/** The mounts without `subPath` whose path is certainly meant to be a file: the volume has one of that name, or the container reads it. */
export function foldersForFiles(
  { volumeMounts, command, args, env, at }: Container,
  podSet: PodSet,
  keysOf: Parameters<typeof filesOfVolume>[1],
): readonly FolderForFile[] {
  const candidates = volumeMounts.filter((one) => isFile.test(one.mountPath) && isWhole(one));
  if (candidates.length === 0) return [];
  const lines = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])];
  if ([getIn(at, 'command'), getIn(at, 'args')].some(isUnseen) || lines.some((one) => isTemplated(one.at))) return [];
  // The program may know that it is a folder, or a script may look.
  if (lines.some(({ value }) => asks.test(value))) return [];
  const uses = usesOfPaths(lines.map(({ value }) => value));
  return candidates.flatMap((mount) => {
    const volume = volumeNamed(podSet, mount.name);
    if (volume === undefined || !['configMap', 'secret', 'projected'].includes(volume.source ?? '')) return [];
    const path = mount.mountPath;
    if (uses.folders.has(path)) return [];
    const isNamed = uses.named.has(path);
    const [, files = []] = filesOfVolume(volume, keysOf);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const own = files.includes(name) ? name : undefined;
    const file = own ?? (files.length === 1 ? files[0] : undefined);
    return own === undefined && !isNamed ? [] : [{ mount, file, isNamed }];
  });
}

/** The paths in texts, and the folders above them. */
function usesOfPaths(texts: readonly string[]) {
  const [named, folders] = [new Set<string>(), new Set<string>()];
  for (const [path] of texts.flatMap((text) => [...text.matchAll(writtenPath)])) {
    if (!path.endsWith('/')) named.add(path);
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) folders.add(path.slice(0, end));
  }
  return { named, folders };
}

const writtenPath = /(?<![\w.}-])(?:\/[\w.@+-]{1,255}){1,32}\/?/g;

/** A path with the ending of a file that programs read: `/etc/app/config.yaml`. */
const isFile = new RegExp(
  `^/.*\\w\\.(?:${oneOf('py sh bash ya?ml json jsonl jinja2? j2 toml ini conf cfg cnf properties xml txt csv tmpl pem crt key lua sql')})$`,
);

const asks = /(?:^|\s)(?:\[\[?|test|find|ls)\s/;

function isWhole({ at }: Container['volumeMounts'][number]): boolean {
  const paths = ['subPath', 'subPathExpr', 'mountPath'].map((key) => getIn(at, key));
  return paths[0] === undefined && paths[1] === undefined && !isTemplated(paths[2]) && !isTemplated(at);
}
