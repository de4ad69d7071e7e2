import { CST, isAlias, isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { type DraftMap, type DraftScalar, type DraftSeq, emptyScalar } from './draft.ts';
import { repeatsIndent } from './foreign-lines.ts';
import { interned } from './interned.ts';
import { aliasReason, MAX_ALIASED } from './limits.ts';
import type { YamlEntry, YamlNode, YamlProblem, YamlScalar } from './node.ts';
import { isPlaceholder } from './placeholder.ts';
import { keyProblem } from './problems.ts';
import { watchKeys } from './repeated-keys.ts';
import { resolvePlain } from './scalar.ts';
import type { Span } from './span.ts';
import { type Mask, restoreMasked, touchesAction } from './template.ts';

/** The library's tree, converted to ours. */
export interface Converted {
  readonly root: YamlNode | null;
  readonly problems: readonly YamlProblem[];
  /** Why the tree was discarded; null if it was not. */
  readonly skipped: string | null;
}

/**
 * Converts the library's tree: resolves values as Kubernetes does, follows aliases and merge keys, and keeps exact spans. An alias yields
 * the very node of its anchor, so the work is linear in the text; the size of the expanded aliases is only counted.
 */
export function convertTree(tree: unknown, text: string, mask: Mask | undefined): Converted {
  const walk: Walk = { text, mask, anchors: new Map(), problems: [], aliased: 0 };
  const built = tree === null || tree === undefined ? undefined : convert(walk, tree, 0);
  if (walk.aliased > MAX_ALIASED) return { root: null, problems: [], skipped: aliasReason(walk.aliased) };
  const empty = built?.node.kind === 'scalar' && built.node.span.start === built.node.span.end;
  return { root: built && !empty ? built.node : null, problems: walk.problems, skipped: null };
}

interface Walk {
  readonly text: string;
  readonly mask: Mask | undefined;
  /** The node of each anchor read so far; 'reading' while the anchor's own value is being read. */
  readonly anchors: Map<string, Built | 'reading'>;
  readonly problems: YamlProblem[];
  /** How many values the document contains only through aliases and merge keys. */
  aliased: number;
}

interface Built {
  readonly node: YamlNode;
  readonly shared: boolean;
  /** How many values it contains with every alias expanded. */
  readonly weight: number;
  /** Where its text ends at this place; for an alias, not where the node's own text ends. */
  readonly end: number;
}

function convert(walk: Walk, node: unknown, fallback: number): Built {
  if (isAlias(node)) return followAlias(walk, node.source, spanFrom(node.range, fallback));
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor) walk.anchors.set(anchor, 'reading');
  const built = convertPlain(walk, node, fallback);
  if (anchor) walk.anchors.set(anchor, built);
  return built;
}

function convertPlain(walk: Walk, node: unknown, fallback: number): Built {
  if (isScalar(node)) {
    const scalar = convertScalar(walk, node, fallback);
    return { node: scalar, shared: false, weight: 1, end: scalar.span.end };
  }
  if (isMap(node)) return endingInColon(walk, node) ?? unlessTagged(node.tag, convertMap(walk, node, fallback));
  if (isSeq(node)) return unlessTagged(node.tag, convertSeq(walk, node, fallback));
  return { node: emptyScalar(fallback), shared: false, weight: 1, end: fallback };
}

/** A collection with a tag of an application (`!reference [base, resources]`) stands for an unknown value. */
function unlessTagged(tag: string | undefined, built: Built): Built {
  if (!isLocalTag(tag)) return built;
  const { span } = built.node;
  return { ...built, node: { ...emptyScalar(span.start), templated: true, span } };
}

function followAlias(walk: Walk, name: string, span: Span): Built {
  const target = walk.anchors.get(name);
  if (target !== undefined && target !== 'reading') {
    walk.aliased += target.weight;
    return { node: target.node, shared: true, weight: target.weight, end: span.end };
  }
  const message =
    target === 'reading'
      ? `The alias *${name} is inside its own anchor; write out the value`
      : `No anchor &${name} precedes this alias; add the anchor or write out the value`;
  walk.problems.push({ message, span, isLocal: true });
  // What it stands for is unknown.
  return { node: { ...emptyScalar(span.start), templated: true }, shared: true, weight: 1, end: span.end };
}

function convertScalar(walk: Walk, node: Scalar, fallback: number): DraftScalar {
  const read = node.source ?? (typeof node.value === 'string' ? node.value : '');
  const style = styleOf(node.type);
  const start = node.range?.[0] ?? fallback;
  const source = style === 'double' && read.includes("\\'") ? withQuotes(walk, node, read) : read;
  if (source === '' && style === 'plain') {
    const at = node.anchor === undefined && node.tag === undefined ? fallback : start;
    return { ...emptyScalar(at), value: node.tag === STR ? '' : null };
  }
  const rawEnd = node.range?.[1] ?? start;
  let end = rawEnd;
  if (isBlock(style)) while (end > start && isBlank(walk.text, walk.mask, end - 1)) end--;
  return scalarNode(walk, { source, style, start, end, rawEnd, tag: node.tag });
}

/** The value of double-quoted text with \\', which Kubernetes' parser reads as a quote and YAML does not allow. */
function withQuotes({ text, mask }: Walk, { range }: Scalar, read: string): string {
  const [start = 0, end = 0] = range ?? [];
  if (mask !== undefined && touchesAction(mask, { start, end })) return read;
  const source = text.slice(start, end).replace(/\\[\s\S]/g, (pair) => (pair === "\\'" ? "'" : pair));
  // Other escapes have their own errors.
  const resolved = CST.resolveAsScalar(
    { type: 'double-quoted-scalar', offset: 0, indent: 0, source },
    false,
    () => undefined,
  );
  return resolved?.value ?? read;
}

/** A scalar as it appears in the text; `source` has quotes, escapes and folding resolved. */
interface FoundScalar {
  readonly source: string;
  readonly style: YamlScalar['style'];
  readonly start: number;
  readonly end: number;
  /** The end of a block scalar including trailing blank lines. */
  readonly rawEnd: number;
  readonly tag?: string | undefined;
}

/** Builds the node of a scalar that is not empty. `holdsPlaceholders` is false if nothing in the text can be one. */
export function scalarNode(
  { text, mask, holdsPlaceholders = true }: Pick<Walk, 'text' | 'mask'> & { readonly holdsPlaceholders?: boolean },
  { source, style, start, end, rawEnd, tag }: FoundScalar,
): DraftScalar {
  const block = isBlock(style);
  const span = { start, end };
  if (mask && block && touchesAction(mask, { start: end, end: rawEnd })) {
    // Template lines after a block scalar were blanked; deeply indented ones look like lines of spaces in it.
    const clean = source.replace(/(?<!\n[ \t]*)(?:\n[ \t]*)+$/, '\n');
    return { kind: 'scalar', value: clean, source: clean, style, templated: touchesAction(mask, span), span };
  }
  if (mask && touchesAction(mask, span)) {
    const restored = mask.instead?.get(start) ?? restoreMasked(mask, text, span, source);
    return { kind: 'scalar', value: restored, source: restored, style, templated: true, span };
  }
  // What an application makes of its own tags (`!Ref`, `!include`, `!vault`) is unknown.
  const templated = (!block && holdsPlaceholders && isPlaceholder(source)) || isLocalTag(tag);
  return { kind: 'scalar', value: resolveValue(source, style, tag), source, style, templated, span };
}

function isBlock(style: YamlScalar['style']): boolean {
  return style === 'literal' || style === 'folded';
}

/** An item such as `[--host=::]`: before a bracket or a comma, Kubernetes' parser reads the colon as part of the text. */
function endingInColon(walk: Walk, { flow, items }: YAMLMap): Built | undefined {
  const [only] = items as Pair<unknown, unknown>[];
  const key = only?.key;
  if (flow !== true || items.length !== 1 || !isScalar(key) || key.type !== 'PLAIN') return undefined;
  const { source = '', anchor, tag } = key;
  const [start = 0, end = 0] = key.range ?? [];
  const isItem = /[[,]\s*$/.test(walk.text.slice(Math.max(0, start - 100), start));
  const endsItem = /^:[\],]/.test(walk.text.slice(end, end + 2));
  if (!isItem || !endsItem || anchor !== undefined || tag !== undefined) return undefined;
  const found = { source: `${source}:`, style: 'plain', start, end: end + 1, rawEnd: end + 1 } as const;
  return { node: scalarNode(walk, found), shared: false, weight: 1, end: end + 1 };
}

function convertMap(walk: Walk, map: YAMLMap, fallback: number): Built {
  const flow = map.flow === true;
  const start = map.range?.[0] ?? fallback;
  const draft: DraftMap = { kind: 'map', entries: [], flow, incomplete: false, span: { start, end: start } };
  const own = new Map<string, number>();
  const merges: { at: number; built: Built }[] = [];
  let weight = 1;
  let end = start;
  const noteKey = watchKeys(walk.problems, walk.mask !== undefined, draft.entries);
  for (const pair of map.items as Pair<unknown, unknown>[]) {
    const key = convertKey(walk, pair.key, end);
    const wrong = walk.mask === undefined ? keyProblem(walk.text, key, flow) : undefined;
    if (wrong !== undefined && !repeatsIndent(walk.problems, wrong)) walk.problems.push(wrong);
    const afterKey = pair.value === null ? key.span.end : colonEnd(walk.text, key.span.end);
    const built = convert(walk, pair.value, afterKey);
    weight += built.weight;
    end = Math.max(key.span.end, built.end);
    if (key.merge) {
      if (parts(built.node).some(isUnknown)) draft.incomplete = true;
      else checkMerge(walk, built, key.span);
      merges.push({ at: draft.entries.length, built });
      continue;
    }
    if (key.templated) draft.incomplete = true;
    else noteKey(key.text, key.span);
    own.set(key.text, draft.entries.length);
    draft.entries.push({ key: interned(key.text), keySpan: key.span, value: built.node, shared: built.shared });
  }
  if (merges.length > 0) draft.entries = merge(walk, draft.entries, own, merges);
  draft.span = { start, end: flow ? (map.range?.[1] ?? end) : end };
  return { node: draft, shared: false, weight, end: draft.span.end };
}

interface Key {
  readonly text: string;
  readonly span: Span;
  /** Written without quotes. */
  readonly plain: boolean;
  readonly merge: boolean;
  readonly templated: boolean;
}

function convertKey(walk: Walk, key: unknown, fallback: number): Key {
  const built = convert(walk, key, isScalar(key) ? (key.range?.[0] ?? fallback) : fallback);
  const { node } = built;
  if (node.kind !== 'scalar') {
    const { span } = node;
    const before = walk.text.slice(Math.max(0, span.start - 20), span.start);
    // Formatters that do not know templates read the braces as two mappings.
    const message = /\{\s+$/.test(before)
      ? 'A template begins with {{: with a space between the braces, which formatters add, it is a mapping'
      : 'A mapping key must be plain text; replace this value with text';
    if (!walk.mask)
      walk.problems.push({ message, span: { start: span.start, end: Math.min(span.end, span.start + 1) } });
    return { text: walk.text.slice(span.start, span.end), span, plain: false, merge: false, templated: false };
  }
  const span = isAlias(key) ? spanFrom(key.range, fallback) : node.span;
  const plain = node.style === 'plain' && !isAlias(key);
  return { text: node.source, span, plain, merge: plain && node.source === '<<', templated: node.templated };
}

function checkMerge(walk: Walk, { node, shared }: Built, span: Span): void {
  const right = parts(node).every(({ kind }) => kind === 'map');
  // An unknown alias already has its own problem, and a template may supply anything.
  if (right || walk.mask || (shared && node.kind === 'scalar' && node.source === '')) return;
  walk.problems.push({ message: 'A merge key << needs a mapping or a list of mappings', span, isLocal: true });
}

/** The values of a merge key. */
function parts(node: YamlNode): readonly YamlNode[] {
  return node.kind === 'seq' ? node.items.map(({ value }) => value) : [node];
}

/** Whether another program makes the value: `!include base.yaml`. */
function isUnknown(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.templated;
}

/** The mapping's own entries, with the merged entries at the positions of their merge keys. Own keys win, then earlier merges. */
function merge(
  walk: Walk,
  entries: readonly YamlEntry[],
  own: ReadonlyMap<string, number>,
  merges: readonly { at: number; built: Built }[],
): YamlEntry[] {
  const seen = new Set(own.keys());
  const result: YamlEntry[] = [];
  let next = 0;
  for (const { at, built } of merges) {
    while (next < at) {
      const entry = entries[next++];
      if (entry) result.push(entry);
    }
    for (const source of parts(built.node)) {
      if (source.kind !== 'map' || walk.aliased > MAX_ALIASED) continue;
      walk.aliased += source.entries.length;
      for (const entry of lastOfEach(source.entries)) {
        if (seen.has(entry.key)) continue;
        seen.add(entry.key);
        result.push({ ...entry, shared: true });
      }
    }
  }
  return [...result, ...entries.slice(next)];
}

function lastOfEach(entries: readonly YamlEntry[]): Iterable<YamlEntry> {
  return new Map(entries.map((entry) => [entry.key, entry])).values();
}

function convertSeq(walk: Walk, seq: YAMLSeq, fallback: number): Built {
  const flow = seq.flow === true;
  const start = seq.range?.[0] ?? fallback;
  const draft: DraftSeq = { kind: 'seq', items: [], flow, incomplete: false, span: { start, end: start } };
  let weight = 1;
  let end = start;
  for (const item of seq.items) {
    const built = convert(walk, item, isScalar(item) ? (item.range?.[0] ?? end) : end);
    weight += built.weight;
    end = Math.max(end, built.end);
    draft.items.push({ value: built.node, shared: built.shared });
  }
  draft.span = { start, end: flow ? (seq.range?.[1] ?? end) : end };
  return { node: draft, shared: false, weight, end: draft.span.end };
}

const STR = 'tag:yaml.org,2002:str';
const RESOLVED_TAGS: ReadonlySet<string> = new Set(
  ['null', 'bool', 'int', 'float'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Whether a tag belongs to an application, not to YAML. A lone `!` means text. */
function isLocalTag(tag: string | undefined): boolean {
  return tag !== undefined && tag !== '!' && !tag.startsWith('tag:yaml.org,2002:');
}

function resolveValue(source: string, style: DraftScalar['style'], tag: string | undefined): DraftScalar['value'] {
  if (tag !== undefined && RESOLVED_TAGS.has(tag)) return resolvePlain(source);
  if (style !== 'plain' || tag === STR || tag === '!' || tag === 'tag:yaml.org,2002:binary') return source;
  return resolvePlain(source);
}

function styleOf(type: unknown): DraftScalar['style'] {
  switch (type) {
    case 'QUOTE_DOUBLE':
      return 'double';
    case 'QUOTE_SINGLE':
      return 'single';
    case 'BLOCK_LITERAL':
      return 'literal';
    case 'BLOCK_FOLDED':
      return 'folded';
    default:
      return 'plain';
  }
}

function spanFrom(range: readonly number[] | null | undefined, fallback: number): Span {
  const start = range?.[0] ?? fallback;
  return { start, end: range?.[1] ?? start };
}

/** The offset of an empty value: right after the colon of its key. */
function colonEnd(text: string, keyEnd: number): number {
  let at = keyEnd;
  while (at < text.length && text.charAt(at) !== ':') {
    if (!/[\s]/.test(text.charAt(at))) return keyEnd;
    at++;
  }
  return at < text.length ? at + 1 : keyEnd;
}

function isBlank(text: string, mask: Mask | undefined, at: number): boolean {
  // Template lines after a block scalar were blanked: they are not its text.
  const code = (mask ? mask.text : text).charCodeAt(at);
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
