import { type ApiType, apiFields, isCustomType } from '../catalog/index.ts';
import { type Cursor, items } from '../yaml/cursor.ts';
import type { MeantField } from './api-names.ts';
import { type ApiProblem, problemsBelow } from './api-problems.ts';

/**
 * The problems below a field whose name certainly stands for another one, read as that field: once the name is correct, the API server finds
 * them too.
 */
export function problemsOfMeant(
  { at, holder, what }: ApiProblem,
  meant: MeantField | undefined,
  text: string,
): readonly ApiProblem[] {
  if (what !== 'unknown-field' || meant?.as !== 'name' || !meant.certain) return [];
  const type = apiFields(holder.type).get(meant.name)?.type;
  return mappingsIn(at, type).flatMap(({ map, name }) =>
    problemsBelow({ at: map, type: name, above: holder }, text, isCustomType(holder.type)),
  );
}

/** The mappings of a field that holds one, or a list of them. */
function mappingsIn(at: Cursor, type: ApiType | undefined): readonly { readonly map: Cursor; readonly name: string }[] {
  if (type?.form === 'object') return at.node.kind === 'map' ? [{ map: at, name: type.name }] : [];
  return type?.form === 'list' ? items(at).flatMap((item) => mappingsIn(item, type.of)) : [];
}
