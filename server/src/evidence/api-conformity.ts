import { type ApiType, apiFields, requiredApiFields } from '../catalog/index.ts';
import { parseQuantity } from '../model/quantity.ts';
import type { YamlMap, YamlNode, YamlScalar } from '../yaml/node.ts';

/**
 * Whether a value certainly is what the API's type requires: with all required fields, without others, templates or placeholders. Most objects are, and
 * this takes neither cursors nor lists. False also means that a closer look is needed.
 * @param custom whether a custom resource's schema applies, which is stricter with numbers
 */
export function conforms(node: YamlNode, type: ApiType, custom: boolean): boolean {
  if (node.kind === 'scalar')
    return node.value !== null && !node.templated && !isCollection(type) && !scalarProblem(node, type, custom);
  switch (type.form) {
    case 'any':
      return true;
    case 'object':
      return node.kind === 'map' && conformsToFields(node, type.name, custom);
    case 'map':
      return node.kind === 'map' && node.entries.every(({ value }) => conforms(value, type.of, custom));
    case 'list':
      return node.kind === 'seq' && node.items.every(({ value }) => conforms(value, type.of, custom));
    default:
      return false;
  }
}

function isCollection({ form }: ApiType): boolean {
  return form === 'object' || form === 'map' || form === 'list';
}

function conformsToFields({ entries }: YamlMap, type: string, custom: boolean): boolean {
  const fields = apiFields(type);
  for (const { key, value } of entries) {
    const field = fields.get(key);
    if (field === undefined || !conforms(value, field.type, custom)) return false;
  }
  for (const { name } of requiredApiFields(type)) if (!hasKey(entries, name)) return false;
  return true;
}

function hasKey(entries: YamlMap['entries'], name: string): boolean {
  for (const { key } of entries) if (key === name) return true;
  return false;
}

/** How a value differs from the type of a scalar. */
export type ScalarProblem = 'not-string' | 'not-in-enum' | 'wrong-type' | 'not-a-quantity';

/** As `encoding/json` decodes into the types of the API. */
export function scalarProblem(
  { value, source }: YamlScalar,
  type: ApiType,
  custom: boolean,
): ScalarProblem | undefined {
  // Not a value of its own, but a variable of an older kustomize or of a pipeline.
  if (type.form !== 'string' && source.startsWith('$(') && /^\$\([\w.-]+\)$/.test(source)) return undefined;
  switch (type.form) {
    case 'string':
      return typeof value === 'string' ? undefined : 'not-string';
    case 'enum':
      if (typeof value !== 'string') return 'not-string';
      if (value === '' || type.values.includes(value)) return undefined;
      return value.includes('/') && type.values.includes('/') ? undefined : 'not-in-enum';
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) ? undefined : 'wrong-type';
    case 'number':
      return typeof value === 'number' ? undefined : 'wrong-type';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'wrong-type';
    case 'integer-or-string':
      return typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))
        ? undefined
        : 'wrong-type';
    case 'quantity': {
      if (typeof value === 'boolean') return 'not-a-quantity';
      if (typeof value === 'string') return parseQuantity(source) === null ? 'not-a-quantity' : undefined;
      return custom && !Number.isInteger(value) ? 'wrong-type' : undefined;
    }
    default:
      return undefined;
  }
}
