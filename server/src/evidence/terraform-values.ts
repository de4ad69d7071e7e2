import { rootCursor } from '../yaml/cursor.ts';
import { parseDocument } from '../yaml/parse.ts';
import { type Field, type Fields, fieldOf, isFields, isTemplateText, type Template } from './fields.ts';
import { readHcl } from './hcl.ts';

// Variables and local values of a folder of Terraform, as far as its files state them.

/** A text or a list of texts, with variables; null: computed. */
type Value = string | Template | null | readonly (string | Template | null)[];

/** Texts and lists of texts by their names: `var.region`, `local.zone`. null: unknown. */
export type TerraformValues = ReadonlyMap<string, Field>;

export const noValues: TerraformValues = new Map();

/** What one file states about values. */
export interface TerraformStatements {
  /** Defaults of variables, and local values. */
  readonly defaults: readonly (readonly [name: string, value: Value])[];
  /** What a file of variables sets. */
  readonly set: readonly (readonly [name: string, value: Value])[];
  /** The folders that it uses as modules, and the variables that these get. */
  readonly modules: readonly TerraformModule[];
}

/** A use of a folder as a module. */
export interface TerraformModule {
  /** A relative path. */
  readonly source: string;
  readonly variables: readonly (readonly [name: string, value: Value])[];
}

/** Longer texts are no names of places or machines, and longer lists no choice of machines. */
const maxText = 100;
const maxItems = 20;

/** Whether a file sets variables: `prod.tfvars`. */
export function isVariables(name: string): boolean {
  return /\.tfvars(?:\.json)?$/.test(name);
}

/** The values in a file of Terraform. @param name the file's name */
export function terraformStatements(text: string, name: string): TerraformStatements {
  if (isVariables(name)) {
    const body = name.endsWith('.json') ? fieldsInJson(text) : readHcl(`variables {\n${text}\n}`)[0]?.body;
    const set = [...(body ?? [])].map(([variable, value]) => [`var.${variable}`, valueIn(value)] as const);
    return { defaults: [], set, modules: [] };
  }
  const blocks = statesValues(text) ? readHcl(text) : [];
  const defaults = blocks.flatMap(({ type, labels: [name], body }): [string, Field][] => {
    const initial = body.get('default');
    if (type === 'variable' && name !== undefined) return initial === undefined ? [] : [[`var.${name}`, initial]];
    return type === 'locals' ? [...body].map(([local, value]) => [`local.${local}`, value]) : [];
  });
  return {
    defaults: defaults.map(([name, value]) => [name, valueIn(value)] as const),
    set: [],
    modules: blocks.flatMap(({ type, body }): TerraformModule[] => {
      const source = body.get('source');
      if (type !== 'module' || typeof source !== 'string' || !source.startsWith('.')) return [];
      return [{ source, variables: [...body].map(([name, value]) => [`var.${name}`, valueIn(value)] as const) }];
    }),
  };
}

/** Whether a text can state values. Other files are not read. */
export function statesValues(text: string): boolean {
  return /\b(?:variable|module)\s{1,9}"|\blocals\s{0,9}\{/.test(text);
}

/** JSON is YAML. */
function fieldsInJson(text: string): Fields | undefined {
  const { root, problems } = parseDocument(text, 0);
  const field = root === null || problems.length > 0 ? null : fieldOf(rootCursor(root));
  return isFields(field) ? field : undefined;
}

function valueIn(field: Field): Value {
  if (Array.isArray(field)) return field.length > maxItems ? null : field.map((item) => (isShort(item) ? item : null));
  return isShort(field) ? field : null;
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
  passed: readonly TerraformValues[] = [],
  elsewhere: TerraformValues = noValues,
): TerraformValues {
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
    for (const [name, value] of stated) values.set(name, filledWith(value, values));
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
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A value with the variables that are known; null for what needs others. */
export function filledWith(field: Field, values: TerraformValues): Field {
  if (isTemplateText(field)) return filledTemplate(field, values);
  if (Array.isArray(field))
    return field.map((item) => (isTemplateText(item) ? textOrNull(item, values) : filledWith(item, values)));
  return isFields(field) ? new Map([...field].map(([key, value]) => [key, filledWith(value, values)])) : field;
}

/** In a list, only a text: lists of lists could grow without bounds. */
function textOrNull(item: Template, values: TerraformValues): string | null {
  const filled = filledTemplate(item, values);
  return typeof filled === 'string' ? filled : null;
}

function filledTemplate({ template }: Template, values: TerraformValues): Field {
  const [, only] = /^\$\{([\w.-]+)\}$/.exec(template) ?? [];
  if (only !== undefined) return values.get(only) ?? null;
  let isKnown = true;
  const text = template.replace(/\$\{([\w.-]+)\}/g, (_, name: string) => {
    const value = values.get(name);
    isKnown &&= typeof value === 'string';
    return typeof value === 'string' ? value : '';
  });
  return isKnown && text.length <= maxText ? text : null;
}
