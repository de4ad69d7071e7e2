import { type ApiType, apiFields, apiKind } from '../catalog/index.ts';
import type { Workload } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';

/** Whether the API's types describe a place of an object: not if its kind is not in the table, or the schema leaves a part around it open. */
export function isTyped(at: Cursor, { apiVersion, kind: written }: Workload): boolean {
  const kind = apiKind(apiVersion, written);
  if (kind === undefined) return false;
  const path: string[] = [];
  for (let here: Cursor | undefined = at; here?.step !== undefined; here = here.parent) path.push(String(here.step));
  let type: ApiType | undefined = { form: 'object', name: kind };
  for (const step of path.reverse()) {
    type = type && typeBelow(type, step);
    if (type?.form === 'any') return false;
  }
  return true;
}

function typeBelow(type: ApiType, step: string): ApiType | undefined {
  if (type.form === 'list' || type.form === 'map') return type.of;
  return type.form === 'object' ? apiFields(type.name).get(step)?.type : undefined;
}
