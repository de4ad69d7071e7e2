import { emptyScalar } from './draft.ts';
import type { YamlMap, YamlNode, YamlScalar } from './node.ts';
import { resolvePlain } from './scalar.ts';

/**
 * The value of a Go template expression: a node of the chart's values, `null` if they have none there (Go's nil), undefined if the values
 * alone do not determine it.
 */
export type Evaluated = YamlNode | null | undefined;

/** Whether Go considers a value true; undefined if it is unknown. */
export function isTrue(value: Evaluated): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === null) return false;
  if (value.kind !== 'scalar') {
    const { length } = value.kind === 'map' ? value.entries : value.items;
    return length > 0 ? true : value.incomplete ? undefined : false;
  }
  return value.templated
    ? undefined
    : !(value.value === null || value.value === '' || value.value === 0 || value.value === false);
}

/**
 * What is below a value.
 * @param onMissing called with the number of steps that lead to nothing if others follow: Go fails on a look-up in nil
 */
export function lookUp(from: Evaluated, steps: readonly string[], onMissing?: (steps: number) => void): Evaluated {
  let here: Evaluated = from;
  for (const [index, step] of steps.entries()) {
    // A chart that does this gets the value from elsewhere.
    if (isNothing(here)) onMissing?.(index);
    if (here === undefined || here === null || here.kind !== 'map' || here.incomplete) return undefined;
    here = lastOf(here, step);
  }
  if (here?.kind !== 'scalar') return here;
  return here.templated ? undefined : here.value === null ? null : here;
}

function isNothing(value: Evaluated): boolean {
  return value === null || (value?.kind === 'scalar' && value.value === null && !value.templated);
}

/** Of duplicate keys the last value counts. */
function lastOf({ entries }: YamlMap, key: string): YamlNode | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.key === key) return entry.value;
  }
  return null;
}

/** What a function of Go, of Sprig or of Helm makes of known values; undefined for all others. */
export function apply(name: string, values: readonly Evaluated[]): Evaluated {
  const [first, second] = values;
  switch (name) {
    case 'quote':
    case 'squote':
    case 'toString':
      return first?.kind === 'scalar' && values.length === 1 ? textOf(first.source) : undefined;
    case 'int':
    case 'int64':
      return first?.kind === 'scalar' && /^\d+$/.test(first.source) ? scalarOf(first.source) : undefined;
    case 'printf':
      return printed(values);
    case 'contains':
      return first?.kind === 'scalar' && second?.kind === 'scalar'
        ? truthOf(second.source.includes(first.source))
        : undefined;
    case 'join':
      return joined(first, second);
    case 'lower':
      return first?.kind === 'scalar' ? textOf(first.source.toLowerCase()) : undefined;
    case 'replace':
      return replaced(values);
    case 'trunc':
      return second?.kind === 'scalar' && first?.kind === 'scalar' && /^\d+$/.test(first.source)
        ? textOf(second.source.slice(0, Number(first.source)))
        : undefined;
    case 'trim':
      return first?.kind === 'scalar' && first.source.trim() === first.source ? first : undefined;
    case 'toYaml':
    case 'toJson':
      return values.length === 1 ? first : undefined;
    case 'nindent':
    case 'indent':
      return values.length === 2 ? second : undefined;
    case 'trimPrefix':
    case 'trimSuffix':
      return first?.kind === 'scalar' && second?.kind === 'scalar' ? trimmed(name, first.source, second) : undefined;
    case 'index':
      return values.slice(1).reduce<Evaluated>(itemOf, first);
    case 'get': {
      const found = values.length === 2 ? itemOf(first, second) : undefined;
      return found === null ? textOf('') : found;
    }
    case 'dig': {
      const found = values.slice(0, -2).reduce<Evaluated>((at, key) => at && itemOf(at, key), values.at(-1));
      return found === null ? values.at(-2) : found;
    }
    case 'hasKey':
      return first?.kind === 'map' && !first.incomplete && second?.kind === 'scalar'
        ? truthOf(first.entries.some(({ key }) => key === second.source))
        : undefined;
    case 'empty':
      return truthOf(negated(isTrue(first)));
    case 'ternary': {
      const truth = isTrue(values[2]);
      return truth === undefined ? undefined : truth ? first : second;
    }
    case 'tpl':
      return first;
    case 'not':
      return truthOf(negated(isTrue(first)));
    case 'and':
      return (
        values.find((value) => isTrue(value) === false) ??
        (values.every((value) => isTrue(value) === true) ? values.at(-1) : undefined)
      );
    case 'or':
      return (
        values.find((value) => isTrue(value) === true) ??
        (values.every((value) => isTrue(value) === false) ? values.at(-1) : undefined)
      );
    case 'eq':
    case 'ne':
      if (first?.kind !== 'scalar' || second?.kind !== 'scalar' || values.length !== 2) return undefined;
      return truthOf((first.source === second.source) === (name === 'eq'));
    default:
      return calculated(name, values);
  }
}

/** What is under a key of a mapping or at a place in a list. */
function itemOf(from: Evaluated, key: Evaluated): Evaluated {
  if (key?.kind !== 'scalar') return undefined;
  if (from?.kind !== 'seq') return lookUp(from, [key.source]);
  if (from.incomplete || from.repeated === true || !/^\d+$/.test(key.source)) return undefined;
  return from.items[Number(key.source)]?.value;
}

/** The items of a list as one text. */
function joined(separator: Evaluated, list: Evaluated): Evaluated {
  if (separator?.kind !== 'scalar' || list?.kind !== 'seq' || list.incomplete || list.repeated === true)
    return undefined;
  const parts = list.items.flatMap(({ value }) => (value.kind === 'scalar' && !value.templated ? value.source : []));
  return parts.length === list.items.length ? textOf(parts.join(separator.source)) : undefined;
}

function trimmed(name: string, part: string, whole: YamlScalar): YamlScalar {
  const { source } = whole;
  const isPart = part !== '' && (name === 'trimSuffix' ? source.endsWith(part) : source.startsWith(part));
  if (!isPart) return whole;
  return textOf(name === 'trimSuffix' ? source.slice(0, -part.length) : source.slice(part.length));
}

function replaced([from, to, text]: readonly Evaluated[]): Evaluated {
  if (from?.kind !== 'scalar' || to?.kind !== 'scalar' || text?.kind !== 'scalar') return undefined;
  return textOf(text.source.replaceAll(from.source, () => to.source));
}

/** Arithmetic and comparisons of whole numbers. */
function calculated(name: string, values: readonly Evaluated[]): Evaluated {
  const numbers = values.flatMap((value) =>
    value?.kind === 'scalar' && /^-?\d{1,9}$/.test(value.source) ? [Number(value.source)] : [],
  );
  const [first, second] = numbers;
  if (numbers.length !== values.length || first === undefined || second === undefined) return undefined;
  const compared = numbers.length === 2 ? comparisons.get(name)?.(first, second) : undefined;
  if (compared !== undefined) return truthOf(compared);
  const made = arithmetic.has(name) ? numbers.reduce((a, b) => arithmetic.get(name)?.(a, b) ?? Number.NaN) : Number.NaN;
  return Number.isSafeInteger(made) ? scalarOf(String(made)) : undefined;
}

const comparisons: ReadonlyMap<string, (a: number, b: number) => boolean> = new Map([
  ['gt', (a: number, b: number) => a > b],
  ['ge', (a: number, b: number) => a >= b],
  ['lt', (a: number, b: number) => a < b],
  ['le', (a: number, b: number) => a <= b],
]);

const arithmetic: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['add', (a: number, b: number) => a + b],
  ['sub', (a: number, b: number) => a - b],
  ['mul', (a: number, b: number) => a * b],
  ['div', (a: number, b: number) => Math.trunc(a / b)],
  ['max', (a: number, b: number) => Math.max(a, b)],
  ['min', (a: number, b: number) => Math.min(a, b)],
]);

/** The result of `printf` if its verbs are plain ones for texts. */
function printed([format, ...values]: readonly Evaluated[]): Evaluated {
  if (format?.kind !== 'scalar' || values.some((value) => value?.kind !== 'scalar')) return undefined;
  const verbs = format.source.match(/%./g) ?? [];
  if (verbs.length !== values.length || verbs.some((verb) => !/^%[sdv]$/.test(verb))) return undefined;
  let next = 0;
  return textOf(
    format.source.replace(/%./g, () => {
      const value = values[next++];
      return value?.kind === 'scalar' ? value.source : '';
    }),
  );
}

function negated(truth: boolean | undefined): boolean | undefined {
  return truth === undefined ? undefined : !truth;
}

function truthOf(truth: boolean | undefined): Evaluated {
  return truth === undefined ? undefined : scalarOf(String(truth));
}

/** What a template prints, as YAML reads it: `8` is a number. */
export function scalarOf(source: string): YamlScalar {
  return { ...emptyScalar(0), source, value: resolvePlain(source) };
}

/** A string, whatever it looks like. */
export function textOf(source: string): YamlScalar {
  return { ...emptyScalar(0), source, value: source, style: 'double' };
}
