import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isTemplated,
  items,
  keyOf,
  rootCursor,
} from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { parseDocument } from '../yaml/parse.ts';
import { type Table, tableOf } from '../yaml/table.ts';
import type { Manifest } from './workload.ts';

/** More elements than a list that a person writes has. */
const maxElements = 100;

/**
 * The templates of an ApplicationSet, each with the values of one element of its lists; none if any other generator adds Applications.
 * https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-List/
 */
export function listedApplications({ root }: Manifest, { text, root: whole }: YamlDocument): readonly Cursor[] {
  const spec = getIn(root, 'spec');
  const generators = items(getIn(spec, 'generators'));
  const isList = (generator: Cursor) => entries(generator).length === 1 && getIn(generator, 'list') !== undefined;
  const lists = generators.map((generator) => getIn(generator, 'list'));
  const isKnown = lists.every((list) => entries(list).every((entry) => keyOf(entry) === 'elements'));
  if (root.node !== whole || !generators.every(isList) || !isKnown || getIn(spec, 'templatePatch') !== undefined)
    return [];
  const elements = lists.flatMap((list) => items(getIn(list, 'elements')));
  if (elements.length > maxElements) return [];
  const dot = asBoolean(getIn(spec, 'goTemplate')) === true ? '.' : '';
  return elements.flatMap((element) => {
    const made = parseDocument(filled(text, valuesOf(element), dot), 0).root;
    return (made === null ? undefined : getIn(rootCursor(made), 'spec', 'template')) ?? [];
  });
}

/** The plain values of an element. Others would change how the text is read. */
function valuesOf(element: Cursor): Table<string> {
  return tableOf(
    entries(element).flatMap((entry) => {
      const value = isTemplated(entry) ? undefined : asText(entry);
      return value !== undefined && /^[\w./:@+-]*$/.test(value) ? [[keyOf(entry), value] as const] : [];
    }),
  );
}

function filled(text: string, values: Table<string>, dot: string): string {
  return text.replace(/\{\{-?[ \t]*(\.?)([\w-]+)[ \t]*-?\}\}/g, (all, mark, key) =>
    mark === dot ? (values[key] ?? all) : all,
  );
}
