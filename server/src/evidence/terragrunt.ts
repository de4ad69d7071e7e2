import { type Fields, isFields } from './fields.ts';
import { readHcl } from './hcl.ts';

// A unit of Terragrunt: a module and what it gets. https://terragrunt.gruntwork.io/docs/reference/hcl/blocks/#terraform

/** Whether a file is a unit of Terragrunt, by its name. Other files of its language have any names. */
export function isTerragrunt(name: string): boolean {
  return /(?:^|\/)terragrunt\.hcl$/.test(name);
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
  const body = readHcl(`unit {\n${text}\n}`).find(({ type }) => type === 'unit')?.body ?? none;
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
