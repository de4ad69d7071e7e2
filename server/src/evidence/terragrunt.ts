import { type Fields, isFields } from './fields.ts';
import { readHcl } from './hcl.ts';

// A unit of Terragrunt: a module and what it gets. https://terragrunt.gruntwork.io/docs/reference/hcl/blocks/#terraform

/** Whether a file is a unit of Terragrunt, or what units include, by its name. */
export function isTerragrunt(name: string): boolean {
  return name.endsWith('.hcl') && !/\.(?:lock|pkr|pkrvars)\.hcl$/.test(name);
}

/** Another file that a unit or its parent reads. */
export interface TerragruntParent {
  /** The name of its values: `include.root`, `local.env_vars`. */
  readonly name: string;
  /** It is in the closest folder above that has it. */
  readonly isAbove: boolean;
  /** The relative path, from there or from the folder of the file. */
  readonly path: string;
  /** The path from the folder of that file to the one that is meant. */
  readonly rest?: string;
  /** How its inputs are merged, unless by their names. */
  readonly merge?: string;
}

/** The files that a file includes, and those that it reads for local values. https://terragrunt.gruntwork.io/docs/features/includes/ */
export function terragruntParents(text: string): readonly TerragruntParent[] {
  return text.split('\n').flatMap((line, at, lines) => {
    const [, local, read] = /^\s*([\w-]{1,60})\s*=\s*read_terragrunt_config\((.{1,200})\)/.exec(line) ?? [];
    if (local !== undefined) return parentAt(`local.${local}`, read ?? '');
    const [, label] = /^\s*include\s*(?:"?([\w-]{1,60})"?\s*)?\{/.exec(line) ?? [undefined, null];
    if (label === null) return [];
    const rest = lines.slice(at, at + 8);
    const body = rest.slice(0, rest.findIndex((one) => /^\s*\}/.test(one)) + 1 || rest.length);
    const path = body.find((one) => /\bpath\s*=/.test(one));
    const [, merge] = /\bmerge_strategy\s*=\s*"(\w{1,20})"/.exec(body.join('\n')) ?? [];
    if (path === undefined) return [];
    const parents = parentAt(`include.${label ?? ''}`, path.slice(path.indexOf('=') + 1));
    return merge === undefined ? parents : parents.map((parent) => ({ ...parent, merge }));
  });
}

/** `find_in_parent_folders("env.hcl")`, `"${get_terragrunt_dir()}/../env.hcl"`, `"${dirname(find_in_parent_folders("root.hcl"))}/env.hcl"`. */
function parentAt(name: string, written: string): readonly TerragruntParent[] {
  const [found, above] = /find_in_parent_folders\((?:"([\w./-]*)")?\)/.exec(written) ?? [];
  const [, rest] = /\}\/([\w./-]+)"/.exec(written) ?? [];
  if (found !== undefined) return [{ name, isAbove: true, path: above ?? 'terragrunt.hcl', ...(rest && { rest }) }];
  if (rest !== undefined) return written.includes('get_terragrunt_dir()') ? [{ name, isAbove: false, path: rest }] : [];
  const [, plain] = /^\s*"([\w./-]+)"/.exec(written) ?? [];
  return plain === undefined ? [] : [{ name, isAbove: false, path: plain }];
}

export interface TerragruntUnit {
  /** The relative folder of its module; null for one that is elsewhere or computed. */
  readonly source: string | null;
  /** The module as written, such as one of the registry. */
  readonly module: string | null;
  readonly inputs: Fields;
  readonly locals: Fields;
}

const none: Fields = new Map();

/** The module of a unit, and what it gets. */
export function terragruntUnit(text: string): TerragruntUnit {
  // Indented, because `locals` at the start of a line ends the blocks around it.
  const body = readHcl(`unit {\n ${text.replaceAll('\n', '\n ')}\n}`).find(({ type }) => type === 'unit')?.body ?? none;
  const block = (name: string) => {
    const [first] = [body.get(name)].flat();
    return isFields(first) ? first : none;
  };
  const written = block('terraform').get('source');
  const source = typeof written === 'string' ? written : null;
  const inputs = body.get('inputs');
  return {
    // Two slashes part what is copied from the folder in it.
    source: source?.startsWith('.') ? source.replace('//', '/') : null,
    // `tfr:///terraform-aws-modules/eks/aws?version=20.0.0`
    module: source === null ? null : source.replace(/^tfr:\/\/\/?/, '').replace(/\?.*$/s, ''),
    inputs: isFields(inputs) ? inputs : none,
    locals: block('locals'),
  };
}
