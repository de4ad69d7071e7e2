import type { ApiType } from '../catalog/index.ts';
import { type Cursor, entries, getIn } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { tableOf } from '../yaml/table.ts';
import { type Fix, fix } from './fix.ts';

/** Selects the pods of the template by its labels. */
export function selectTemplate(spec: Cursor, document: YamlDocument): Fix | undefined {
  const labels = entries(getIn(spec, 'template', 'metadata', 'labels')).map(
    ({ node, step }) => [String(step), node.kind === 'scalar' && !node.templated ? node.value : undefined] as const,
  );
  const known = labels.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
  if (known.length !== labels.length) return undefined;
  const value = { matchLabels: tableOf(known) };
  return fix(
    'Add a selector for the labels of the pod template',
    'unsafe',
    insertKey(document, spec, 'selector', value),
  );
}

/** Brackets around a single word where a list of words is expected, or braces around a name where only a name is required. */
export function wrap(
  { node, shared, parent }: Cursor,
  type: ApiType,
  { text, template }: YamlDocument,
): Fix | undefined {
  const written = text.slice(node.span.start, node.span.end);
  if (shared || template || !/^["']?[\w./-]{1,200}["']?$/.test(written)) return undefined;
  const isList = type.form === 'list' && (type.of.form === 'string' || type.of.form === 'enum');
  const isNamed = type.form === 'object' && requiresOnlyName.has(type.name);
  if (!isList && !isNamed) return undefined;
  const newText = isList ? `[${written}]` : `{name: ${written}}`;
  // Below a mapping, a word may be the item of another list, whose key was lost.
  const isMixed = parent?.node.kind === 'seq' && parent.node.items.some(({ value }) => value.kind === 'map');
  return fix(`Change to ${shorten(newText, 60)}`, isMixed ? 'unsafe' : 'safe', [{ span: node.span, newText }]);
}

const requiresOnlyName: ReadonlySet<string> = new Set(['LocalObjectReference', 'PodSchedulingGate']);
