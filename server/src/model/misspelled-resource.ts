import { meantResource } from '../catalog/resource-spelling.ts';
import { entries, getIn, keyOf } from '../yaml/cursor.ts';
import type { PodSet } from './workload.ts';

/** Whether a container requests a resource by a misspelled name, which gpu-resource-name reports. */
export function misspellsResource({ containers }: PodSet): boolean {
  const names = containers.flatMap(({ resources }) =>
    ['limits', 'requests'].flatMap((key) => entries(getIn(resources, key)).map(keyOf)),
  );
  return names.some((name) => name.includes('/') && meantResource(name) !== undefined);
}
