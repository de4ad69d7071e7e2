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
  return candidates.flatMap((mount) => {
    const volume = volumeNamed(podSet, mount.name);
    if (volume === undefined || !['configMap', 'secret', 'projected'].includes(volume.source ?? '')) return [];
    const path = mount.mountPath;
    const uses = lines.flatMap(({ value }) => usesOf(path, value));
    // The program may know that it is a folder, or a script may look.
    if (uses.some((after) => after.startsWith('/')) || lines.some(({ value }) => asks.test(value))) return [];
    const isNamed = uses.some((after) => !/^[\w.-]/.test(after));
    const [, files = []] = filesOfVolume(volume, keysOf);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const own = files.includes(name) ? name : undefined;
    const file = own ?? (files.length === 1 ? files[0] : undefined);
    return own === undefined && !isNamed ? [] : [{ mount, file, isNamed }];
  });
}

/** What follows each use of a path in a text, in which it is not the end of a longer path. */
function usesOf(path: string, text: string): readonly string[] {
  const parts = text.split(path);
  return parts.slice(1).filter((_, index) => !/[\w.}-]$/.test(parts[index] ?? ''));
}

/** A path with the ending of a file that programs read: `/etc/app/config.yaml`. */
const isFile = new RegExp(
  `^/.*\\w\\.(?:${oneOf('py sh bash ya?ml json jsonl jinja2? j2 toml ini conf cfg cnf properties xml txt csv tmpl pem crt key lua sql')})$`,
);

const asks = /(?:^|\s)(?:\[\[?|test|find|ls)\s/;

function isWhole({ at }: Container['volumeMounts'][number]): boolean {
  const paths = ['subPath', 'subPathExpr', 'mountPath'].map((key) => getIn(at, key));
  return paths[0] === undefined && paths[1] === undefined && !isTemplated(paths[2]) && !isTemplated(at);
}
