import { type Cursor, entries, getIn, items, rootCursor } from '../../server/src/yaml/cursor.ts';
import {
  appendItem,
  insertKey,
  type PlainValue,
  removeItem,
  removeKey,
  renameKey,
  replaceScalar,
} from '../../server/src/yaml/edit.ts';
import type { YamlDocument, YamlNode } from '../../server/src/yaml/node.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { applyEdits, type TextEdit } from '../../server/src/yaml/span.ts';

/** What the edits of one text came to. */
export interface EditReport {
  readonly made: number;
  readonly refused: readonly string[];
  readonly failures: readonly string[];
}

type Path = readonly (string | number)[];
type Model = string | number | boolean | null | Model[] | { [key: string]: Model };

const SCALARS: readonly (string | number | boolean | null)[] = [
  'word',
  '8',
  'true',
  '',
  ' x',
  'a: b',
  '#no',
  'two\nlines\n',
  'x, y]',
  42,
  0.5,
  true,
  null,
  '{{ x',
  "it's",
  'a "b" \\',
  '-',
  '2020-01-01',
]; // prettier-ignore
const VALUES: readonly PlainValue[] = [
  'x',
  '12',
  3,
  [],
  {},
  { 'nvidia.com/gpu': 1, list: ['a', { b: [{ c: 'd', e: '1' }] }] },
  [{ name: 'n', value: '1' }, 'x'],
  'first\nsecond\n',
];

/**
 * Makes every edit at every place of every document of a text and checks each: the model changed exactly as asked, all comments are
 * there, line ends are of one kind, and the edits do not overlap.
 */
export function tryEveryEdit(text: string): EditReport {
  const report = { made: 0, refused: [] as string[], failures: [] as string[] };
  for (const doc of parseYaml(text).documents) {
    if (doc.root === null || doc.problems.length > 0) continue;
    visit(doc, rootCursor(doc.root), [], (cursor, path) => editHere(doc, cursor, path, report));
  }
  return report;
}

type Draft = { made: number; refused: string[]; failures: string[] };

function visit(doc: YamlDocument, cursor: Cursor, path: Path, look: (cursor: Cursor, path: Path) => void): void {
  look(cursor, path);
  for (const child of [...entries(cursor), ...items(cursor)]) visit(doc, child, [...path, child.step ?? ''], look);
}

function editHere(doc: YamlDocument, cursor: Cursor, path: Path, report: Draft): void {
  const { node, entry, parent } = cursor;
  // What a later entry of the same key hides (the branches of a template's if) changes no model.
  if (isHidden(cursor)) return;
  const check = (what: string, edits: readonly TextEdit[] | undefined, change: (model: Model) => Model): void => {
    const name = `${what} at ${path.join('/')}`;
    if (edits === undefined) {
      report.refused.push(name);
      return;
    }
    report.made++;
    const fault = faultOf(doc, edits, change(modelOf(doc.root)));
    if (fault !== undefined) report.failures.push(`${name}: ${fault}`);
  };
  const write = (value: Model) => (model: Model) => changeAt(model, path, () => value);
  if (node.kind === 'scalar') {
    for (const value of SCALARS) {
      const quoted = node.style === 'single' || node.style === 'double';
      const reads = quoted && typeof value === kindOfText(node.source) ? String(value) : value;
      check(`replace by ${JSON.stringify(value)}`, replaceScalar(doc, cursor, value), write(reads));
    }
  }
  if (node.kind === 'map' || (node.kind === 'scalar' && node.value === null)) {
    const keys = node.kind === 'map' ? node.entries.map((one) => one.key) : [];
    for (const value of VALUES) {
      for (const after of [undefined, ...keys]) {
        const edits = insertKey(doc, cursor, 'new-key', value, after === undefined ? {} : { after });
        check(`insert ${JSON.stringify(value)} after ${after}`, edits, (model) =>
          changeAt(model, path, (old) => ({ ...(old as object), 'new-key': value as Model })),
        );
      }
    }
  }
  if (node.kind === 'seq' || (node.kind === 'scalar' && node.value === null)) {
    for (const value of VALUES) {
      check(`append ${JSON.stringify(value)}`, appendItem(doc, cursor, value), (model) =>
        changeAt(model, path, (old) => [...((old ?? []) as Model[]), value as Model]),
      );
    }
  }
  if (entry !== undefined) {
    check('remove', removeKey(doc, cursor), (model) => changeAt(model, path, () => undefined));
    for (const key of ['renamed', '8080', 'a b', 'x: y']) {
      check(`rename to ${key}`, renameKey(doc, cursor, key), (model) =>
        changeAt(model, path.slice(0, -1), (old) => renamed(old as { [key: string]: Model }, entry.key, key)),
      );
    }
  } else if (parent !== undefined) {
    check('remove item', removeItem(doc, cursor), (model) => changeAt(model, path, () => undefined));
  }
}

function isHidden(cursor: Cursor): boolean {
  if (cursor.parent === undefined) return false;
  const hidden = cursor.entry !== undefined && getIn(cursor.parent, cursor.entry.key)?.entry !== cursor.entry;
  return hidden || isHidden(cursor.parent);
}

function faultOf(doc: YamlDocument, edits: readonly TextEdit[], expected: Model): string | undefined {
  const text = applyEdits(doc.text, edits);
  const after = parseYaml(text).documents;
  const [only] = after;
  const shown = () => `\n${text.replaceAll('\r', '\\r')}`;
  if (only === undefined || after.length > 1) return `there are ${after.length} documents now${shown()}`;
  if (only.problems[0]) return `${only.problems[0].message}${shown()}`;
  const got = modelOf(only.root);
  if (canonical(got) !== canonical(expected)) return `reads as ${JSON.stringify(got)}${shown()}`;
  const comments = (one: YamlDocument): string =>
    one.comments
      .map((comment) => comment.text)
      .sort()
      .join('\n');
  if (comments(only) !== comments(doc)) return `the comments are now\n${comments(only)}${shown()}`;
  const crlf = doc.text.includes('\r\n');
  const wrong = crlf ? /(?<!\r)\n/.test(text) : text.includes('\r');
  return wrong ? `line ends are mixed${shown()}` : undefined;
}

/** A node as plain data. Later entries of one key win; templated values are their text. */
export function modelOf(node: YamlNode | null): Model {
  if (node === null) return null;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'seq') return node.items.map((item) => modelOf(item.value));
  return Object.fromEntries(node.entries.map((entry) => [entry.key, modelOf(entry.value)]));
}

function canonical(model: Model): string {
  return JSON.stringify(model, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : typeof value === 'number' && !Number.isFinite(value)
        ? `number ${value}`
        : value,
  );
}

/** The model with one value changed; undefined takes it away. */
function changeAt(model: Model, path: Path, change: (old: Model) => Model | undefined): Model {
  const [step, ...rest] = path;
  if (step === undefined) return change(model) ?? null;
  const next = (old: Model) => (rest.length === 0 ? change(old) : changeAt(old, rest, change));
  if (Array.isArray(model)) return model.flatMap((item, index) => (index === step ? drop(next(item)) : [item]));
  const result: { [key: string]: Model } = {};
  for (const [key, value] of Object.entries(model as { [key: string]: Model })) {
    const changed = key === step ? next(value) : value;
    if (changed !== undefined) result[key] = changed;
  }
  return result;
}

function drop(value: Model | undefined): Model[] {
  return value === undefined ? [] : [value];
}

function renamed(model: { [key: string]: Model }, from: string, to: string): Model {
  return Object.fromEntries(Object.entries(model).map(([key, value]) => [key === from ? to : key, value]));
}

function kindOfText(text: string): string {
  return /^(?:true|false)$/.test(text) ? 'boolean' : /^[-+]?\d+(?:\.\d+)?$/.test(text) ? 'number' : 'none';
}
