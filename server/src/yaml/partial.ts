import type { YamlDocument, YamlNode } from './node.ts';
import { once } from './once.ts';

/**
 * A text that is merged into another one, such as a kustomize patch: what its mappings, and the lists of mappings, do not have may be in the
 * other. Lists of plain values replace those of the other.
 */
export const partialDocument: (document: YamlDocument) => YamlDocument = once((document) => ({
  ...document,
  root: document.root && partialNode(document.root),
}));

/**
 * A document whose comments are ytt's code: it fills in empty values, and adds or removes fields and whole items.
 * https://carvel.dev/ytt/docs/latest/lang-ref-ytt-annotation/
 */
export function withYttCode(document: YamlDocument): YamlDocument {
  if (document.root === null || !document.comments.some(({ text }) => /^#@(?: |[a-z]{1,20}\/)/.test(text)))
    return document;
  return { ...document, root: partialNode(document.root, true), template: true };
}

export function partialNode(node: YamlNode, fillsEmpty = false): YamlNode {
  if (node.kind === 'scalar')
    return fillsEmpty && node.span.start === node.span.end ? { ...node, templated: true } : node;
  if (node.kind === 'map') {
    const entries = node.entries.map((entry) => ({ ...entry, value: partialNode(entry.value, fillsEmpty) }));
    return { ...node, entries, incomplete: true };
  }
  const items = node.items.map((item) => ({ ...item, value: partialNode(item.value, fillsEmpty) }));
  return { ...node, items, incomplete: node.incomplete || items.some(({ value }) => value.kind === 'map') };
}
