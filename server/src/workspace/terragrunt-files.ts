import type { Field } from '../evidence/fields.ts';
import {
  type FolderStatement,
  filledWith,
  type TerraformStatements,
  type TerraformValues,
} from '../evidence/terraform-values.ts';
import type { TerragruntParent } from '../evidence/terragrunt.ts';

// The files of Terragrunt that others include or read. https://terragrunt.gruntwork.io/docs/features/includes/

export interface TerragruntFiles {
  /** What the files of a folder read from others, as local values and includes. */
  readIn(folder: string): readonly FolderStatement[];
  /** The inputs of a file with those of the files that it includes. @param prefix before the names of the inputs */
  merged(key: string, own: Iterable<readonly [string, Field]>, prefix?: string): Map<string, Field>;
}

/**
 * @param units what each file states, by the file
 * @param valuesOf the values of a folder
 */
export function terragruntFiles(
  units: ReadonlyMap<string, TerraformStatements>,
  valuesOf: (folder: string) => TerraformValues,
): TerragruntFiles {
  const inFolder = new Map<string, string[]>();
  for (const key of units.keys()) {
    const same = inFolder.get(folderOf(key));
    if (same === undefined) inFolder.set(folderOf(key), [key]);
    else same.push(key);
  }
  const filesOf = (key: string) =>
    (units.get(key)?.unit?.parents ?? []).flatMap((parent) => {
      const file = fileOf(key, parent, units);
      return file === undefined || file === key ? [] : [{ ...parent, file }];
    });
  const includesOf = (key: string) => filesOf(key).filter(({ name }) => name.startsWith('include.'));
  // An included file finds others from the folder of each unit that includes it.
  const included = new Set([...units.keys()].flatMap((key) => includesOf(key).map(({ file }) => file)));
  const parentsOf = (key: string) => (included.has(key) ? [] : filesOf(key));
  const filled = (file: string, fields: Iterable<readonly [string, Field]>) => {
    const values = valuesOf(folderOf(file));
    return [...fields].map(([name, value]) => [name, filledWith(value, values)] as const);
  };
  const partsOf = (file: string): Field => {
    const { defaults = [], unit } = units.get(file) ?? {};
    const locals = defaults.map(([name, value]) => [name.replace('local.', ''), value] as const);
    return new Map([
      ['locals', new Map(filled(file, locals))],
      ['inputs', new Map(filled(file, unit?.inputs ?? []))],
    ]);
  };
  return {
    readIn: (folder) =>
      (inFolder.get(folder) ?? []).flatMap(parentsOf).map(({ name, file }) => ({
        fileName: '',
        facts: { defaults: [[name, partsOf(file)]], set: [], modules: [] } as TerraformStatements,
      })),
    merged: (key, own, prefix = '') => {
      const all = new Map<string, Field>();
      const deep = new Set<string>();
      for (const { file, merge } of includesOf(key)) {
        if (merge === 'no_merge') continue;
        for (const [name, value] of filled(file, units.get(file)?.unit?.inputs ?? [])) {
          all.set(prefix + name, value);
          if (merge?.startsWith('deep') && typeof value !== 'string') deep.add(prefix + name);
        }
      }
      // Lists and maps that are joined are not read.
      for (const [name, value] of own) all.set(name, deep.has(name) ? null : value);
      return all;
    },
  };
}

/** The file that another one names; undefined if it is not there. */
function fileOf(
  key: string,
  { isAbove, path, rest }: TerragruntParent,
  units: ReadonlyMap<string, TerraformStatements>,
): string | undefined {
  const own = folderOf(key);
  if (!isAbove) return existing(folderAt(own, path), units);
  let folder = own;
  for (let level = 0; level < maxLevels && folder.includes('/'); level += 1) {
    folder = folderOf(folder);
    const found = existing(`${folder}/${path}`, units);
    if (found !== undefined) return rest === undefined ? found : existing(folderAt(folderOf(found), rest), units);
  }
  return undefined;
}

/** More folders above are not those of a project. */
const maxLevels = 12;

function existing(key: string, units: ReadonlyMap<string, TerraformStatements>): string | undefined {
  return units.has(key) ? key : undefined;
}

/** The folder of a file. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/** The path that another one leads to from a folder. */
export function folderAt(folder: string, path: string): string {
  const parts = folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
