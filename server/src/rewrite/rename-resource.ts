import { isCertainSlip, meantMigResource, meantResource, replacedResource } from '../catalog/resource-spelling.ts';
import { lowerQuantity } from '../model/quantity.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, entries, getIn, keyOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { type Fix, fix, type Safety } from './fix.ts';
import { isWhole } from './quantities.ts';

/** The resource that a misspelled name certainly means; undefined for correct and other names. */
export function meantName(written: string): string | undefined {
  return meantResource(written) ?? meantMigResource(written);
}

/** The entries of limits, followed by those of requests; also under the names of KubeSpawner and its chart. */
export const writtenResources = once(({ at, resources }: Container): readonly Cursor[] => [
  ...entries(getIn(resources, 'limits')),
  ...entries(getIn(at, 'extra_resource_limits')),
  ...entries(getIn(at, 'extraResource', 'limits')),
  ...entries(getIn(resources, 'requests')),
  ...entries(getIn(at, 'extra_resource_guarantees')),
  ...entries(getIn(at, 'extraResource', 'guarantees')),
]);

/**
 * Corrects a resource's name in limits and requests, in which it may be misspelled differently or only once. Undefined unless the result
 * is one request that the API server accepts.
 */
export function renameResource(
  container: Container,
  from: string,
  to: string,
  safety: Safety,
  document: YamlDocument,
): Fix | undefined {
  const written = writtenResources(container).filter((entry) => {
    const name = keyOf(entry);
    return name === from || name === to || meantName(name) === to;
  });
  const [limit, ...twice] = written.filter(({ parent }) =>
    /^(?:limits|extra_resource_limits)$/.test(String(parent?.step)),
  );
  if (limit === undefined || twice.length > 0 || written.length > 2 || !isWhole(lowerQuantity(limit))) return undefined;
  if (written.some((entry) => lowerQuantity(entry).text !== lowerQuantity(limit).text)) return undefined;
  const wrong = written.filter((entry) => keyOf(entry) !== to);
  const certain = wrong
    .map(keyOf)
    .every((name) => isCertainSlip(name, to) || meantMigResource(name) === to || isFormer(name, to));
  return fix(`Rename to ${to}`, certain ? safety : 'unsafe', ...wrong.map((entry) => renameKey(document, entry, to)));
}

/** Whether a name is the one that a resource had before all releases in use. */
function isFormer(name: string, to: string): boolean {
  const replaced = replacedResource(name);
  return replaced?.isGone === true && replaced.now === to;
}
