import type { YamlDocument, YamlEntry, YamlItem, YamlMap, YamlNode, YamlScalar, YamlSeq } from './node.ts';
import { isPlaceholder } from './placeholder.ts';
import { resolvePlain } from './scalar.ts';
import type { Span } from './span.ts';
import { insertionTargets, type Mask, maskTemplates } from './template.ts';
import { isControl, type TemplateAction } from './template-action.ts';
import { type Evaluated, evaluate, isTrue, type Scope } from './template-expression.ts';

/** A template's tree with its `.Values` look-ups filled in. */
export interface Filled {
  readonly root: YamlNode;
  /** The spans that were filled in or left out, in text order. */
  readonly places: readonly Span[];
}

/**
 * Fills the plain look-ups of a Helm template with the chart's values, and leaves out branches that they disable. A filled-in node has the
 * span of its action and is `shared`, because it is written elsewhere. Undefined if the values determine nothing.
 */
export function fillFromValues(document: YamlDocument, values: YamlNode): Filled | undefined {
  if (!document.template || document.root === null) return undefined;
  const mask = maskTemplates(document.text);
  if (mask === undefined) return undefined;
  const { results, dead } = readActions(mask.actions, values);
  if (results.size === 0 && dead.length === 0) return undefined;
  const inserted = new Map<YamlNode, Insertion[]>();
  for (const { action, node, below } of insertionTargets(document.root, mask)) {
    const value = results.get(action);
    if (value === undefined || value === null || value.kind === 'scalar') continue;
    // Items may be at the column of their key, so they belong to the key above them and not to its mapping.
    const target = value.kind === 'seq' && below !== undefined ? below : node;
    inserted.set(target, [...(inserted.get(target) ?? []), { value, span: action.span }]);
  }
  const places: Span[] = [];
  const filling: Filling = { mask, results, inserted, dead: outermost(dead), places, room: maxCopied };
  const root = fill(document.root, filling);
  return places.length === 0 ? undefined : { root, places };
}

interface Insertion {
  readonly value: YamlMap | YamlSeq;
  readonly span: Span;
}

interface Filling {
  readonly mask: Mask;
  readonly results: ReadonlyMap<TemplateAction, Evaluated>;
  readonly inserted: ReadonlyMap<YamlNode, readonly Insertion[]>;
  /** Parts of the text that the values disable. */
  readonly dead: readonly Span[];
  readonly places: Span[];
  /** How many more nodes may be copied: a few lines of a hostile chart could expand to millions. */
  room: number;
}

/** The value of each action, and the spans of branches that are not taken. */
function readActions(
  actions: readonly TemplateAction[],
  values: YamlNode,
): { readonly results: ReadonlyMap<TemplateAction, Evaluated>; readonly dead: readonly Span[] } {
  const results = new Map<TemplateAction, Evaluated>();
  const dead: Span[] = [];
  const variables = new Map<string, Evaluated>();
  const blocks: Block[] = [];
  let dot: Scope['dot'] = 'root';
  for (const action of actions) {
    const [, inner = ''] = /^\{\{[-~]?([\s\S]*?)[-~]?\}\}$/.exec(action.text) ?? [];
    const expression = inner.trim();
    const scope: Scope = { dot, values, variables };
    if (!isControl(action)) {
      const value = evaluate(expression, scope);
      if (value !== undefined) results.set(action, value);
      continue;
    }
    const [, word = '', rest = ''] = /^(\w+)\b\s*([\s\S]*)$/.exec(expression) ?? [];
    const assigned = /^(\$\w+)\s*:?=\s*([\s\S]*)$/.exec(expression);
    const block = blocks.at(-1);
    if (assigned?.[1] !== undefined) {
      // An assignment in a branch or a loop holds only if that runs.
      variables.set(assigned[1], blocks.length === 0 ? evaluate(assigned[2] ?? '', scope) : undefined);
    } else if (word === 'if' || word === 'with') {
      const value = evaluate(rest, scope);
      const truth = isTrue(value);
      blocks.push({ before: dot, truth, from: action.span.end });
      if (word === 'with') dot = value;
    } else if (word === 'range' || word === 'define' || word === 'block') {
      blocks.push({ before: dot, truth: undefined, from: action.span.end });
      dot = undefined;
    } else if (word === 'else' && block !== undefined) {
      if (block.truth === false) dead.push({ start: block.from, end: action.span.start });
      dot = block.before;
      // In a chain, the first branch that is taken disables the others.
      const next =
        rest === '' ? true : rest.startsWith('if ') ? isTrue(evaluate(rest.slice(3), { ...scope, dot })) : undefined;
      const taken = block.taken === true || block.truth === true;
      const unsure = block.unsure === true || block.truth === undefined;
      block.truth = taken ? false : unsure && next !== false ? undefined : next;
      block.taken = taken;
      block.unsure = unsure;
      block.from = action.span.end;
    } else if (word === 'end' && block !== undefined) {
      if (block.truth === false) dead.push({ start: block.from, end: action.span.start });
      dot = block.before;
      blocks.pop();
    }
  }
  return { results, dead };
}

interface Block {
  readonly before: Scope['dot'];
  /** Whether the branch is taken. */
  truth: boolean | undefined;
  from: number;
  /** An earlier branch is certainly taken (`taken`) or may be (`unsure`). */
  taken?: boolean;
  unsure?: boolean;
}

function fill(node: YamlNode, filling: Filling): YamlNode {
  if (node.kind === 'scalar') return fillScalar(node, filling);
  const insertions = filling.inserted.get(node) ?? [];
  if (node.kind === 'map') {
    const kept = node.entries.filter(({ keySpan, shared }) => shared || !isDead(keySpan, filling));
    const entries = kept.map((entry) => (entry.shared ? entry : changed(entry, fill(entry.value, filling))));
    const added = insertions.flatMap(({ value, span }) =>
      value.kind === 'map' ? withPlaces(value, span, filling) : [],
    );
    return { ...node, entries: [...entries, ...added] };
  }
  const kept = node.items.filter(({ value, shared }) => shared || !isDead(value.span, filling));
  const items = kept.map((item) => (item.shared ? item : changed(item, fill(item.value, filling))));
  const added = insertions.flatMap(({ value, span }) => (value.kind === 'seq' ? withItems(value, span, filling) : []));
  return { ...node, items: [...items, ...added] };
}

function withPlaces(value: YamlMap, span: Span, filling: Filling): readonly YamlEntry[] {
  const copy = copied(value, span, filling);
  return copy?.kind === 'map' ? copy.entries : [];
}

function withItems(value: YamlSeq, span: Span, filling: Filling): readonly YamlItem[] {
  const copy = copied(value, span, filling);
  return copy?.kind === 'seq' ? copy.items : [];
}

function changed<T extends { readonly value: YamlNode; readonly shared: boolean }>(holder: T, value: YamlNode): T {
  return value === holder.value ? holder : { ...holder, value };
}

function isDead(span: Span, { dead, places }: Filling): boolean {
  let low = 0;
  let high = dead.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((dead[middle]?.end ?? 0) <= span.start) low = middle + 1;
    else high = middle;
  }
  const found = dead[low];
  if (found === undefined || found.start > span.start) return false;
  places.push(found);
  return true;
}

function fillScalar(node: YamlScalar, filling: Filling): YamlNode {
  if (!node.templated) return node;
  const { mask, results, inserted, places } = filling;
  const [insertion] = inserted.get(node) ?? [];
  if (insertion !== undefined) return copied(insertion.value, insertion.span, filling) ?? node;
  const actions = actionsIn(mask, node.span);
  if (actions.length === 0) return node;
  const values = actions.map((action) => results.get(action));
  const [only] = values;
  const alone = actions.length === 1 && node.source.trim() === actions[0]?.text;
  if (alone && only !== undefined && only !== null && (node.style === 'plain' || only.kind !== 'scalar')) {
    return copied(only, node.span, filling) ?? node;
  }
  let source = node.source;
  for (const [index, value] of values.entries()) {
    // A chart intends neither the text "nil" nor a mapping inside a text.
    if (value?.kind !== 'scalar') return node;
    source = source.replace(actions[index]?.text ?? '', () => value.source);
  }
  places.push(node.span);
  return {
    ...node,
    source,
    value: node.style === 'plain' ? resolvePlain(source) : source,
    templated: isPlaceholder(source),
  };
}

function actionsIn({ actions }: Mask, span: Span): readonly TemplateAction[] {
  let low = 0;
  let high = actions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((actions[middle]?.span.end ?? 0) <= span.start) low = middle + 1;
    else high = middle;
  }
  const found: TemplateAction[] = [];
  for (let action = actions[low]; action !== undefined && action.span.start < span.end; action = actions[++low]) {
    found.push(action);
  }
  return found;
}

/** Branches nested in disabled ones add nothing. */
function outermost(dead: readonly Span[]): readonly Span[] {
  const found: Span[] = [];
  for (const span of [...dead].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start >= (found.at(-1)?.end ?? 0)) found.push(span);
  }
  return found;
}

const maxCopied = 50_000;

/** A copy of a value at a place of this file; undefined if the limit of copied nodes is exceeded. */
function copied(value: YamlNode, span: Span, filling: Filling): YamlNode | undefined {
  const size = sizeOf(value);
  if (size > filling.room) return undefined;
  filling.room -= size;
  filling.places.push(span);
  return moved(value, span);
}

const sizes = new WeakMap<YamlNode, number>();

function sizeOf(node: YamlNode): number {
  if (node.kind === 'scalar') return 1;
  const known = sizes.get(node);
  if (known !== undefined) return known;
  const children: readonly { readonly value: YamlNode }[] = node.kind === 'map' ? node.entries : node.items;
  const size = children.reduce((sum, { value }) => sum + sizeOf(value), 1);
  sizes.set(node, size);
  return size;
}

/** A copy of a value from another file, with every node at one place of this one. */
function moved(node: YamlNode, span: Span): YamlNode {
  if (node.kind === 'scalar') return { ...node, span };
  if (node.kind === 'seq') {
    return { ...node, span, items: node.items.map(({ value }) => ({ value: moved(value, span), shared: true })) };
  }
  const entries = node.entries.map(({ key, value }) => ({
    key,
    keySpan: span,
    value: moved(value, span),
    shared: true,
  }));
  return { ...node, span, entries };
}
