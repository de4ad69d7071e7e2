import type { Container } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Edits } from './fix.ts';

/** Edits that give a container one device of a resource. */
export function addLimit({ at, resources }: Container, resource: string, document: YamlDocument): Edits {
  if (resources === undefined) return insertKey(document, at, 'resources', { limits: { [resource]: 1 } });
  const limits = getIn(resources, 'limits');
  if (limits === undefined) return insertKey(document, resources, 'limits', { [resource]: 1 });
  return insertKey(document, limits, resource, 1);
}
