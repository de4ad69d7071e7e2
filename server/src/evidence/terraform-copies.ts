import { type Field, type Fields, isFields, isTemplateText, type Template } from './fields.ts';
import { emptyList } from './hcl-choices.ts';
import { isMachineKey } from './machine-keys.ts';
import { isChoice } from './pools-in-blocks.ts';
import { filledWith, maxItems, type TerraformModule, type TerraformValues } from './terraform-values.ts';

// Blocks of Terraform with `count` or `for_each`, each copy with its own values.

/**
 * The values of each copy of a block that `count` makes, or `for_each` of a list or of a mapping, or those of the block itself. Mappings with machines
 * among the local values are pools already, unless a pool is made of each.
 */
export function valuesOfEach(fields: Fields, values: TerraformValues, isPool: boolean): readonly TerraformValues[] {
  const count = Number(filledWith(fields.get('count') ?? null, values) ?? Number.NaN);
  if (count >= 1 && count <= maxItems)
    return Array.from({ length: count }, (_, place) => ofCopy(values, ['count.index', String(place)]));
  const written = fields.get('for_each');
  const each = written === undefined ? null : filledWith(written, values);
  if (each === emptyList) return [];
  const copy = (key: Field, value: Field) => ofCopy(values, ['each.key', key], ['each.value', value]);
  // A set has each text once.
  if (Array.isArray(each))
    return [...new Set(each)].map((item) => copy(isFields(item) ? (item.get('name') ?? null) : item, item));
  if (!isFields(each) || isTemplateText(each) || (!isPool && isTemplateText(written) && isListed(each, written)))
    return [values];
  return [...each].map(([key, value]) => copy(key, value));
}

/** Whether a mapping that is written there is one of pools, which are listed where it is. */
function isListed(each: Fields, written: Field | undefined): boolean {
  const [, local] = isTemplateText(written) ? (/^\$\{local\.([\w-]+)/.exec(written.template) ?? []) : [];
  if (isVariable(written) || (local !== undefined && isChoice(local))) return false;
  return [...each.values()].some((one) => isFields(one) && [...one.keys()].some(isMachineKey));
}

/** The local value of which a block is copied for each entry. */
export function localOfEach(fields: Pick<Fields, 'get'>, key = 'for_each'): string | undefined {
  return /^local\.([\w.-]+)$/.exec(nameOfEach(fields, key) ?? '')?.[1];
}

/** The value of which a block is copied: `var.pools`. */
export function nameOfEach(fields: Pick<Fields, 'get'>, key = 'for_each'): string | undefined {
  const written = fields.get(key);
  return isTemplateText(written)
    ? /^\$\{((?:var|local)\.[\w-]+(?:\.[\w-]+)?)\}$/.exec(written.template)?.[1]
    : undefined;
}

function isVariable(written: Field | undefined): boolean {
  return isTemplateText(written ?? null) && (written as Template).template.startsWith('${var.');
}

/**
 * What each copy of a module gets, if `for_each` makes several and the values state them; otherwise none. Mappings with machines are pools already,
 * unless the module is a pool.
 * @param variables with their prefix, as `TerraformModule` has them
 * @param values of the folder that uses it
 */
export function copiesOfModule(
  variables: TerraformModule['variables'],
  values: TerraformValues,
  isPool: boolean,
): readonly ReadonlyMap<string, Field>[] {
  const passed = new Map<string, Field>(variables);
  const written = passed.get('var.for_each');
  const filled = written === undefined ? null : filledWith(written, values);
  const each = Array.isArray(filled) ? setOf(filled) : filled;
  if (!isFields(each) || each.size === 0) return [];
  if (!isPool && isListed(each, written)) return [];
  passed.delete('var.for_each');
  return [...each].map(([key, value]) => {
    const own = ofCopy(values, ['each.key', key], ['each.value', value]);
    return new Map([...passed].map(([name, one]) => [name, filledWith(one, own)]));
  });
}

function setOf(list: readonly Field[]): Fields | null {
  return list.every((one) => typeof one === 'string') ? new Map(list.map((one) => [one, one])) : null;
}

/** The values of one copy of a block. Those of its folder are not copied: they may be thousands. */
function ofCopy(values: TerraformValues, ...own: readonly (readonly [string, Field])[]): TerraformValues {
  const added = new Map(own);
  const owner = (name: string) => (added.has(name) ? added : values);
  return { get: (name) => owner(name).get(name), has: (name) => owner(name).has(name) };
}
