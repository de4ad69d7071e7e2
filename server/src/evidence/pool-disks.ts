import { onDisk } from '../model/node-disk.ts';
import type { NodeTerm, PoolDisk } from '../model/node-terms.ts';
import { parseQuantity } from '../model/quantity.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { type Field, type Fields, isFields } from './fields.ts';

// The disks of nodes, in the words of the tools that create pools. Several volumes count as the largest of them, so the size is an upper bound.

/**
 * The disk in a node class of Karpenter or EKS Auto Mode; null if it is unknown. Karpenter creates no node for pods that request more, whatever the user data do.
 * https://karpenter.sh/docs/concepts/nodeclasses/#specblockdevicemappings
 */
export function nodeClassDisk({ root, kind }: Manifest): PoolDisk | null {
  const spec = getIn(root, 'spec');
  const own = getIn(spec, 'osDiskSizeGB') ?? getIn(spec, 'ephemeralStorage', 'size');
  const mapped = items(getIn(spec, 'blockDeviceMappings')).map((volume) => getIn(volume, 'ebs', 'volumeSize'));
  const isLocal = asText(getIn(spec, 'instanceStorePolicy')) === 'RAID0';
  const local = isLocal ? 'instead' : kind === 'NodeClass' ? 'maybe' : 'no';
  if (isDefault(spec, kind)) return { giB: 20, local: 'no', byDefault: true };
  return diskOf((own === undefined ? mapped : [own]).map(written), local);
}

/**
 * Whether a class leaves the disks to Karpenter, which gives the nodes of these families 20 GiB for images and pods.
 * aws/karpenter-provider-aws@0546f042:pkg/providers/amifamily (DefaultBlockDeviceMappings), read 2026-11-30
 */
function isDefault(spec: Cursor | undefined, kind: string): boolean {
  if (spec === undefined || kind !== 'EC2NodeClass' || isIncomplete(spec)) return false;
  const setsDisks = ['blockDeviceMappings', 'instanceStorePolicy', 'userData', 'context'];
  if (setsDisks.some((field) => getIn(spec, field) !== undefined)) return false;
  const terms = items(getIn(spec, 'amiSelectorTerms'));
  const families = [getIn(spec, 'amiFamily'), ...terms.map((term) => getIn(term, 'alias'))];
  const [family, ...others] = families.flatMap((at) => (at === undefined ? [] : [asText(at)?.split('@', 1)[0] ?? '']));
  return family !== undefined && others.length === 0 && /^(?:al2|al2023|bottlerocket)$/i.test(family);
}

/** The disk of a node group of eksctl, unless its own scripts or launch template may set it. https://eksctl.io/usage/schema/ */
export function eksctlDisk(group: Cursor): NodeTerm {
  const size = getIn(group, 'volumeSize');
  const isOpen = entries(group).some((entry) => scripts.test(keyOf(entry)));
  return size === undefined || isOpen ? [] : onDisk(diskOf([written(size)], 'no'));
}

/** The disk of the nodes of a ComputeClass. https://cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass */
export function computeClassDisk(priority: Cursor): NodeTerm {
  const size = getIn(priority, 'storage', 'bootDiskSize');
  if (size === undefined) return [];
  const machine = asText(getIn(priority, 'machineType') ?? getIn(priority, 'machineFamily')) ?? '';
  const hasLocal = getIn(priority, 'storage', 'localSSDCount') !== undefined;
  return onDisk(diskOf([written(size)], hasLocal || !withoutLocal.test(machine) ? 'maybe' : 'no'));
}

/** The disk that the fields of a pool state. */
export function diskInFields(fields: Fields, machines: readonly (string | null)[]): NodeTerm {
  const sizes: (number | null)[] = [];
  let isOpen = false;
  let isLocal = false;
  // In modules of Terraform, the launch template of the module replaces this size.
  const isGroup = fields.has('cluster_name') || fields.get('use_custom_launch_template') === 'false';
  const visit = (field: Field, parent: string, depth: number): void => {
    if (depth > 8) return;
    if (Array.isArray(field)) for (const item of field) visit(item, parent, depth + 1);
    if (!isFields(field)) return;
    for (const [key, value] of field) {
      const word = key.replace(/[-_]/g, '').toLowerCase();
      if (/label|tag|annotation|taint/.test(word)) continue;
      if (scripts.test(word) && value !== 'false' && value !== '') isOpen = true;
      if (/localssd|localnvme|ephemeralstorage/.test(word) && value !== '0') isLocal = true;
      const isSize = sizeWords.test(word) || (word === 'size' && /^(?:root|boot|os)(?:volume|disk)$/.test(parent));
      if (isSize && !isFields(value) && (key !== 'disk_size' || isGroup)) sizes.push(giBOf(value));
      visit(value, word, depth + 1);
    }
  };
  visit(fields, '', 0);
  const isGoogle = machines.some((name) => name !== null && /^(?:n1|[ag]\d\w*)-/.test(name));
  const mayBeLocal = isLocal || (isGoogle && machines.some((name) => name === null || !withoutLocal.test(name)));
  return isOpen ? [] : onDisk(diskOf(sizes, mayBeLocal ? 'maybe' : 'no'));
}

const sizeWords = /^(?:(?:os|boot|root|node)?disksize(?:gi?b)?|sizegb|(?:root)?volumesize)$/;

/** Fields by which a pool may set up its disks otherwise. */
const scripts = /userdata(?!secret)|bootstrap|(?<!aws)launchtemplate|cloudinit|kubeletdisktype/i;

/** Machines of Google Cloud that have local disks only if the pool adds them. https://cloud.google.com/compute/docs/disks/local-ssd */
const withoutLocal = /^(?:n1|g2|g4|a2-(?:high|mega))(?:-|gpu|$)/;

/** null if a size is unknown, or if nothing is known. */
function diskOf(sizes: readonly (number | null)[], local: PoolDisk['local']): PoolDisk | null {
  const known = sizes.flatMap((size) => size ?? []);
  const giB = known.length === 0 || known.length < sizes.length ? null : Math.max(...known);
  return giB === null && local !== 'instead' ? null : { giB, local };
}

function written(size: Cursor | undefined): number | null {
  return size === undefined || isTemplated(size) ? null : giBOf(asText(size) ?? null);
}

/** Tools count in GiB, or write a quantity. */
function giBOf(value: Field): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Number(value);
  const bytes = parseQuantity(value.replace(/^(\d+)GB$/i, '$1Gi'));
  return bytes === null ? null : bytes / 2 ** 30;
}
