// Generates schemas/*.json and the settings in package.json from the zod schemas of the config and the report.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as z from 'zod';
import { gpus } from '../server/src/catalog/index.ts';
import { costSchema } from '../server/src/cli/cost/cost-schema.ts';
import { reportSchema } from '../server/src/cli/reports/report-schema.ts';
import {
  configSchema,
  editorSchema,
  machineSchema,
  platformName,
  settingsSchema,
} from '../server/src/config/schema.ts';
import { listPrices } from '../server/src/cost/custom-prices.ts';
import { defaultModelOptions } from '../server/src/model/options.ts';

export const schemasFolder = fileURLToPath(new URL('../schemas', import.meta.url));

/** The text of each schema, by file name. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map([
    ['config.schema.json', render('gpulint configuration', configSchema)],
    ['cost.schema.json', render('gpulint costs', costSchema)],
    ['report.schema.json', render('gpulint report', reportSchema)],
  ]);
}

/** The input side: keys with a default may be omitted, and a report may contain fields of a later version. */
function render(title: string, schema: z.core.$ZodType): string {
  const { $schema, ...body } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  return `${JSON.stringify({ $schema, title, ...body }, null, 2)}\n`;
}

type JsonSchema = z.core.JSONSchema.JSONSchema;
type Setting = Record<string, unknown>;

export const manifestFile = fileURLToPath(new URL('../package.json', import.meta.url));

/** The text of package.json with the settings of the schemas; everything else is unchanged. */
export function renderManifest(text: string): string {
  const manifest = JSON.parse(text);
  const { configuration } = manifest.contributes;
  const machineSettings = settingsOf(machineSchema, 'machine');
  configuration.properties = {
    ...settingsOf(settingsSchema, 'resource'),
    ...settingsOf(editorSchema, 'resource'),
    ...machineSettings,
    'gpulint.trace.server': configuration.properties['gpulint.trace.server'],
  };
  // VS Code does not let an untrusted workspace set these.
  manifest.capabilities.untrustedWorkspaces.restrictedConfigurations = Object.keys(machineSettings);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The effective values of numbers that are not set. */
const usualNumbers: ReadonlyMap<string, number> = new Map([
  ['gpulint.headroom', defaultModelOptions.headroom],
  ['gpulint.prices.discountPercent', listPrices.discountPercent],
]);

/** The pattern of a text that may be empty. */
function orEmpty({ pattern, ...limits }: Setting): Setting {
  return pattern === undefined ? limits : { ...limits, pattern: `^$|${String(pattern)}` };
}

/** Tables by rule id, each of which is one setting. */
const tables = new Set(['gpulint.rules', 'gpulint.ruleOptions']);

/** One setting per value: VS Code shows a form for each. */
function settingsOf(schema: z.core.$ZodType, scope: string): Record<string, Setting> {
  const root = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', reused: 'inline' });
  const settings: Record<string, Setting> = {};
  const add = (path: string, property: JsonSchema) => {
    if (property.properties !== undefined && !tables.has(path)) {
      for (const [key, below] of Object.entries(property.properties)) add(`${path}.${key}`, below as JsonSchema);
    } else settings[path] = { scope, ...settingOf(path, offered(property), root) };
  };
  for (const [key, property] of Object.entries(root.properties ?? {})) add(`gpulint.${key}`, property as JsonSchema);
  return settings;
}

/** Where a name of one's own is also valid, the catalog's names are suggestions: VS Code marks a value that a list of choices does not have. */
function offered(property: JsonSchema): JsonSchema {
  const choices = property.anyOf?.map((one): JsonSchema => {
    const [first, ...others] = ((one as JsonSchema).anyOf ?? []) as readonly JsonSchema[];
    if (first === undefined) return one as JsonSchema;
    return others.length === 0 ? first : { type: 'string', examples: first.enum ?? [] };
  });
  return choices === undefined ? property : { ...property, anyOf: choices };
}

function settingOf(path: string, property: JsonSchema, root: JsonSchema): Setting {
  const { description } = property;
  if (path === 'gpulint.rules') {
    const level = root.$defs?.level as JsonSchema;
    const ids = Object.keys(property.properties ?? {});
    const properties = Object.fromEntries(ids.map((id) => [id, { type: 'string', enum: level.enum }]));
    return { type: 'object', default: {}, properties, additionalProperties: false, description };
  }
  if (tables.has(path))
    return { type: 'object', default: {}, properties: property.properties, additionalProperties: false, description };
  const choices = property.anyOf?.find((one) => typeof one === 'object' && one.type !== 'null') as
    | JsonSchema
    | undefined;
  // Nullable values are unset by default: an empty text, the first choice of a list, or an empty box for a number.
  if (choices !== undefined) {
    const names = (choices.enum ?? []).map((id) =>
      path === 'gpulint.platform' ? platformName(String(id)) : (gpus.get(String(id))?.name ?? String(id)),
    );
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern } = choices;
    const limits = Object.fromEntries(
      Object.entries({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern }).filter(
        ([key, limit]) => limit !== undefined && !(key === 'maximum' && limit === Number.MAX_SAFE_INTEGER),
      ),
    );
    if (choices.enum !== undefined) {
      const values = { enum: ['', ...choices.enum], enumItemLabels: ['Not set', ...names] };
      return { type: 'string', ...values, default: '', description };
    }
    if (choices.type === 'string') {
      const { examples } = choices;
      return { type: 'string', ...(examples && { examples }), ...orEmpty(limits), default: '', description };
    }
    const usual = usualNumbers.get(path);
    return usual === undefined
      ? { type: ['null', choices.type ?? 'number'], ...limits, description }
      : { type: choices.type ?? 'number', ...limits, default: usual, description };
  }
  // A table with free keys is one setting.
  if (property.additionalProperties !== undefined && property.additionalProperties !== false) {
    const { additionalProperties, propertyNames } = property;
    return { type: 'object', default: {}, additionalProperties, ...(propertyNames && { propertyNames }), description };
  }
  if (property.type === 'array') return { type: 'array', items: property.items, default: [], description };
  return {
    type: property.type,
    ...(property.enum && { enum: property.enum }),
    ...(property.type === 'integer' && { minimum: property.minimum, maximum: property.maximum }),
    default: property.default,
    description,
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  mkdirSync(schemasFolder, { recursive: true });
  for (const [name, text] of renderSchemas()) writeFileSync(join(schemasFolder, name), text);
  const before = readFileSync(manifestFile, 'utf8');
  const after = renderManifest(before);
  if (after !== before) writeFileSync(manifestFile, after);
}
