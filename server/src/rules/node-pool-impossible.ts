import { allInstanceTypes, gpus, hasArmHost, isInstanceTypeLabel } from '../catalog/index.ts';
import { impossibleCards } from '../evidence/google-pools.ts';
import { type GpuPool, gpuPools } from '../evidence/gpu-pools.ts';
import { listedMeant } from '../evidence/listed-labels.ts';
import { gigabyteEffect } from '../evidence/number-labels.ts';
import { reservedLabels } from '../evidence/reserved-node-labels.ts';
import { isAllowed } from '../model/machine-terms.ts';
import { groupOf } from '../model/manifest.ts';
import { lowerRequirement, type NodeRequirement } from '../model/node-terms.ts';
import { lowerQuantity } from '../model/quantity.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A GPU pool that never starts a node: no machine meets its requirements, or one of its labels is reserved.
 *
 * ## Why
 *
 * A node must meet all requirements of its pool. If the named machines do not meet one of them, for example another GPU or another
 * architecture, no machine is left. Limits also exclude machines: Karpenter starts none that has more of a resource than the limits leave.
 * In both cases the pool looks ready, and its pods stay Pending. Labels such as `node-role.kubernetes.io/gpu` can only be set by an administrator:
 * Karpenter and eksctl reject them, and a kubelet that gets one does not start. On Google Cloud, each family of machines has its own GPUs: an L4 only
 * comes with G2, and a T4 only with N1.
 *
 * ```yaml invalid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   limits:
 *     nvidia.com/gpu: 4
 *   template:
 *     spec:
 *       requirements:
 *         - key: node.kubernetes.io/instance-type
 *           operator: In
 *           values: [p4d.24xlarge]
 *       taints:
 *         - key: nvidia.com/gpu
 *           effect: NoSchedule
 * ```
 *
 * ```yaml valid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   limits:
 *     nvidia.com/gpu: 16
 *   template:
 *     spec:
 *       requirements:
 *         - key: node.kubernetes.io/instance-type
 *           operator: In
 *           values: [p4d.24xlarge]
 *       taints:
 *         - key: nvidia.com/gpu
 *           effect: NoSchedule
 * ```
 *
 * ## When it is silent
 *
 * For pools that name neither instance types nor families, or one that is unknown here; for templated requirements; for limits of 0, which turn
 * a pool off. Sizes of a family are a warning, because a cloud may add smaller ones.
 *
 * ## Sources
 *
 * - [Karpenter: NodePools](https://karpenter.sh/docs/concepts/nodepools/)
 * - [Kubernetes: NodeRestriction](https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction)
 * - [aws/karpenter-provider-aws#8068](https://github.com/aws/karpenter-provider-aws/issues/8068)
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  manifest(manifest, context) {
    for (const { at, key, problem } of reservedLabels(manifest))
      context.report({
        message: `${shorten(key, 50)} is in Kubernetes' own domain, where nodes cannot label themselves: ${problem}`,
        span: keySpanOf(at),
      });
    for (const { at, problem } of impossibleCards(manifest))
      context.report({
        severity: 'warning',
        message: `${problem}: the pool never starts such nodes`,
        span: spanOf(at),
      });
    if (groupOf(manifest.apiVersion) !== 'karpenter.sh') return;
    for (const pool of gpuPools(manifest)) {
      const list = getIn(pool.owner, 'requirements');
      if (list === undefined || isUnseen(list)) continue;
      for (const requirement of items(list)) checkMemory(requirement, context);
      checkMachines(pool, items(list), context);
    }
  },
});

/** Reports an amount of memory in GB. */
function checkMemory(requirement: Cursor, { report }: RuleContext): void {
  const [term] = lowerRequirement(requirement);
  const operator = term?.operator ?? '';
  const effects = term?.values.map((value) => gigabyteEffect(term.key, operator, value)) ?? [];
  const [effect] = effects;
  // One of several values may be correct.
  if (term === undefined || effect === undefined || effects.includes(undefined) || isUnseen(requirement)) return;
  const then = effect === 'all' ? 'excludes no machine' : 'matches none, and the pool never starts a node';
  report({
    severity: 'warning',
    message: `${shorten(term.key, 50)} is in MiB, not in GB: ${operator} ${shorten(term.values.join(', '), 20)} ${then}`,
    span: spanOf(getIn(requirement, 'values') ?? requirement),
  });
}

type Machine = ReturnType<typeof allInstanceTypes>[number];

/** The machines that a requirement names, all of which must be known. Values of families leave their sizes open. */
function namedMachines({ key, operator, values }: NodeRequirement): readonly Machine[] | undefined {
  if (operator !== 'In' || values.length === 0 || !(isInstanceTypeLabel(key) || isFamily(key))) return undefined;
  const found = values.map((value) =>
    allInstanceTypes().filter((machine) => isAllowed([[{ key, operator, values: [value] }]], machine)),
  );
  return found.some((machines) => machines.length === 0) ? undefined : found.flat();
}

function isFamily(key: string): boolean {
  return /^(?:karpenter\.k8s|eks\.amazonaws)\.\w+\/instance-family$|^eks\.amazonaws\.com\/instance-family$/.test(key);
}

function isMisspelled({ key, operator, values }: NodeRequirement): boolean {
  return operator === 'In' && values.every((value) => listedMeant(key, value) !== undefined);
}

function checkMachines({ spec }: GpuPool, requirements: readonly Cursor[], { report }: RuleContext): void {
  const read = requirements.map((at) => ({ at, term: lowerRequirement(at)[0] }));
  if (
    requirements.some((one) => isUnseen(one) || isUnseen(getIn(one, 'values'))) ||
    read.some(({ term }) => term === undefined)
  )
    return;
  const naming = read.find(({ term }) => term !== undefined && namedMachines(term) !== undefined);
  let left = naming?.term === undefined ? [] : (namedMachines(naming.term) ?? []);
  if (naming?.term === undefined || left.length === 0) return;
  const { key, values } = naming.term;
  const names = shorten(values.join(', '), 40);
  const open = !isInstanceTypeLabel(key);
  for (const { at, term } of read) {
    // selector-value reports another spelling of a label's values.
    if (term === undefined || term === naming.term || isMisspelled(term)) continue;
    const kept = left.filter((machine) => isMet(term, machine));
    if (kept.length === 0) {
      const label = term.key.slice(term.key.lastIndexOf('/') + 1);
      report({
        severity: open && !sameForAll.test(label) ? 'warning' : 'error',
        message: `No machine of ${names} has ${label} ${shorten(said(term), 40)}: the pool never starts a node`,
        span: spanOf(getIn(at, 'key') ?? at),
      });
      return;
    }
    left = kept;
  }
  checkLimits(getIn(spec, 'limits', 'resources') ?? getIn(spec, 'limits'), left, open, report);
}

/** Labels that are the same for all sizes of a family. */
const sameForAll = /-(?:name|manufacturer|category|generation|family)$|^arch$/;

function said({ operator, values }: NodeRequirement): string {
  return operator === 'In' ? values.join(' or ') : `${operator} ${values.join(', ')}`.trim();
}

function isMet(term: NodeRequirement, machine: Machine): boolean {
  // A part of a GPU is one device.
  if ((machine.gpuCount ?? 0) % 1 > 0 && term.key.endsWith('gpu-count')) return true;
  if (term.key !== 'kubernetes.io/arch') return isAllowed([[term]], machine);
  if (term.operator !== 'In') return true;
  return (
    term.values.includes(isArm(machine) ? 'arm64' : 'amd64') || !term.values.every((one) => /^a[mr][dm]64$/.test(one))
  );
}

/** Grace and Graviton. */
function isArm({ gpu }: Machine): boolean {
  const model = gpus.get(gpu ?? '');
  return model !== undefined && hasArmHost(model);
}

const amounts = table<(machine: Machine) => number | null>({
  cpu: ({ vcpu }) => vcpu,
  memory: ({ memoryGiB }) => (memoryGiB === null ? null : memoryGiB * 2 ** 30),
  'nvidia.com/gpu': ({ gpuCount, gpu }) => (gpu === null ? null : gpuCount),
});

/** Reports a limit that even the smallest machine exceeds. */
function checkLimits(
  limits: Cursor | undefined,
  machines: readonly Machine[],
  open: boolean,
  report: RuleContext['report'],
): void {
  if (limits === undefined || isIncomplete(limits)) return;
  for (const at of entries(limits)) {
    const amount = amounts[keyOf(at)];
    const { value } = lowerQuantity(at);
    if (amount === undefined || value === null || value === 0 || isUnseen(at)) continue;
    const each = machines.map(amount);
    if (each.some((one) => one === null)) continue;
    const [least] = [...machines].sort((a, b) => (amount(a) ?? 0) - (amount(b) ?? 0));
    const smallest = least === undefined ? 0 : (amount(least) ?? 0);
    // A node has a part of its machine's memory.
    if (least === undefined || value >= smallest * (keyOf(at) === 'memory' ? 0.9 : 1)) continue;
    const shown = keyOf(at) === 'memory' ? `${smallest / 2 ** 30}Gi` : String(smallest);
    report({
      severity: open ? 'warning' : 'error',
      message: `The limit of ${asText(at) ?? ''} ${keyOf(at)} is below one node (${least.name} has ${shown}): Karpenter never starts one`,
      span: spanOf(at),
    });
    return;
  }
}
