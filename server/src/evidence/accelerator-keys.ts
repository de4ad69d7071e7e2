import { acceleratorResource } from '../catalog/index.ts';
import type { YamlNode } from '../yaml/node.ts';

/** Whether a key anywhere in a node is the name of an accelerator resource, even where no container gets it. */
export function hasAcceleratorKey(node: YamlNode): boolean {
  if (node.kind === 'seq') return node.items.some(({ value }) => hasAcceleratorKey(value));
  if (node.kind !== 'map') return false;
  return node.entries.some(({ key, value }) => acceleratorResource(key) !== undefined || hasAcceleratorKey(value));
}
