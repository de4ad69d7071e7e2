import type { NodePool } from '../model/node-pool.ts';
import { isStackPool } from '../model/stacks.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import { isPlaceholder } from '../yaml/placeholder.ts';
import { type Field, type Fields, fieldOf, isFields } from './fields.ts';
import { poolInFields } from './pool-fields.ts';

/**
 * The pools of a template of CloudFormation, with the resources that describe them.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-eks-nodegroup.html
 */
export function stackPools({ root }: Manifest): readonly { readonly pool: NodePool; readonly at: Cursor }[] {
  return entries(getIn(root, 'Resources')).flatMap((at) => {
    const properties = getIn(at, 'Properties');
    if (properties === undefined || !isStackPool(asText(getIn(at, 'Type')) ?? '')) return [];
    const written = resolved(fieldOf(properties, isUnread), root);
    if (!isFields(written)) return [];
    const machines = written.get('ComputeResources');
    const template = written.has('InstanceTypes') ? undefined : templateOf(properties, root);
    const name = written.get('ComputeEnvironmentName');
    const pool = poolInFields(
      isFields(machines) ? machines : new Map([...written, ...(template ?? [])]),
      typeof name === 'string' ? name : keyOf(at),
    );
    return pool === undefined ? [] : [{ pool, at }];
  });
}

/** The machine of the launch template that a group refers to by its name in the file. */
function templateOf(group: Cursor, root: Cursor): Fields | undefined {
  const id = getIn(group, 'LaunchTemplate', 'Id') ?? getIn(group, 'LaunchTemplate', 'Name');
  const data = getIn(
    root,
    'Resources',
    asText(id) ?? asText(getIn(id, 'Ref')) ?? '',
    'Properties',
    'LaunchTemplateData',
  );
  const fields = data === undefined ? null : resolved(fieldOf(data, isUnread), root);
  const machine = isFields(fields) ? fields.get('InstanceType') : undefined;
  return machine === undefined ? undefined : new Map([['InstanceTypes', machine]]);
}

/** CloudFormation's own tags are read: the text of `!Ref` is the name of a parameter. */
function isUnread(at: Cursor): boolean {
  return isTemplated(at) && !(at.node.kind === 'scalar' && !isPlaceholder(at.node.source));
}

/** A field with the defaults of parameters: the text of `!Ref GpuType` is its name. Other functions are unknown. */
function resolved(field: Field, root: Cursor): Field {
  if (typeof field === 'string') return field.includes('${') ? null : ofParameter(field, root);
  if (Array.isArray(field)) return field.map((one) => resolved(one, root));
  if (!isFields(field)) return field;
  const [[key, value] = ['', null], ...others] = [...field];
  if (others.length === 0 && key === 'Ref') return typeof value === 'string' ? ofParameter(value, root) : null;
  if (others.length === 0 && key.startsWith('Fn::')) return null;
  return new Map([...field].map(([name, one]) => [name, resolved(one, root)]));
}

function ofParameter(text: string, root: Cursor): string | null {
  const parameter = getIn(root, 'Parameters', text);
  return parameter === undefined ? text : (asText(getIn(parameter, 'Default')) ?? null);
}
