import type { YamlMap, YamlNode, YamlSeq } from '../../yaml/node.ts';
import { nowhere } from '../../yaml/span.ts';
import { external } from './merge.ts';

/** Whether a document is a list of JSON Patch operations. */
export function isJsonPatch(root: YamlNode): root is YamlSeq {
  return (
    root.kind === 'seq' && root.items.length > 0 && root.items.every(({ value }) => textAt(value, 'op') !== undefined)
  );
}

/**
 * Applies a JSON Patch to an object. Only add, replace and remove are supported, and paths that do not exist are skipped: the others do not
 * change what accelerators cost. https://www.rfc-editor.org/rfc/rfc6902
 */
export function applyJsonPatch(base: YamlNode, patch: YamlSeq): YamlNode {
  let root = external(base);
  for (const { value: operation } of patch.items) {
    const op = textAt(operation, 'op');
    const steps = stepsOf(operation);
    const value = op === 'remove' ? undefined : valueAt(operation, 'value');
    if (steps.length === 0 || (op !== 'remove' && value === undefined)) continue;
    if (value !== undefined && steps.length + depthOf(value) > maxDepth) continue;
    if (op === 'add' || op === 'replace' || op === 'remove') root = changed(root, steps, op, value) ?? root;
  }
  return root;
}

/** No object is nested so deeply, but each operation can add a level, and whatever reads the result recurses. */
const maxDepth = 200;

function depthOf(node: YamlNode): number {
  if (node.kind === 'scalar') return 0;
  const children = node.kind === 'map' ? node.entries : node.items;
  return 1 + children.reduce((deepest, { value }) => Math.max(deepest, depthOf(value)), 0);
}

/** Undefined if the path does not exist. */
function changed(
  node: YamlNode,
  steps: readonly string[],
  op: string,
  value: YamlNode | undefined,
): YamlNode | undefined {
  const [step = '', ...rest] = steps;
  if (node.kind === 'map') return changedMap(node, step, rest, op, value);
  return node.kind === 'seq' ? changedSeq(node, step, rest, op, value) : undefined;
}

function changedMap(node: YamlMap, step: string, rest: readonly string[], op: string, value: YamlNode | undefined) {
  const found = node.entries.find(({ key }) => key === step);
  if (rest.length > 0) {
    const inner = found && changed(found.value, rest, op, value);
    if (inner === undefined) return undefined;
    return { ...node, entries: node.entries.map((entry) => (entry === found ? { ...entry, value: inner } : entry)) };
  }
  if (found === undefined && op !== 'add') return undefined;
  const others = node.entries.filter((entry) => entry !== found);
  if (value === undefined) return { ...node, entries: others };
  return {
    ...node,
    entries: [...others, { key: step, keySpan: value.kind === 'scalar' ? value.span : nowhere, value, shared: true }],
  };
}

function changedSeq(node: YamlSeq, step: string, rest: readonly string[], op: string, value: YamlNode | undefined) {
  const index = step === '-' ? node.items.length : /^\d+$/.test(step) ? Number(step) : -1;
  if (index < 0 || index > node.items.length) return undefined;
  const items = [...node.items];
  const found = items[index];
  if (rest.length > 0) {
    const inner = found && changed(found.value, rest, op, value);
    if (inner === undefined) return undefined;
    items[index] = { value: inner, shared: true };
  } else if (value === undefined) items.splice(index, 1);
  else items.splice(index, op === 'replace' ? 1 : 0, { value, shared: true });
  return { ...node, items };
}

/** The steps of an operation's path. */
export function stepsOf(operation: YamlNode): readonly string[] {
  return textAt(operation, 'path')?.split('/').slice(1).map(unescaped) ?? [];
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The value of a key; undefined if the node lacks the key or is not a mapping. */
export function valueAt(node: YamlNode, key: string): YamlNode | undefined {
  return node.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
}

function textAt(node: YamlNode, key: string): string | undefined {
  const value = valueAt(node, key);
  return value?.kind === 'scalar' && typeof value.value === 'string' ? value.source : undefined;
}
