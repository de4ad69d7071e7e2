import type { YamlMap, YamlNode, YamlScalar, YamlSeq } from '../yaml/node.ts';
import { resolvePlain } from '../yaml/scalar.ts';

/** What stands for the text of a reference, by its name. */
export type Known = ReadonlyMap<string, string>;

/** How a document refers to parameters. */
export interface References {
  /** Finds them all; its first group is the name. */
  readonly pattern: RegExp;
  /** Part of every reference, including those of unknown names. */
  readonly mark: string;
}

/** Numbers, models and machines are shorter; many references to a long value would make a large tree. */
export const maxValue = 200;

const maxDepth = 60;
const maxLength = 100_000;

/**
 * The tree with the values of parameters in place of references to them; undefined if nothing changes.
 * @param scopes the parameters that only a part of the tree has, by its node
 */
export function withParameters(
  root: YamlNode,
  known: Known,
  references: References,
  scopes: ReadonlyMap<YamlNode, Known> = new Map(),
): YamlNode | undefined {
  const state = { references, scopes, changed: false };
  const filled = fill(root, known, state, 0);
  return state.changed ? filled : undefined;
}

/** A text with all references whose values are known. */
export function resolve(text: string, known: Lookup, { pattern }: References): string {
  if (text.length > maxLength) return text;
  return text.replace(pattern, (written, name: string) => known.get(name) ?? written);
}

/** Without a copy, because a workflow may have many of both. */
function joined(own: Known, outer: Lookup): Lookup {
  return { get: (name) => own.get(name) ?? outer.get(name) };
}

type Lookup = Pick<Known, 'get'>;

interface State {
  readonly references: References;
  readonly scopes: ReadonlyMap<YamlNode, Known>;
  changed: boolean;
}

function fill(node: YamlNode, outer: Lookup, state: State, depth: number): YamlNode {
  if (depth > maxDepth) return node;
  if (node.kind === 'scalar') return node.templated ? fillScalar(node, outer, state) : node;
  const own = state.scopes.get(node);
  const known = own === undefined || own.size === 0 ? outer : joined(own, outer);
  return node.kind === 'map' ? fillMap(node, known, state, depth) : fillSeq(node, known, state, depth);
}

function fillMap(node: YamlMap, known: Lookup, state: State, depth: number): YamlMap {
  const filled = node.entries.map((entry) => {
    const value = fill(entry.value, known, state, depth + 1);
    return value === entry.value ? entry : { ...entry, value, shared: entry.shared || value.kind === 'scalar' };
  });
  return filled.every((entry, index) => entry === node.entries[index]) ? node : { ...node, entries: filled };
}

function fillSeq(node: YamlSeq, known: Lookup, state: State, depth: number): YamlSeq {
  const filled = node.items.map((item) => {
    const value = fill(item.value, known, state, depth + 1);
    return value === item.value ? item : { ...item, value, shared: item.shared || value.kind === 'scalar' };
  });
  return filled.every((item, index) => item === node.items[index]) ? node : { ...node, items: filled };
}

function fillScalar(node: YamlScalar, known: Lookup, state: State): YamlScalar {
  const source = resolve(node.source, known, state.references);
  if (source === node.source) return node;
  state.changed = true;
  const templated = source.includes(state.references.mark);
  const value = node.style === 'plain' && !templated ? resolvePlain(source) : source;
  return { ...node, source, value, templated };
}
