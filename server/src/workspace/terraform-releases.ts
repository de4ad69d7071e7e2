import {
  type Field,
  type Fields,
  fieldOf,
  isCall,
  isFields,
  isTemplateText,
  type Template,
} from '../evidence/fields.ts';
import { readHcl } from '../evidence/hcl.ts';
import { filledWith, noValues, partlyFilled, type TerraformValues } from '../evidence/terraform-values.ts';
import { rootCursor } from '../yaml/cursor.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import { isTerraform } from './terraform.ts';
import { terraformCopiesAt } from './terraform-folders.ts';
import { mayCreate, objectIn, withoutIndent } from './terraform-objects.ts';
import type { Workspace } from './workspace.ts';

// Charts of the project that Terraform installs, and workloads that it creates. https://registry.terraform.io/providers/hashicorp/helm/latest/docs/resources/release

/**
 * The text of a file as gpulint reads manifests: of Terraform, only its releases of charts and its workloads. undefined: the file has none.
 * @param copies the values of the file's folder; of each copy if it is a module
 */
export function manifestText(
  name: string,
  text: string,
  copies: readonly TerraformValues[] = [noValues],
): string | undefined {
  return isTerraform(name) ? manifestsOf(text, copies) : text;
}

/** The same, with the values that the files of a workspace state. */
export function manifestTextIn(workspace: Workspace, uri: string, text: string): string | undefined {
  return isTerraform(uri) ? manifestText(uri, text, terraformCopiesAt(workspace, uri)) : text;
}

/** Whether a file of Terraform may have any of these: a cheap test. */
export function mayHaveManifests(text: string): boolean {
  return text.includes('"helm_release"') || mayCreate(text);
}

/**
 * The releases in a file as a helmfile, each on the line of its block, and its workloads as documents, behind the releases; undefined without releases
 * of local charts and workloads. A release of which some values are computed is left out: its chart counts with its own values.
 */
function manifestsOf(text: string, copies: readonly TerraformValues[]): string | undefined {
  if (!mayHaveManifests(text)) return undefined;
  const lines = text.split('\n').map(() => '');
  const objects: (readonly [line: number, object: string])[] = [];
  let last: number | undefined;
  let start = 0;
  let line = 0;
  let made = 0;
  const uses = usesOf(copies, text.length);
  for (const block of readHcl(text, true)) {
    if (made >= maxObjects) break;
    const { type, labels } = block;
    const [kind = ''] = labels;
    if (type !== 'resource' || !/^(?:helm_release$|kubernetes_|kubectl_manifest$)/.test(kind)) continue;
    const next = Math.max(start, text.indexOf(`"${kind}"`, start));
    line += text.slice(start, next).split('\n').length - 1;
    start = next + 1;
    for (const [values, times] of uses) {
      const body = fieldsWith(block.body, values);
      const count = Math.min((countOf(body) ?? 0) * times, maxObjects - made);
      if (count <= 0) continue;
      const release = kind === 'helm_release' ? releaseIn(body) : undefined;
      if (release !== undefined) {
        lines[line] += `${release}, `.repeat(count);
        last = line;
      }
      const object = objectIn({ ...block, body });
      if (object !== undefined) for (let copy = 0; copy < count; copy += 1) objects.push([line, object]);
      if ((release ?? object) !== undefined) made += count;
    }
  }
  if (last === undefined && objects.length === 0) return undefined;
  if (last !== undefined) {
    lines[0] = `releases: [${lines[0]}`;
    lines[last] += ']';
  }
  for (const [own, object] of objects) {
    const place = Math.max(own, (last ?? -1) + 1);
    lines[place] = `${lines[place] === undefined || lines[place] === '' ? '' : `${lines[place]}\n`}--- ${object}`;
  }
  return `${lines.join('\n')}\n`;
}

/** How often each copy of a folder occurs. Large files with many copies are generated: their values are unknown. */
function usesOf(copies: readonly TerraformValues[], length: number): ReadonlyMap<TerraformValues, number> {
  const uses = new Map<TerraformValues, number>();
  for (const values of copies) uses.set(values, (uses.get(values) ?? 0) + 1);
  return uses.size > 1 && uses.size * length > maxFilled ? new Map([[noValues, copies.length]]) : uses;
}

const maxFilled = 5_000_000;

/** The fields with the values that are known. Others stay as they are written. */
function fieldsWith(fields: Fields, values: TerraformValues): Fields {
  return new Map([...fields].map(([key, field]) => [key, fieldWith(field, values)]));
}

function fieldWith(field: Field, values: TerraformValues): Field {
  if (isTemplateText(field))
    return field.template.includes('\n') ? document(field, values) : (filledWith(field, values) ?? field);
  if (Array.isArray(field)) return field.map((one: Field) => fieldWith(one, values));
  if (isCall(field)) return { ...field, argument: fieldWith(field.argument, values) };
  return isFields(field) ? fieldsWith(field, values) : field;
}

function document({ template }: Template, values: TerraformValues): Field {
  const text = partlyFilled(template, values);
  return text.includes('${') ? { template: text } : text;
}

/** More workloads or releases in one file are generated. */
const maxObjects = 1000;

/** How often a resource exists: once unless `count` or `for_each` has another number of items; undefined if that is computed. */
function countOf(body: Fields): number | undefined {
  const [count, each] = [body.get('count'), body.get('for_each')];
  const known = typeof count === 'string' && /^\d{1,2}$/.test(count) ? Number(count) : undefined;
  const keys = isCall(each) && each.call === 'toset' ? each.argument : each;
  const items = Array.isArray(keys) ? new Set(keys).size : isFields(keys) ? keys.size : undefined;
  return count === undefined && each === undefined ? 1 : (known ?? items);
}

/** Fields that set values in other ways. */
const others = ['set_list', 'set_wo', 'postrender', 'dynamic'];

function releaseIn(body: Fields): string | undefined {
  const chart = body.get('chart');
  if (typeof chart !== 'string' || others.some((key) => body.has(key))) return undefined;
  const isElsewhere = !/^\.{1,2}\//.test(chart);
  // A secret in one value of a chart from elsewhere is nothing to count.
  if (!isElsewhere && (body.has('repository') || body.has('set_sensitive'))) return undefined;
  const layers = listOf(body.get('values')).map(layerOf);
  const set = listOf(body.get('set')).map((one) => {
    const [name, value] = isFields(one) ? [one.get('name'), one.get('value')] : [];
    const isText = isFields(one) && one.get('type') === 'string';
    return typeof name === 'string' && typeof value === 'string'
      ? JSON.stringify({ name, value, forceString: isText })
      : undefined;
  });
  if ([...layers, ...set].includes(undefined)) return undefined;
  const namespace = body.get('namespace');
  const where = typeof namespace === 'string' ? `"namespace": ${JSON.stringify(namespace)}, ` : '';
  const release = body.get('name');
  const named = typeof release === 'string' && isElsewhere ? `"name": ${JSON.stringify(release)}, ` : '';
  return `{${named}"chart": ${JSON.stringify(chart)}, ${where}"values": [${layers.join(', ')}], "set": [${set.join(', ')}]}`;
}

function listOf(field: Field | undefined): readonly Field[] {
  return field === undefined ? [] : Array.isArray(field) ? field : [field];
}

/** A file of values, or values; undefined if they are computed. */
function layerOf(field: Field): string | undefined {
  if (typeof field === 'string') return valuesIn(withoutIndent(field.split('\n')));
  if (!isCall(field)) return undefined;
  const { call, argument } = field;
  if (call === 'yamlencode') return isFields(argument) ? jsonOf(argument) : undefined;
  return typeof argument === 'string' ? JSON.stringify(argument) : undefined;
}

function valuesIn(text: string): string | undefined {
  const root = checkLimits(text) === null ? parseDocument(text, 0).root : null;
  return root?.kind === 'map' ? jsonOf(fieldOf(rootCursor(root))) : undefined;
}

/** Plain words are numbers and truth values, as in YAML. */
function jsonOf(field: Field): string | undefined {
  if (typeof field === 'string')
    return /^(?:true|false|null|-?[1-9]\d{0,14}|0)$/.test(field) ? field : JSON.stringify(field);
  const parts = Array.isArray(field) ? field.map(jsonOf) : [];
  if (Array.isArray(field)) return parts.includes(undefined) ? undefined : `[${parts.join(', ')}]`;
  if (!isFields(field)) return undefined;
  const entries = [...field].map(([key, value]) => [JSON.stringify(key), jsonOf(value)] as const);
  if (entries.some(([, value]) => value === undefined)) return undefined;
  return `{${entries.map((entry) => entry.join(': ')).join(', ')}}`;
}
