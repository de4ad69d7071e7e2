import { countIn } from '../model/count.ts';
import type { NodePool } from '../model/node-pool.ts';
import { type Field, type Fields, fieldNamed, isFields, isTemplateText } from './fields.ts';

// The machines that an autoscaling group mixes, in the words of several tools. https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-mixed-instances-groups.html

/** The field of a group, in the words of Terraform. */
export const mixedPolicy = 'mixed_instances_policy';

/** What a policy says about the nodes of a group. */
export interface MixedInstances {
  /** Instead of the machine of its launch template; null for one that is unknown. Empty: the policy names none. */
  readonly types: readonly (string | null)[];
  readonly capacities: readonly string[];
  readonly share: Pick<NodePool, 'onDemandShare'>;
  /** The size of the group counts units, of which some machines have several. */
  readonly isWeighted: boolean;
}

/** The policy of a group; undefined for a group without one, and where a module does not use it. */
export function mixedInstancesOf(fields: Fields): MixedInstances | undefined {
  const policy = mappingIn(fieldNamed(fields, 'mixedinstancespolicy'));
  if (policy === undefined || fieldNamed(fields, 'usemixedinstancespolicy') === 'false') return undefined;
  const owners = [policy, mappingIn(fieldNamed(policy, 'launchtemplate'))].flatMap((one) => one ?? []);
  // kOps has the distribution in the policy: https://kops.sigs.k8s.io/instance_groups/#mixedinstancespolicy-aws-only
  const distribution = mappingIn(fieldNamed(policy, 'instancesdistribution')) ?? policy;
  const number = (keys: readonly string[], unset: number) => {
    const written = fieldNamed(distribution, ...keys);
    return written === undefined ? unset : countIn(typeof written === 'string' ? written : undefined);
  };
  const base = number(['ondemandbasecapacity', 'ondemandbase'], 0);
  const percent = number(['ondemandpercentageabovebasecapacity', 'ondemandabovebase'], 100);
  const isAllSpot = percent === 0 && base === 0;
  return {
    types: owners.flatMap(overridesIn),
    isWeighted: owners.some((one) => [fieldNamed(one, ...overrideKeys) ?? []].flat().some(isHeavy)),
    capacities: percent !== null && percent >= 100 ? [] : isAllSpot ? ['spot'] : ['spot', 'on-demand'],
    share: base === null || percent === null || percent > 100 ? {} : { onDemandShare: { base, percent } },
  };
}

/** The launch template of a policy. */
export function templateInPolicy(fields: Fields): Field | undefined {
  const owner = mappingIn(mappingIn(fields.get(mixedPolicy))?.get('launch_template'));
  return owner?.get('launch_template_specification');
}

/** Blocks, a list, or `dynamic "override"`, whose copies have the machines that it lists. */
function overridesIn(owner: Fields): readonly (string | null)[] {
  const written = [fieldNamed(owner, ...overrideKeys) ?? []]
    .flat()
    .map((one) => (isFields(one) ? typeIn(one) : textIn(one)));
  const listed = [owner.get('dynamic') ?? []].flat().flatMap((block) => {
    const each = isFields(block) ? block.get('for_each') : null;
    return Array.isArray(each) ? each.map((one) => (isFields(one) ? typeIn(one) : textIn(one))) : [null];
  });
  return [...written, ...listed];
}

const overrideKeys = ['override', 'overrides', 'instances'];

function isHeavy(override: Field): boolean {
  return isFields(override) && (fieldNamed(override, 'weightedcapacity') ?? '1') !== '1';
}

/** Of an override by requirements, the machine is unknown. */
function typeIn(override: Fields): string | null {
  return textIn(fieldNamed(override, 'instancetype'));
}

function textIn(field: Field | undefined): string | null {
  return typeof field === 'string' ? field : null;
}

/** A mapping, or a block, which HCL has as a list. */
function mappingIn(field: Field | undefined): Fields | undefined {
  const one = Array.isArray(field) ? field[0] : field;
  return isFields(one) && !isTemplateText(one) ? one : undefined;
}
