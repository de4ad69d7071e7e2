import type { NodePool } from '../model/node-pool.ts';
import { isPulumiPool } from '../model/pulumi.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, keyOf } from '../yaml/cursor.ts';
import { type Field, type Fields, fieldOf, isFields } from './fields.ts';
import { poolInFields, withCount } from './pool-fields.ts';

/** The pools of a project in Pulumi's YAML, with the resources that describe them. https://www.pulumi.com/docs/iac/languages-sdks/yaml/ */
export function pulumiPools({ root }: Manifest): readonly { readonly pool: NodePool; readonly at: Cursor }[] {
  return entries(getIn(root, 'resources')).flatMap((at) => {
    const type = asText(getIn(at, 'type')) ?? '';
    const properties = getIn(at, 'properties');
    const written = properties && isPulumiPool(type) ? known(fieldOf(properties)) : null;
    if (!isFields(written)) return [];
    const place = placeOf(root, type.split(':', 1)[0] ?? '');
    const isPlaced = [...written.keys()].some((key) => /^(?:location|region|zones?)$/.test(key));
    const fields: Fields = isPlaced || place === null ? written : new Map([...written, ['region', place]]);
    const pool = poolInFields(withCount(fields), keyOf(at));
    return pool === undefined ? [] : [{ pool, at }];
  });
}

/** The region that the project's configuration has for a provider: a text, or a mapping with the value. */
function placeOf(root: Cursor, provider: string): string | null {
  for (const key of ['region', 'zone', 'location']) {
    const at = getIn(root, 'config', `${provider}:${key}`);
    const text = at && known(asText(getIn(at, 'value')) ?? asText(getIn(at, 'default')) ?? asText(at) ?? null);
    if (typeof text === 'string') return text;
  }
  return null;
}

/** Without the values of other resources: `${cluster.name}`. */
function known(field: Field): Field {
  if (typeof field === 'string') return field.includes('${') ? null : field;
  if (Array.isArray(field)) return field.map(known);
  return isFields(field) ? new Map([...field].map(([key, value]) => [key, known(value)])) : field;
}
