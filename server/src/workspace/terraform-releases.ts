import { type Field, type Fields, fieldOf, isCall, isFields } from '../evidence/fields.ts';
import { readHcl } from '../evidence/hcl.ts';
import { rootCursor } from '../yaml/cursor.ts';
import { checkLimits, parseDocument } from '../yaml/parse.ts';
import { isTerraform } from './terraform.ts';
import { withoutIndent } from './terraform-manifests.ts';

// Charts of the project that Terraform installs. https://registry.terraform.io/providers/hashicorp/helm/latest/docs/resources/release

/** The text of a file as gpulint reads manifests: of Terraform, only its releases of charts. undefined: the file has none. */
export function manifestText(name: string, text: string): string | undefined {
  return isTerraform(name) ? helmfileOf(text) : text;
}

/** Whether a file of Terraform may install charts: a cheap test. */
function mayRelease(text: string): boolean {
  return text.includes('"helm_release"');
}

/**
 * The releases in a file as a helmfile, each on the line of its block; undefined without releases of local charts. A release of which some values
 * are computed is left out: its chart counts with its own values.
 */
function helmfileOf(text: string): string | undefined {
  const lines = text.split('\n').map(() => '');
  let found = 0;
  let start = 0;
  let line = 0;
  for (const { type, labels, body } of mayRelease(text) ? readHcl(text, true) : []) {
    if (type !== 'resource' || labels[0] !== 'helm_release') continue;
    const release = releaseIn(body);
    const next = Math.max(start, text.indexOf('"helm_release"', start));
    line += text.slice(start, next).split('\n').length - 1;
    start = next + 1;
    const count = countOf(body) ?? 0;
    if (release === undefined) continue;
    lines[line] += `${release}, `.repeat(count);
    found += count;
  }
  return found === 0 ? undefined : `releases: [${lines.join('\n')}]\n`;
}

/** How often a resource exists: once unless `count` or `for_each` has another number of items; undefined if that is computed. */
function countOf(body: Fields): number | undefined {
  const [count, each] = [body.get('count'), body.get('for_each')];
  const known = typeof count === 'string' && /^\d{1,2}$/.test(count) ? Number(count) : undefined;
  const keys = isCall(each) && each.call === 'toset' ? each.argument : each;
  const items = Array.isArray(keys) ? new Set(keys).size : isFields(keys) ? keys.size : undefined;
  return count === undefined && each === undefined ? 1 : (known ?? items);
}

/** Fields that decide where the chart is from, or that set values in other ways. */
const others = ['repository', 'set_list', 'set_sensitive', 'set_wo', 'postrender', 'dynamic'];

function releaseIn(body: Fields): string | undefined {
  const chart = body.get('chart');
  if (typeof chart !== 'string' || !/^\.{1,2}\//.test(chart) || others.some((key) => body.has(key))) return undefined;
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
  return `{"chart": ${JSON.stringify(chart)}, ${where}"values": [${layers.join(', ')}], "set": [${set.join(', ')}]}`;
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
