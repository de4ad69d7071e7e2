import { asBoolean, asText, type Cursor, getIn, isTemplated, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { YamlEntry, YamlMap, YamlNode, YamlScalar } from '../yaml/node.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import type { Span } from '../yaml/span.ts';

/** Values of a chart with single ones that are set apart from them. */
export interface SetValues {
  readonly values: Cursor;
  /** Whether no other values are merged into them. */
  readonly isWhole: boolean;
}

/**
 * Values with those that a list of `name` and `value` sets, as `helm --set` reads them: they take precedence.
 * @param values undefined if all values are set in this way
 * @param wasWhole whether no other values were merged into them before
 * @param settings the list; what it sets is at its entries, where no fix reaches it
 */
export function withSetValues(values: Cursor | undefined, settings: Cursor, wasWhole = true): SetValues {
  const base: YamlNode = values?.node ?? emptyMap(spanOf(settings));
  const tree: Tree = new Map();
  let isKnown = true;
  for (const setting of items(settings)) isKnown = addTo(tree, setting) && isKnown;
  const node = base.kind === 'map' ? merged(base, tree) : base;
  const marked = node.kind === 'map' && !isKnown ? { ...node, incomplete: true } : node;
  return {
    values: values === undefined ? { ...settings, node: marked, shared: true } : { ...values, node: marked },
    isWhole: wasWhole && isKnown,
  };
}

/** The text of values with one value at a path, as `helm --set` reads both; undefined if the path has lists. */
export function valuesText(path: string, value: string, isString = false): string | undefined {
  if (!/^(?:[\w/-]|\\\.)+(?:\.(?:[\w/-]|\\\.)+)*$/.test(path)) return undefined;
  const isText = isString || !/^(?:\d{1,15}|true|false|null)$/.test(value);
  const keys = keysOf(path);
  return `${keys.map((key) => `{${JSON.stringify(key)}: `).join('')}${isText ? JSON.stringify(value) : value}${'}'.repeat(keys.length)}`;
}

/** `nodeSelector.node\.kubernetes\.io/instance-type` is two keys. */
function keysOf(path: string): readonly string[] {
  return (path.match(/(?:\\.|[^.])+/g) ?? []).map((key) => key.replaceAll('\\', ''));
}

/** What the settings set, by keys. */
type Tree = Map<string, Branch>;

/** One value, or further keys. */
interface Branch {
  readonly at: Span;
  readonly below: Tree;
  scalar?: YamlScalar;
}

/** Deeper paths are of no chart. */
const maxKeys = 50;

/** Adds what one entry sets; false if its path is unknown. */
function addTo(tree: Tree, setting: Cursor): boolean {
  const name = getIn(setting, 'name');
  const path = asText(name);
  if (name === undefined || path === undefined || isTemplated(name)) return false;
  // Of a list, nothing is known but that some item is another one.
  const list = path.indexOf('[');
  const keys = keysOf(list < 0 ? path : path.slice(0, list));
  if (keys.length === 0 || keys.length > maxKeys) return false;
  let level = tree;
  for (const [index, key] of keys.entries()) {
    const found: Branch = level.get(key) ?? { at: spanOf(name), below: new Map() };
    level.set(key, found);
    if (index < keys.length - 1) {
      delete found.scalar;
    } else {
      found.below.clear();
      found.scalar = valueSet(setting, list >= 0);
    }
    level = found.below;
  }
  return true;
}

function valueSet(setting: Cursor, isItem: boolean): YamlScalar {
  const value = getIn(setting, 'value');
  const at = value === undefined ? keySpanOf(setting) : spanOf(value);
  const text = isItem || isTemplated(value) ? undefined : asText(value);
  return text === undefined ? unknown(at) : scalarOf(text, at, asBoolean(getIn(setting, 'forceString')));
}

/** Braces make a list, and a comma the next setting: these are left to Helm. */
function scalarOf(text: string, span: Span, isString = false): YamlScalar {
  const isPlain = !isString && /^(?:-?\d{1,15}|true|false|null)$/.test(text);
  const root = checkLimits(text) === null && isPlain ? parseDocument(text, 0).root : null;
  if (root?.kind === 'scalar') return { ...root, span };
  if (/[{},]/.test(text)) return unknown(span);
  return { kind: 'scalar', value: text, source: text, style: 'double', templated: false, span };
}

function unknown(span: Span): YamlScalar {
  return { kind: 'scalar', value: '', source: '', style: 'plain', templated: true, span };
}

function emptyMap(span: Span): YamlMap {
  return { kind: 'map', entries: [], flow: false, incomplete: false, span };
}

/** Mappings are merged key by key; anything else is replaced. */
function merged(base: YamlMap, tree: Tree): YamlMap {
  const left = new Set(tree.keys());
  const over = ({ key, value }: Pick<YamlEntry, 'key' | 'value'>) => {
    const set = tree.get(key);
    left.delete(key);
    if (set === undefined) return undefined;
    const inner = set.scalar ?? merged(value.kind === 'map' ? value : emptyMap(set.at), set.below);
    return { key, keySpan: set.at, value: inner, shared: true };
  };
  const entries = base.entries.map((entry): YamlEntry => {
    const set = over(entry);
    if (set === undefined) return entry;
    return entry.value.kind === 'map' && set.value.kind === 'map' ? { ...entry, value: set.value } : set;
  });
  const added = [...left].flatMap((key) => over({ key, value: emptyMap(base.span) }) ?? []);
  return { ...base, entries: [...entries, ...added] };
}

/** A helmfile whose releases' values are those that the releases run with. https://helmfile.readthedocs.io/en/latest/configuration/ */
export function withReleaseSets(root: Cursor): Cursor {
  const releases = getIn(root, 'releases');
  if (root.node.kind !== 'map' || releases?.node.kind !== 'seq') return root;
  const listed = items(releases);
  if (!listed.some((release) => items(getIn(release, 'set')).length > 0)) return root;
  const written = releases.node.items;
  const changed = written.map((item, index) => ({ ...item, value: releaseWithSets(listed[index]) ?? item.value }));
  const seq = { ...releases.node, items: changed };
  const entries = root.node.entries.map((entry) => (entry.value === releases.node ? { ...entry, value: seq } : entry));
  return { ...root, node: { ...root.node, entries } };
}

/** The last values of a release with what it sets; undefined if it sets nothing. */
function releaseWithSets(release: Cursor | undefined): YamlNode | undefined {
  const set = getIn(release, 'set');
  const values = getIn(release, 'values');
  const last = items(values).at(-1);
  if (release?.node.kind !== 'map' || values?.node.kind !== 'seq' || set === undefined || last?.node.kind !== 'map')
    return undefined;
  const node = withSetValues(last, set).values.node;
  const own = values.node.items.map((item) => (item.value === last.node ? { ...item, value: node } : item));
  const seq = { ...values.node, items: own };
  return {
    ...release.node,
    entries: release.node.entries.map((entry) => (entry.value === values.node ? { ...entry, value: seq } : entry)),
  };
}
