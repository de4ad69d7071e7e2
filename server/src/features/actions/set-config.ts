import { joinEdits } from '../../rewrite/fix.ts';
import { asText, type Cursor, getIn, rootCursor } from '../../yaml/cursor.ts';
import { appendEntries, insertKey, replaceScalar } from '../../yaml/edit.ts';
import type { YamlDocument } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { applyEdits, shiftSpan, type TextEdit } from '../../yaml/span.ts';

/** The values that a user chose; null and missing values are not written. */
export type ChosenValues = Readonly<
  Partial<Record<'platform' | 'provider' | 'region' | 'gpu' | 'neuron' | 'tpu' | 'gaudi' | 'capacity', string | null>>
>;

type Values = readonly (readonly [key: string, value: string])[];

/**
 * The edits that write the chosen values into a config file's text and leave the rest unchanged.
 * Undefined if the text is not a mapping or cannot be edited without damage; the changed text is parsed to verify this.
 */
export function setConfigEdits(text: string, chosen: ChosenValues): readonly TextEdit[] | undefined {
  const values = Object.entries(chosen).flatMap(([key, value]) => (value == null ? [] : [[key, value] as const]));
  const edits = editsFor(text, values);
  return edits !== undefined && hasValues(applyEdits(text, edits), values) ? edits : undefined;
}

function hasValues(text: string, values: Values): boolean {
  const { documents } = parseYaml(text);
  const root = documents.find((document) => document.root !== null)?.root;
  return (
    documents.every(({ problems }) => problems.length === 0) &&
    values.every(([key, value]) => root && asText(getIn(rootCursor(root), key)) === value)
  );
}

function editsFor(text: string, values: Values): readonly TextEdit[] | undefined {
  const file = parseYaml(text);
  if (file.skipped !== null) return undefined;
  const document = file.documents.find(({ root }) => root !== null);
  if (document === undefined || document.root === null) {
    return file.documents.some(({ problems }) => problems.length > 0) ? undefined : appendEntries(text, values);
  }
  if (document.root.kind !== 'map' || document.problems.length > 0) return undefined;
  const root = rootCursor(document.root);
  const edits = joinEdits(...values.map(([key, value]) => setKey(document, root, key, value)));
  return edits?.map(({ span, newText }) => ({ span: shiftSpan(span, document.base), newText }));
}

function setKey(document: YamlDocument, root: Cursor, key: string, value: string): readonly TextEdit[] | undefined {
  const here = getIn(root, key);
  return here === undefined ? insertKey(document, root, key, value) : replaceScalar(document, here, value);
}
