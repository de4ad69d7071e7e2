import { own } from '../yaml/table.ts';
import { apiJson } from './data.ts';
import { wordSet } from './word-patterns.ts';

/** A chart whose keys are known. The types of its values are in the table of the API's types. */
export interface ChartKeys {
  readonly names: readonly string[];
  readonly type: string;
  /** Paths in its values, and how many of them values of this chart have. */
  readonly marks: readonly (readonly string[])[];
  readonly least: number;
  /** Paths that only say that values are those of a chart of this name and not another publisher's. */
  readonly weakMarks: readonly (readonly string[])[];
  /** The version with which keys got other types or places, as [major, minor]. */
  readonly since: readonly [major: number, minor: number];
  /** Parts of the addresses and names of its publisher's repositories. */
  readonly publishers: readonly string[];
}

export const chartKeys: readonly ChartKeys[] = (apiJson.charts as unknown as readonly Row[]).map(
  ([names, type, least, marks, since, publishers]) => ({
    names: names.split(' '),
    type,
    marks: pathsIn(marks).filter(([step]) => !step?.startsWith('?')),
    weakMarks: pathsIn(marks).flatMap(([step = '', ...rest]) =>
      step.startsWith('?') ? [[step.slice(1), ...rest]] : [],
    ),
    least,
    since: versionOf(since),
    publishers: publishers.split(' ').filter((part) => part !== ''),
  }),
);

function versionOf(since: number | string): readonly [number, number] {
  const [major, minor = 0] = String(since).split('.').map(Number);
  return [major ?? 0, minor];
}

function pathsIn(marks: string): readonly (readonly string[])[] {
  return marks.split(' ').map((path) => path.split('.'));
}

type Row = readonly [
  names: string,
  type: string,
  least: number,
  marks: string,
  since: number | string,
  publishers: string,
];

/** What a key was meant to be: a path or a key of the chart. `former`: it was a key of an older version. */
export interface KeyAlias {
  readonly meant: string;
  readonly former: boolean;
}

/** The key for which another is mistaken. */
export function keyAlias(type: string, key: string): KeyAlias | undefined {
  const written = own(apiJson.chartAliases, type);
  if (typeof written !== 'string') return undefined;
  for (const alias of written.split(' ')) {
    if (!alias.startsWith(`${key}>`)) continue;
    const meant = alias.slice(key.length + 1);
    return { meant: meant.replace('>', ''), former: meant.startsWith('>') };
  }
  return undefined;
}

/** Whether the schema of the chart rejects keys that it does not have. */
export function hasSchema(type: string): boolean {
  return strict.has(type);
}

const strict = wordSet(apiJson.strictCharts);
