import { asText, type Cursor, getIn, rootCursor } from '../../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../../yaml/edit.ts';
import type { YamlDocument } from '../../yaml/node.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { applyEdits, shiftSpan, type TextEdit } from '../../yaml/span.ts';

/** What a person has chosen; what is null or missing is not written. */
export type ChosenValues = Readonly<
  Partial<Record<'platform' | 'provider' | 'region' | 'gpu' | 'capacity', string | null>>
>;

type Values = readonly (readonly [key: string, value: string])[];

/**
 * The edits that write what a person has chosen into a config file's text; all else stays as it is.
 * Undefined where the text is no mapping, or cannot be edited without damage: the changed text is read again to see.
 */
export function setConfigEdits(text: string, chosen: ChosenValues): readonly TextEdit[] | undefined {
  const values = Object.entries(chosen).flatMap(([key, value]) => (value == null ? [] : [[key, value] as const]));
  const edits = editsFor(text, values);
  return edits !== undefined && says(applyEdits(text, edits), values) ? edits : undefined;
}

function says(text: string, values: Values): boolean {
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
    return file.documents.some(({ problems }) => problems.length > 0) ? undefined : [append(text, values)];
  }
  if (document.root.kind !== 'map' || document.problems.length > 0) return undefined;
  const root = rootCursor(document.root);
  const edits: TextEdit[] = [];
  for (const [key, value] of values) {
    const made = setKey(document, root, key, value);
    if (made === undefined) return undefined;
    edits.push(...made.map(({ span, newText }) => ({ span: shiftSpan(span, document.base), newText })));
  }
  return edits;
}

function setKey(document: YamlDocument, root: Cursor, key: string, value: string): readonly TextEdit[] | undefined {
  const here = getIn(root, key);
  if (here === undefined) return insertKey(document, root, key, value);
  return here.node.kind === 'scalar' ? replaceScalar(document, here, value) : undefined;
}

/** Behind whatever comments the file has. */
function append(text: string, values: Values): TextEdit {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = values.map(([key, value]) => `${key}: ${value}${lineEnd}`).join('');
  const gap = text === '' || /[\r\n]$/.test(text) ? '' : lineEnd;
  return { span: { start: text.length, end: text.length }, newText: gap + lines };
}
