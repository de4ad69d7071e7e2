// The table of the API's types: fields, their types, what is required, enums. Made from the models of @kubernetes/client-node, which carry the
// schema of Kubernetes, from corrections.ts and, for custom resources and charts' values, from custom-types.ts, cluster-types.ts and chart-types.ts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartAliases, charts, chartTypes, strictCharts } from './chart-types.ts';
import { clusterKinds, clusterTypes } from './cluster-types.ts';
import { enums, kinds, laterFields, models, notRequired, opaque, quantities, required } from './corrections.ts';
import { customKinds, customTypes } from './custom-types.ts';
import { operatorKinds, operatorTypes } from './operator-types.ts';

const packageFolder = join(import.meta.dirname, '../../node_modules/@kubernetes/client-node');
const modelsFolder = join(packageFolder, 'dist/gen/models');

/** The text of server/src/catalog/data/api.json. Throws if the package is not installed. */
export function renderApiTypes(): string {
  if (!existsSync(modelsFolder)) throw new Error('@kubernetes/client-node is not installed: run npm ci');
  const types = new Map<string, string>();
  const served = Object.entries(kinds).flatMap(([apiVersion, names]) =>
    names.map((kind): [string, string] => {
      const model = models[`${apiVersion}/${kind}`] ?? versionOf(apiVersion) + kind;
      addType(model, types);
      return [`${apiVersion}/${kind}`, shortName(model)];
    }),
  );
  const corrected = [...Object.keys(enums), ...quantities, ...notRequired, ...required];
  const stray = corrected.filter((field) => !fieldExists(field, types));
  if (stray.length > 0) throw new Error(`corrections.ts names fields that do not exist: ${stray.join(', ')}`);
  const table = {
    sources: [sourceOf()],
    kinds: Object.fromEntries(served.sort(byName)),
    types: Object.fromEntries([...types].sort(byName)),
    customKinds: { ...customKinds, ...clusterKinds, ...operatorKinds },
    customTypes: { ...customTypes, ...clusterTypes, ...operatorTypes, ...chartTypes },
    charts,
    chartAliases,
    strictCharts,
  };
  return `${JSON.stringify(table, undefined, 1)}\n`;
}

interface Attribute {
  /** As in the declarations, where a word of the language begins with an underscore. */
  readonly name: string;
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}

/** Adds a model and everything that it refers to. The models are read as text, because importing the client would load all of it. */
function addType(model: string, types: Map<string, string>): void {
  const name = shortName(model);
  if (types.has(name)) return;
  types.set(name, '');
  const code = readFileSync(join(modelsFolder, `${model}.js`), 'utf8');
  const declared = readFileSync(join(modelsFolder, `${model}.d.ts`), 'utf8');
  const [, list = '[]'] = /\.attributeTypeMap = (\[[\s\S]*?\n\]);/.exec(code) ?? [];
  const attributes = JSON.parse(list) as readonly Attribute[];
  const fields = attributes.map((attribute) => {
    const { name: declaredName, baseName } = attribute;
    const place = `${name}.${baseName}`;
    const isRequired = required.has(place) || (declared.includes(`    '${declaredName}': `) && !notRequired.has(place));
    const type = baseName === 'status' && /Status$/.test(attribute.type) ? '*' : typeCode(place, attribute, types);
    return `${baseName}${isRequired ? '!' : ''}${type === 's' ? '' : `:${type}`}`;
  });
  types.set(name, [...fields, ...(laterFields[name] ?? [])].join(' '));
}

function typeCode(
  place: string,
  { type, format }: Pick<Attribute, 'type' | 'format'>,
  types: Map<string, string>,
): string {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1];
  if (list !== undefined) return `[${typeCode(place, { type: list, format }, types)}`;
  if (map !== undefined) return `{${typeCode(place, { type: map, format }, types)}`;
  if (opaque.has(type)) return '*';
  const values = enums[place];
  if (values !== undefined) return `=${values}`;
  if (quantities.has(place)) return 'q';
  switch (type) {
    case 'string':
      return 's';
    case 'Date':
    case 'V1MicroTime':
      return 's';
    case 'boolean':
      return 'b';
    case 'number':
      return format === 'double' ? 'n' : 'i';
    case 'IntOrString':
      return 'x';
    default:
      addType(type, types);
      return shortName(type);
  }
}

/** Without the version: there is one type of each name, except where an older version differs. */
function shortName(model: string): string {
  if (model === 'CoreV1ResourceClaim') return 'ContainerClaim';
  const name = model.replace(/^(?:ResourceV1|V1(?!alpha|beta)|V2)/, '');
  return model.startsWith('V2') && existsSync(join(modelsFolder, `V1${name}.js`)) ? model : name;
}

function fieldExists(place: string, types: ReadonlyMap<string, string>): boolean {
  const [type = '', field = ''] = place.split('.');
  return (types.get(type) ?? '').split(' ').some((one) => /^\w+/.exec(one)?.[0] === field);
}

function versionOf(apiVersion: string): string {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return version.charAt(0).toUpperCase() + version.slice(1);
}

function sourceOf(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const code = readFileSync(join(modelsFolder, 'V1Pod.js'), 'utf8');
  const api = /OpenAPI spec version: v([\d.]+)/.exec(code)?.[1] ?? 'unknown';
  return `@kubernetes/client-node ${version} (Kubernetes ${api})`;
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
