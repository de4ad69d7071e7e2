import { asText, type Cursor, getIn, isUnseen, items } from '../yaml/cursor.ts';

/**
 * The names of the disks of a KubeVirt machine that have no volume. Only CD-ROM drives may be empty. A patch may name the disks alone, unless the
 * object also says that the machine runs.
 * https://kubevirt.io/user-guide/storage/disks_and_volumes/
 */
export function disksWithoutVolume(root: Cursor, machine: Cursor): readonly Cursor[] {
  const [disks, volumes] = [getIn(machine, 'domain', 'devices', 'disks'), getIn(machine, 'volumes')];
  if ([machine, disks, volumes].some(isUnseen)) return [];
  const isWhole = ['running', 'runStrategy'].some((field) => getIn(root, 'spec', field) !== undefined);
  if (volumes === undefined && !isWhole) return [];
  const names = items(volumes).map((volume) => getIn(volume, 'name'));
  if (names.some((name) => name === undefined || isUnseen(name))) return [];
  const known = new Set(names.map((name) => asText(name)));
  return items(disks).flatMap((disk) => {
    const name = getIn(disk, 'name');
    const isOpen = name === undefined || isUnseen(disk) || isUnseen(name) || getIn(disk, 'cdrom') !== undefined;
    return isOpen || known.has(asText(name)) ? [] : [name];
  });
}
