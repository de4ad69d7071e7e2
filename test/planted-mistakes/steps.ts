import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import { type Cursor, getIn as follow, keySpanOf, rootCursor, spanOf } from '../../server/src/yaml/cursor.ts';
import {
  appendItem,
  insertKey,
  type PlainValue,
  removeItem,
  removeKey,
  renameKey,
  replaceScalar,
} from '../../server/src/yaml/edit.ts';
import type { YamlDocument } from '../../server/src/yaml/node.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import { applyEdits, type TextEdit } from '../../server/src/yaml/span.ts';

/** The way from the root of a document to a value. */
export type Path = readonly (string | number)[];

/** One small edit of a document; undefined where it cannot be made, and then there is no such case. */
export type Step = (document: YamlDocument) => readonly TextEdit[] | undefined;

/** Where the finding must start, in the text after the mistake was made. */
export interface Place {
  readonly path: Path;
  /** `line`: anywhere on the line on which the value starts. `offset`: no path but a number. */
  readonly part: 'key' | 'value' | 'line' | 'offset';
  readonly offset?: number;
  /** The finding starts where this word does, inside the value. */
  readonly word?: string;
}

/** Every way to make one rule's mistake in a document that is clean of it. */
export type Planter = (analysis: DocumentAnalysis, file: FileAnalysis) => readonly Mistake[];

/** What a file exports: its planters by the rule that must find their mistakes. */
export type Planters = Readonly<Record<string, Planter>>;

/** One mistake at one place. */
export interface Mistake {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly place: Place;
  /** A line of `.gpulint.yaml` without which the mistake is none. */
  readonly config?: string;
}

/** The text after all steps; undefined where one of them cannot be made. */
export function plant(text: string, steps: readonly Step[]): string | undefined {
  let result = text;
  for (const step of steps) {
    const edits = step(parseDocument(result, 0));
    if (edits === undefined) return undefined;
    result = applyEdits(result, edits);
  }
  return result;
}

/** The offsets at which the finding may start: the first and the last. Undefined when the place is not there. */
export function offsetsOf(text: string, { path, part, word, offset }: Place): readonly [number, number] | undefined {
  if (offset !== undefined) return [offset, offset];
  const cursor = cursorAt(parseDocument(text, 0), path);
  if (cursor === undefined) return undefined;
  const { start, end } = part === 'value' ? spanOf(cursor) : keySpanOf(cursor);
  if (part === 'line') return [text.lastIndexOf('\n', start - 1) + 1, text.indexOf('\n', start) >>> 0];
  const shift = word === undefined || word === '' ? 0 : text.slice(start, end).lastIndexOf(word);
  return shift < 0 ? undefined : [start + shift, start + shift];
}

/** The way to a cursor from the root of its document. */
export function pathOf(cursor: Cursor): Path {
  return cursor.parent === undefined || cursor.step === undefined ? [] : [...pathOf(cursor.parent), cursor.step];
}

export function set(path: Path, value: string | number | boolean): Step {
  return getIn(path, (document, cursor) => replaceScalar(document, cursor, value));
}

export function add(path: Path, key: string, value: PlainValue): Step {
  return getIn(path, (document, cursor) => insertKey(document, cursor, key, value));
}

export function append(path: Path, value: PlainValue): Step {
  return getIn(path, (document, cursor) => appendItem(document, cursor, value));
}

export function drop(path: Path): Step {
  return getIn(path, removeKey);
}

export function dropItem(path: Path): Step {
  return getIn(path, removeItem);
}

export function rename(path: Path, key: string): Step {
  return getIn(path, (document, cursor) => renameKey(document, cursor, key));
}

/** Writes these characters where the value stands: for what no edit of the project would write. */
export function write(path: Path, characters: string): Step {
  return getIn(path, (_, cursor) => [{ span: spanOf(cursor), newText: characters }]);
}

/** Writes other characters into the text of the document: for files inside of scalars, which have no paths. */
export function splice(start: number, end: number, newText: string): Step {
  return () => [{ span: { start, end }, newText }];
}

/** Sets a key whether it is there or not. */
export function put(path: Path, key: string, value: PlainValue): readonly Step[] {
  return [
    getIn(path, (document, owner) => (has(owner, key) ? drop([...path, key])(document) : [])),
    add(path, key, value),
  ];
}

/** Sets a key to a scalar in a mapping that may not be there either. */
export function putUnder(path: Path, owner: string, key: string, value: string | number): Step {
  return getIn(path, (document, holder) => {
    if (!has(holder, owner)) return add(path, owner, { [key]: value })(document);
    const inner = [...path, owner];
    return (has(follow(holder, owner), key) ? set([...inner, key], value) : add(inner, key, value))(document);
  });
}

/** Appends to a sequence that may not be there. */
export function appendUnder(path: Path, owner: string, value: PlainValue): Step {
  return getIn(path, (document, holder) =>
    (has(holder, owner) ? append([...path, owner], value) : add(path, owner, [value]))(document),
  );
}

function has(holder: Cursor | undefined, key: string): boolean {
  return follow(holder, key) !== undefined;
}

function getIn(path: Path, edit: (document: YamlDocument, cursor: Cursor) => readonly TextEdit[] | undefined): Step {
  return (document) => {
    const cursor = cursorAt(document, path);
    // What is reached through an alias is another place's text.
    return cursor === undefined || cursor.shared ? undefined : edit(document, cursor);
  };
}

function cursorAt({ root }: YamlDocument, path: Path): Cursor | undefined {
  return root === null ? undefined : follow(rootCursor(root), ...path);
}
