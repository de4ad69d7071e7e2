import { acceleratorResource } from '../catalog/index.ts';
import { meantResource } from '../catalog/resource-spelling.ts';
import { entries, getIn, keyOf } from '../yaml/cursor.ts';
import type { Container } from './workload.ts';

/** Whether a container requests a resource by a misspelled name, which gpu-resource-name reports, or a device below a misspelled field. */
export function misspellsResource({ containers }: { readonly containers: readonly Container[] }): boolean {
  const names = containers.flatMap(({ resources }) =>
    ['limits', 'requests'].flatMap((key) => entries(getIn(resources, key)).map(keyOf)),
  );
  if (names.some((name) => name.includes('/') && meantResource(name) !== undefined)) return true;
  // Such as `limit` in `resources`, or `resource`.
  const lists = containers.flatMap(({ at }) =>
    entries(at)
      .filter(({ node }) => node.kind === 'map')
      .flatMap(entries),
  );
  return lists.some((list) => entries(list).some((one) => acceleratorResource(keyOf(one)) !== undefined));
}
