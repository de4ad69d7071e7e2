import { either } from '../catalog/word-patterns.ts';
import { rootCursor } from '../yaml/cursor.ts';
import { parseDocument } from '../yaml/parse.ts';
import { type Field, type Fields, fieldOf, isFields, isTemplateText, type Mapped, type Template } from './fields.ts';
import { readHcl, statesPlace } from './hcl.ts';
import { isTerragrunt, type TerragruntParent, terragruntParents, terragruntUnit } from './terragrunt.ts';

// Variables and local values of a folder of Terraform, as far as its files state them.

/** A text, a list of texts or mappings, or a mapping of such values, with variables; null: computed. */
type Value = Item | readonly Item[];
type Item = string | Template | null | ReadonlyMap<string, Value>;

/** Texts and lists of texts by their names: `var.region`, `local.zone`. null: unknown. */
export type TerraformValues = Pick<ReadonlyMap<string, Field>, 'get' | 'has'>;

export const noValues: TerraformValues = new Map();

/** What one file states about values. */
export interface TerraformStatements {
  /** Defaults of variables, and local values. */
  readonly defaults: readonly (readonly [name: string, value: Value])[];
  /** What a file of variables sets. */
  readonly set: readonly (readonly [name: string, value: Value])[];
  /** The folders that it uses as modules, and the variables that these get. */
  readonly modules: readonly TerraformModule[];
  /** A file of Terragrunt: what it passes to its module, and the files that it reads. */
  readonly unit?: { readonly inputs: Fields; readonly parents: readonly TerragruntParent[] };
}

/** A use of a folder as a module. */
export interface TerraformModule {
  /** A relative path. */
  readonly source: string;
  readonly variables: readonly (readonly [name: string, value: Value])[];
}

/** Longer texts name no places or machines, and longer lists no choice of machines. */
const maxText = 100;
export const maxItems = 20;

/** Instead of a value: variables of the folder have optional fields. */
const hasOptional = 'optional';

/** Whether a file sets variables: `prod.tfvars`. */
export function isVariables(name: string): boolean {
  return /\.tfvars(?:\.json)?$/.test(name);
}

/** The values in a file of Terraform. @param name the file's name */
export function terraformStatements(text: string, name: string): TerraformStatements {
  if (isTerragrunt(name)) return terragruntStatements(text);
  if (isVariables(name)) {
    const body = name.endsWith('.json') ? fieldsInJson(text) : readHcl(`variables {\n${text}\n}`)[0]?.body;
    const set = [...(body ?? [])].map(([variable, value]) => [`var.${variable}`, valueIn(value)] as const);
    return { defaults: [], set, modules: [] };
  }
  const blocks = statesValues(text) ? readHcl(text) : [];
  const defaults = blocks.flatMap(({ type, labels: [name, called], body }): [string, Field][] => {
    const initial = body.get('default');
    if (name === 'aws_launch_template' && called !== undefined) return fieldsOfTemplate(called, body);
    if (type === 'resource' && called !== undefined && statesPlace.test(name ?? ''))
      return placeOfResource(`${name}.${called}`, body);
    if (type === 'variable' && name !== undefined) return initial === undefined ? [] : [[`var.${name}`, initial]];
    return type === 'locals' ? [...body].map(([local, value]) => [`local.${local}`, value]) : [];
  });
  // Variables with a type have fields that their values do not have.
  if (/\boptional\(/.test(text)) defaults.push([hasOptional, '']);
  return {
    defaults: defaults.map(([name, value]) => [name, valueIn(value)] as const),
    set: [],
    modules: blocks.flatMap(({ type, body }): TerraformModule[] => {
      const source = body.get('source');
      if (type !== 'module' || typeof source !== 'string' || !source.startsWith('.')) return [];
      const passed = [...body].filter(([name, value]) => name !== 'count' || value !== '1');
      return [{ source, variables: passed.map(([name, value]) => [`var.${name}`, valueIn(value)] as const) }];
    }),
  };
}

/** A unit of Terragrunt uses a module, as a `module` block does. */
function terragruntStatements(text: string): TerraformStatements {
  const { source, inputs, locals } = terragruntUnit(text);
  const parents = terragruntParents(text);
  const read = new Set(parents.map(({ name }) => name));
  const passed = [...inputs].map(([name, value]) => [`var.${name}`, valueIn(value)] as const);
  const own = [...locals].map(([name, value]) => [`local.${name}`, valueIn(value)] as const);
  return {
    defaults: own.filter(([name]) => !read.has(name)),
    set: [],
    modules: source === null ? [] : [{ source, variables: passed }],
    unit: { inputs, parents },
  };
}

/** The machine of a launch template, and whether it is on spot. */
function fieldsOfTemplate(name: string, body: Fields): [string, Field][] {
  const [market] = [body.get('instance_market_options')].flat();
  const type = isFields(market) ? market.get('market_type') : undefined;
  return [
    [templateField(name, 'instance_type'), body.get('instance_type') ?? null],
    [templateField(name, 'market_type'), type ?? null],
  ];
}

/** The place of a resource, under the name by which others refer to it or to its only copy. */
function placeOfResource(resource: string, body: Fields): [string, Field][] {
  const place = body.get('location');
  const name = body.has('count') ? `${resource}.0` : resource;
  return place === undefined || body.has('for_each') ? [] : [[`${name}.location`, place]];
}

/** The name under which a field of a launch template is a value. */
export function templateField(name: string, field: string): string {
  return `aws_launch_template.${name}.${field}`;
}

/** Whether a text can state values. Other files are not read. */
export function statesValues(text: string): boolean {
  return stated.test(text);
}

/** JSON is YAML. */
function fieldsInJson(text: string): Fields | undefined {
  const { root, problems } = parseDocument(text, 0);
  const field = root === null || problems.length > 0 ? null : fieldOf(rootCursor(root));
  return isFields(field) ? field : undefined;
}

/** A map of pools has their fields, and these have labels. */
const maxLevels = 3;

function valueIn(field: Field, level = 0): Value {
  if (isFields(field)) {
    if (field.size > maxItems || level >= maxLevels) return null;
    return new Map([...field].map(([key, value]) => [key, valueIn(value, level + 1)]));
  }
  if (!Array.isArray(field)) return isShort(field) ? field : null;
  if (field.length > maxItems) return null;
  return field.map((item): Item => {
    const value = isFields(item) ? valueIn(item, level + 1) : null;
    return isShort(item) ? item : isFields(value) ? value : null;
  });
}

function isShort(field: Field): field is string | Template {
  if (typeof field === 'string') return field.length <= maxText;
  return isTemplateText(field) && field.template.length <= maxText;
}

/** What a file of a folder states. `fileName`: of a file of variables, this decides whether it always applies. */
export interface FolderStatement {
  readonly fileName: string;
  readonly facts: TerraformStatements;
}

/**
 * The values of a folder: defaults, unless a module of another folder or a file of variables sets them. Files of variables that do not always apply
 * make a value unknown if they differ.
 * @param passed what the modules of each other folder set
 * @param elsewhere what files of variables set that are in no folder of a module: `envs/prod.tfvars` may be for any of them
 */
export function valuesOfFolder(
  statements: readonly FolderStatement[],
  passed: readonly ReadonlyMap<string, Field>[] = [],
  elsewhere: TerraformValues = noValues,
): ReadonlyMap<string, Field> {
  const stated = new Map<string, Field>();
  const add = (name: string, value: Value) => {
    const before = stated.get(name);
    stated.set(name, before === undefined || isSame(before, value) ? value : null);
  };
  for (const { facts } of statements) for (const [name, value] of facts.defaults) add(name, value);
  const always = statements.filter(({ fileName }) => /(?:^terraform|\.auto)\.tfvars(?:\.json)?$/.test(fileName));
  for (const { facts } of always) for (const [name] of facts.set) stated.delete(name);
  for (const { facts } of [...always, ...statements.filter((one) => !always.includes(one))])
    for (const [name, value] of facts.set) add(name, value);
  for (const name of [...stated.keys()]) {
    const other = elsewhere.get(name);
    if (other !== undefined && !isSame(other, stated.get(name) ?? null)) stated.set(name, null);
  }
  for (const name of new Set(passed.flatMap((one) => [...one.keys()]))) {
    const [value = null, ...others] = passed.map((one) => one.get(name) ?? null);
    stated.set(name, others.every((other) => isSame(value, other)) ? value : null);
  }
  const values = new Map<string, Field>();
  // Local values may refer to each other.
  for (let round = 0; round < 4; round += 1) {
    for (const [name, value] of stated)
      values.set(name, isPlain(value) ? filledWith(value, values) : filledMaps(value, values));
  }
  return values;
}

/** What several files of variables set; null where they differ. */
export function commonValues(facts: readonly TerraformStatements[]): TerraformValues {
  const values = new Map<string, Field>();
  for (const [name, value] of facts.flatMap(({ set }) => set)) {
    const before = values.get(name);
    values.set(name, before === undefined || isSame(before, value) ? value : null);
  }
  return values;
}

function isSame(one: Field, other: Field): boolean {
  return one === other || textOf(one) === textOf(other);
}

function textOf(field: Field): string {
  return JSON.stringify(field, (_, value: unknown) => (value instanceof Map ? [...value] : value));
}

/** A value with the variables that are known; null for what needs others. */
export function filledWith(field: Field, values: TerraformValues): Field {
  if (isTemplateText(field)) return filledTemplate(field, values);
  if (Array.isArray(field))
    return field.map((item) => (isTemplateText(item) ? textOrNull(item, values) : filledWith(item, values)));
  return isFields(field) ? new Map([...field].map(([key, value]) => [key, filledWith(value, values)])) : field;
}

function isPlain(value: Field): boolean {
  return !isFields(value) && !(Array.isArray(value) && value.some(isFields));
}

function filledMaps(value: Field, values: TerraformValues): Field {
  if (isFields(value)) return filledMap(value, values);
  return Array.isArray(value) ? value.map((item) => (isFields(item) ? filledMap(item, values) : null)) : null;
}

/** In a mapping, no mappings of other values: they could grow without bounds. */
function filledMap(fields: Fields, values: TerraformValues): Fields {
  return new Map([...fields].map(([key, value]) => [key, filledEntry(value, values)]));
}

function filledEntry(value: Field, values: TerraformValues): Field {
  if (isFields(value)) return filledMap(value, values);
  const filled = filledWith(value, values);
  return isFields(filled) ? null : filled;
}

/** In a list, only a text: lists of lists could grow without bounds. */
function textOrNull(item: Template, values: TerraformValues): string | null {
  const filled = filledTemplate(item, values);
  return typeof filled === 'string' ? filled : null;
}

function filledTemplate(template: Template, values: TerraformValues): Field {
  const filled = filledText(template.template, values) ?? unsetIn(template, values);
  const { choice, mapped, compared, otherwise = null } = template;
  if (mapped !== undefined) return mappedFrom(filled, mapped);
  if (choice === undefined) return filled;
  const isKnown = compared !== undefined && typeof filled === 'string';
  const met = isKnown ? String((filled === compared.value) === compared.isEqual) : compared ? null : filled;
  return met === 'true' ? choice[0] : met === 'false' ? choice[1] : otherwise;
}

/** The mapping that a `for` expression makes; null if a key or a condition is unknown. */
function mappedFrom(items: Field, { key, when }: Mapped): Fields | null {
  if (!Array.isArray(items) && !isFields(items)) return null;
  const each: readonly (readonly [string, Field])[] = Array.isArray(items)
    ? items.map((item, index) => [String(index), item])
    : [...(items as Fields)];
  const made = new Map<string, Field>();
  for (const [own, item] of each) {
    const name = key === null ? own : fieldIn(item, key);
    const isKept = when === undefined ? 'true' : fieldIn(item, when);
    if (typeof name !== 'string' || (isKept !== 'true' && isKept !== 'false')) return null;
    if (isKept === 'true') made.set(name, item);
  }
  return made;
}

function fieldIn(item: Field, name: string): Field {
  return isFields(item) ? (item.get(name) ?? null) : null;
}

/** The value instead of a field that a known mapping does not have. */
function unsetIn({ template, unset }: Template, values: TerraformValues): string | null {
  const [, whole, part = ''] = /^\$\{([\w.#@-]+)\.([\w-]+)\}$/.exec(template) ?? [];
  const owner =
    unset === undefined || whole === undefined || values.has(hasOptional) ? null : valueNamed(whole, values);
  return isFields(owner) && !owner.has(part) ? (unset ?? null) : null;
}

function filledText(template: string, values: TerraformValues): Field {
  const [, counted] = /^\$\{length\(([\w.#-]+)\)\}$/.exec(template) ?? [];
  if (counted !== undefined) return lengthOf(valueNamed(counted, values));
  const [, only] = /^\$\{([\w.#@-]+)\}$/.exec(template) ?? [];
  if (only !== undefined) return valueNamed(only, values);
  let isKnown = true;
  const text = template.replace(/(?<!\$)\$\{([\w.-]+)\}/g, (_, name: string) => {
    const value = valueNamed(name, values);
    isKnown &&= typeof value === 'string';
    return typeof value === 'string' ? value : '';
  });
  return isKnown && text.length <= maxText ? text : null;
}

/** A text with the variables whose values are texts. The others stay, and so do escaped ones (`$${name}`). */
export function partlyFilled(template: string, values: TerraformValues): string {
  return template.replace(/(?<!\$)\$\{([\w.-]+)\}/g, (whole, name: string) => {
    const value = valueNamed(name, values);
    return typeof value === 'string' ? value : whole;
  });
}

/**
 * The text of a here-document with the values that are known, also as the functions `jsonencode`, `yamlencode` and `join` write them. The rest stays.
 */
export function filledDocument(text: string, values: TerraformValues): string {
  const encoded = text.replace(encodedValue, (whole, encode: string | undefined, separator = ',', name: string) => {
    const value = valueNamed(name, values);
    const items = [value].flat();
    const isKnown = items.every((item) => typeof item === 'string');
    if (encode === undefined)
      return isKnown && Array.isArray(value) ? items.join(separator.replace(/\\(.)/g, '$1')) : whole;
    return isKnown ? JSON.stringify(value) : whole;
  });
  return partlyFilled(encoded, values);
}

/** `${jsonencode(var.types)}`, `${join("\", \"", local.zones)}`. */
const encodedValue =
  /(?<!\$)\$\{\s{0,9}(?:(jsonencode|yamlencode)|join)\(\s{0,9}(?:"((?:[^"\\]|\\.){0,20})"\s{0,9},\s{0,9})?((?:var|local)(?:\.[\w-]{1,60}){1,3})\s{0,9}\)\s{0,9}\}/g;

function lengthOf(value: Field): string | null {
  if (Array.isArray(value)) return String(value.length);
  return isFields(value) ? String(value.size) : null;
}

/** `var.pool.size` is a field of `var.pool`, `var.zones.#` and `var.pools.@` the item of the present copy. */
function valueNamed(name: string, values: TerraformValues): Field {
  if (name.length > maxText) return null;
  const known = values.get(name);
  if (known !== undefined) return known;
  const end = name.lastIndexOf('.');
  const whole = end > 0 ? valueNamed(name.slice(0, end), values) : null;
  const part = name.slice(end + 1);
  const key = part === '@' ? values.get('each.key') : part;
  if (isFields(whole)) return (typeof key === 'string' ? whole.get(key) : null) ?? null;
  const place = part === '#' ? values.get('count.index') : part;
  return Array.isArray(whole) && typeof place === 'string' ? (whole[Number(place)] ?? null) : null;
}

const stated = either(
  /\b(?:variable|module)\s{1,9}"/,
  /\blocals\s{0,9}\{/,
  /"(?:aws_launch_template|azurerm_resource_group|\w{1,20}_cluster)"/,
);
