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
import { type Table, table, tableOf } from '../yaml/table.ts';
import type { Manifest } from './workload.ts';

/** More elements than a list that a person writes has. */
const maxElements = 100;

/**
 * The templates of an ApplicationSet, each with the values of one element of its lists, or of one of each list of a matrix; none if any other
 * generator adds Applications.
 * https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-List/
 * https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Matrix/
 */
export function listedApplications({ root }: Manifest, { text, root: whole }: YamlDocument): readonly Cursor[] {
  const spec = getIn(root, 'spec');
  if (root.node !== whole || getIn(spec, 'templatePatch') !== undefined) return [];
  const generated = items(getIn(spec, 'generators')).map(elementsOf);
  const elements = generated.flatMap((some) => some ?? []);
  if (generated.includes(undefined) || elements.length > maxElements) return [];
  const dot = asBoolean(getIn(spec, 'goTemplate')) === true ? '.' : '';
  return elements.flatMap((element) => {
    const made = parseDocument(filled(text, element, dot), 0).root;
    return (made === null ? undefined : getIn(rootCursor(made), 'spec', 'template')) ?? [];
  });
}

/** The values of each element of a list, or of each pair of a matrix of lists; undefined for other generators. */
function elementsOf(generator: Cursor): readonly Table<string>[] | undefined {
  const [only, ...others] = entries(generator);
  if (only === undefined || others.length > 0) return undefined;
  if (keyOf(only) === 'list')
    return entries(only).every((entry) => keyOf(entry) === 'elements')
      ? items(getIn(only, 'elements')).map(valuesOf)
      : undefined;
  const [outer, inner, ...more] = keyOf(only) === 'matrix' ? items(getIn(only, 'generators')) : [];
  if (outer === undefined || inner === undefined || more.length > 0 || entries(only).length > 1) return undefined;
  const [first, second] = [outer, inner].map((one) => (getIn(one, 'list') === undefined ? undefined : elementsOf(one)));
  if (first === undefined || second === undefined || first.length * second.length > maxElements) return undefined;
  return first.flatMap((one) => second.map((other) => table(one, other)));
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
