import { once } from '../model/once.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { isBelow } from './model-volume.ts';

/** Where this container finds the file or folder of the same name that an init container stores in a volume of both. */
export function storedPath(path: string, { volumeMounts }: Container, podSet: PodSet): string | undefined {
  const name = path.slice(path.lastIndexOf('/'));
  for (const { words, volumeMounts: theirs } of initContainers(podSet)) {
    for (const word of words) {
      const mount = word.endsWith(name) ? theirs.find(({ mountPath }) => isBelow(word, mountPath)) : undefined;
      const own = volumeMounts.find((one) => one.name === mount?.name && getIn(one.at, 'subPath') === undefined);
      if (mount !== undefined && own !== undefined && getIn(mount.at, 'subPath') === undefined)
        return `${own.mountPath}${word.slice(mount.mountPath.length)}`;
    }
  }
  return undefined;
}

const initContainers = once(({ containers }: PodSet) =>
  containers.flatMap(({ type, command, args, volumeMounts }) => {
    const words = [...command, ...args].flatMap(({ value }) => value.split(/[\s"'=;]+/));
    return type === 'init' ? [{ words, volumeMounts }] : [];
  }),
);
