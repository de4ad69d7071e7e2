import { type Copies, copied, sizeOf } from './copied-nodes.ts';
import { countWhere } from './document-marks.ts';
import { insertionTargets } from './insertion-targets.ts';
import type { YamlDocument, YamlEntry, YamlItem, YamlMap, YamlNode, YamlScalar, YamlSeq } from './node.ts';
import { isPlaceholder } from './placeholder.ts';
import { resolvePlain } from './scalar.ts';
import type { Span } from './span.ts';
import { type Mask, maskTemplates } from './template.ts';
import type { TemplateAction } from './template-action.ts';
import type { Evaluated } from './template-functions.ts';
import { type Helpers, includeFrom } from './template-helpers.ts';
import { type Loop, readTemplate, type TemplateReading } from './template-reading.ts';

/** A template's tree with its `.Values` look-ups filled in. */
export interface Filled {
  readonly root: YamlNode;
  /** The spans that were filled in or left out, in text order. */
  readonly places: readonly Span[];
}

/**
 * Fills the look-ups of a Helm template with the chart's values, leaves out branches that they disable, and repeats what is in loops over them.
 * A filled-in node has the span of its action and is `shared`, because it is written elsewhere. An object in a loop is one per round. None
 * if the values determine nothing.
 * @param helpers the chart's named templates
 */
export function fillFromValues(document: YamlDocument, values: YamlNode, helpers?: Helpers): readonly Filled[] {
  const { root, template, text } = document;
  const mask = template && root !== null ? maskTemplates(text) : undefined;
  if (root === null || mask === undefined) return [];
  const known = helpers && { include: includeFrom(helpers, values), names: helpers.names };
  const reading = readTemplate(mask.actions, values, document.opened, known);
  if (reading.results.size === 0 && reading.dead.length === 0 && reading.loops.length === 0) return [];
  const hidden = new Map<YamlNode, Hidden[]>();
  const hide = (node: YamlNode, one: Hidden) => {
    const known = hidden.get(node);
    if (known === undefined) hidden.set(node, [one]);
    else known.push(one);
  };
  for (const target of insertionTargets(root, mask)) {
    const { node, below, action, offset, repeats = false } = target;
    const place = { start: offset, end: offset + 1 };
    // Items may be at the column of their key, so they belong to the key above them and not to its mapping.
    hide(node, { action, place, repeats, takes: below === undefined ? ['map', 'seq'] : ['map'] });
    if (below !== undefined) hide(below, { action, place, repeats, takes: ['seq'] });
  }
  const room = { left: maxCopied };
  const filledBy = (readings: readonly TemplateReading[]): readonly Filled[] => {
    const loop = readings.at(-1)?.loops.find(({ body }) => isWithin(root.span, body));
    if (loop !== undefined) return loop.rounds.flatMap((round) => filledBy([...readings, round]));
    room.left -= readings.length > 1 ? sizeOf(root) : 0;
    const places: Span[] = readings.length > 1 ? [root.span] : [];
    const filled = room.left < 0 ? root : fill(root, { mask, hidden, readings, places, room });
    // What is inserted after the last visible line belongs to it.
    if (places.some(({ start }) => start >= root.span.end))
      places.push({ start: root.span.end - 1, end: root.span.end });
    return places.length === 0 || room.left < 0 ? [] : [{ root: filled, places }];
  };
  const all = filledBy([reading]);
  // With a part of the objects, their number would be wrong.
  return room.left < 0 ? [] : all;
}

/** Unseen lines of a node. */
interface Hidden {
  /** Inserts them, if it is a single action. */
  readonly action: TemplateAction | undefined;
  readonly place: Span;
  /** They repeat those that are written. */
  readonly repeats: boolean;
  /** What belongs to this node; anything else belongs to the node above or below it. */
  readonly takes: readonly YamlNode['kind'][];
}

interface Insertion {
  readonly value: YamlMap | YamlSeq;
  readonly span: Span;
}

interface Filling extends Copies {
  readonly mask: Mask;
  readonly hidden: ReadonlyMap<YamlNode, readonly Hidden[]>;
  /** The template's, and those of the loops around, the innermost last. */
  readonly readings: readonly TemplateReading[];
}

/** A few lines of a hostile chart could expand to millions of nodes. */
const maxCopied = 50_000;

function resultOf(action: TemplateAction | undefined, { readings }: Filling): Evaluated {
  if (action === undefined) return undefined;
  // A variable of a loop around means what it means there.
  for (let index = readings.length - 1; index >= 0; index -= 1) {
    const results = readings[index]?.results;
    if (results?.has(action) === true) return results.get(action);
  }
  return undefined;
}

/** What the values insert into a node, and whether the template may add more. */
function insertionsOf(
  node: YamlNode,
  filling: Filling,
): { readonly insertions: readonly Insertion[]; readonly open: boolean } {
  const insertions: Insertion[] = [];
  let open = false;
  for (const { action, place, repeats, takes } of filling.hidden.get(node) ?? []) {
    if (isDead(place, filling)) continue;
    const value = resultOf(action, filling);
    if (repeats) open ||= !filling.readings.some((reading) => loopAround(place, reading) !== undefined);
    else if (action === undefined || value === undefined || value === null || value.kind === 'scalar') open = true;
    else if (takes.includes(value.kind)) insertions.push({ value, span: action.span });
  }
  return { insertions, open };
}

function fill(node: YamlNode, filling: Filling): YamlNode {
  if (node.kind === 'scalar') return fillScalar(node, filling);
  const { insertions, open } = insertionsOf(node, filling);
  if (node.kind === 'map') {
    const { filled, isOpen } = fillEntries(node.entries, filling);
    const added = insertions.flatMap(({ value, span }) =>
      value.kind === 'map' ? withPlaces(value, span, filling) : [],
    );
    return { ...node, incomplete: node.incomplete && (open || isOpen), entries: [...filled, ...added] };
  }
  const items = fillItems(node.items, filling);
  const added = insertions.flatMap(({ value, span }) => (value.kind === 'seq' ? withItems(value, span, filling) : []));
  const { repeated, ...rest } = node;
  const isRepeated = open && repeated === true;
  return {
    ...rest,
    ...(isRepeated && { repeated }),
    incomplete: node.incomplete && open,
    items: [...items, ...added],
  };
}

/** The entries with their keys, and whether a key is still unknown. */
function fillEntries(entries: readonly YamlEntry[], filling: Filling) {
  let isOpen = false;
  const filled = unrolled(
    entries,
    ({ keySpan }) => keySpan,
    filling,
    (entry, here): YamlEntry => {
      const made = changed(entry, fill(entry.value, here));
      if (actionsIn(here.mask, entry.keySpan).length === 0) return made;
      const key = textFilled(entry.key, entry.keySpan, here);
      isOpen ||= key === undefined;
      return key === undefined ? made : { ...made, key };
    },
  );
  return { filled, isOpen };
}

function fillItems(items: readonly YamlItem[], filling: Filling): readonly YamlItem[] {
  return unrolled(
    items,
    ({ value }) => value.span,
    filling,
    (item, here) => changed(item, fill(item.value, here)),
  );
}

/** The entries or items that are not disabled, those in a loop once for each round. */
function unrolled<T extends YamlEntry | YamlItem>(
  all: readonly T[],
  placeOf: (one: T) => Span,
  filling: Filling,
  make: (one: T, filling: Filling) => T,
): readonly T[] {
  const made: T[] = [];
  for (let index = 0; index < all.length; index += 1) {
    const one = all[index];
    if (one === undefined || (!one.shared && isDead(placeOf(one), filling))) continue;
    const loop = one.shared ? undefined : loopAround(placeOf(one), filling.readings.at(-1));
    if (loop === undefined) {
      made.push(one.shared ? one : make(one, filling));
      continue;
    }
    const from = index;
    for (let next = all[index + 1]; next !== undefined && isWithin(placeOf(next), loop.body); next = all[index + 1]) {
      index += 1;
    }
    const body = all.slice(from, index + 1);
    filling.places.push(loop.body);
    for (const round of loop.rounds) {
      filling.room.left -= body.length;
      if (filling.room.left < 0) break;
      made.push(...unrolled(body, placeOf, { ...filling, readings: [...filling.readings, round] }, make));
    }
  }
  return made;
}

/** The loop of a reading around a place. */
function loopAround(place: Span, reading: TemplateReading | undefined): Loop | undefined {
  const loops = reading?.loops ?? [];
  const found = loops[countWhere(loops, ({ body }) => body.end <= place.start)];
  return found !== undefined && isWithin(place, found.body) ? found : undefined;
}

function isWithin(span: Span | undefined, outer: Span): boolean {
  return span !== undefined && outer.start <= span.start && span.end <= outer.end;
}

/** What several actions insert under one key; undefined if they insert lists and mappings. */
function joined(insertions: readonly Insertion[], filling: Filling): YamlNode | undefined {
  const [first, ...rest] = insertions.flatMap(({ value, span }) => copied(value, span, filling) ?? []);
  if (first?.kind === 'map' && rest.every((one) => one.kind === 'map')) {
    return { ...first, entries: [first, ...rest].flatMap(({ entries }) => entries) };
  }
  if (first?.kind === 'seq' && rest.every((one) => one.kind === 'seq')) {
    return { ...first, items: [first, ...rest].flatMap(({ items }) => items) };
  }
  return undefined;
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

function isDead(span: Span, { readings, places }: Filling): boolean {
  for (const { dead } of readings) {
    const found = dead[countWhere(dead, ({ end }) => end <= span.start)];
    if (found === undefined || found.start > span.start) continue;
    places.push(found);
    return true;
  }
  return false;
}

function fillScalar(node: YamlScalar, filling: Filling): YamlNode {
  if (!node.templated) return node;
  const { mask, places } = filling;
  const { insertions, open } = insertionsOf(node, filling);
  if (insertions.length > 0) {
    const all = joined(insertions, filling) ?? node;
    return all.kind === 'scalar' || !open ? all : { ...all, incomplete: true };
  }
  const actions = actionsIn(mask, node.span);
  if (actions.length === 0) return node;
  const only = resultOf(actions[0], filling);
  const alone = actions.length === 1 && node.source.trim() === actions[0]?.text;
  if (alone && only !== undefined && only !== null && (node.style === 'plain' || only.kind !== 'scalar')) {
    return copied(asPrinted(only), node.span, filling) ?? node;
  }
  const source = textFilled(node.source, node.span, filling);
  if (source === undefined) return node;
  places.push(node.span);
  return {
    ...node,
    source,
    value: node.style === 'plain' ? resolvePlain(source) : source,
    templated: isPlaceholder(source),
  };
}

/** A result as it is read where it is printed: the text of a named template may be a number. */
function asPrinted(node: YamlNode): YamlNode {
  return node.kind === 'scalar' && node.style === 'plain' && typeof node.value === 'string'
    ? { ...node, value: resolvePlain(node.source) }
    : node;
}

/** A text with the output of its actions; undefined if an output is unknown, or is not a text. */
function textFilled(text: string, span: Span, filling: Filling): string | undefined {
  let source = text;
  for (const action of actionsIn(filling.mask, span)) {
    const value = resultOf(action, filling);
    // A chart intends neither the text "nil" nor a mapping inside a text.
    if (value?.kind !== 'scalar') return undefined;
    source = source.replace(action.text, () => value.source);
  }
  return source;
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
