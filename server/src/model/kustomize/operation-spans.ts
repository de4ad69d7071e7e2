import type { YamlMap, YamlNode, YamlSeq } from '../../yaml/node.ts';
import { stepsOf, valueAt } from './json-patch.ts';

/** A built object in which the values of a JSON patch have the spans of the patch; its content is the same. */
export function withSpansOf(built: YamlNode, patch: YamlSeq): YamlNode {
  let root = built;
  for (const { value: operation } of patch.items) {
    const value = valueAt(operation, 'value');
    const steps = stepsOf(operation);
    if (value !== undefined && steps.length > 0) root = placed(root, steps, value);
  }
  return root;
}

function placed(node: YamlNode, steps: readonly string[], value: YamlNode): YamlNode {
  const [step = '', ...rest] = steps;
  const put = (inner: YamlNode) => (rest.length > 0 ? placed(inner, rest, value) : same(inner, value) ? value : inner);
  if (node.kind === 'map') return placedInMap(node, step, put);
  if (node.kind !== 'seq') return node;
  const isLast = rest.length === 0 && same(node.items[Number(step)]?.value, value) === false;
  const at = isLast ? node.items.map((item) => same(item.value, value)).lastIndexOf(true) : Number(step);
  return {
    ...node,
    items: node.items.map((item, index) => (index === at ? { ...item, value: put(item.value) } : item)),
  };
}

function placedInMap(node: YamlMap, step: string, put: (inner: YamlNode) => YamlNode): YamlMap {
  const entries = node.entries.map((entry) => {
    if (entry.key !== step) return entry;
    const value = put(entry.value);
    const isNew = value !== entry.value && value.kind === 'scalar';
    return { ...entry, value, keySpan: isNew ? value.span : entry.keySpan };
  });
  return { ...node, entries };
}

/** Whether two nodes have the same content. */
export function same(one: YamlNode | undefined, other: YamlNode): boolean {
  if (one === undefined) return false;
  if (one.kind === 'scalar') return other.kind === 'scalar' && one.value === other.value && one.source === other.source;
  if (one.kind === 'seq') {
    const { items } = one;
    return (
      other.kind === 'seq' &&
      items.length === other.items.length &&
      other.items.every(({ value }, index) => same(items[index]?.value, value))
    );
  }
  const { entries } = one;
  return (
    other.kind === 'map' &&
    entries.length === other.entries.length &&
    other.entries.every(({ key, value }, index) => entries[index]?.key === key && same(entries[index]?.value, value))
  );
}
