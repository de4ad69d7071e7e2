import { wordSet } from '../catalog/word-patterns.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  spanOf,
} from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';

/** Names that clouds and distributions give to classes of disks: https://kubernetes.io/docs/concepts/storage/storage-classes/ */
const names = wordSet(
  'managed-csi managed-csi-premium managed-premium local-path oci-bv hcloud-volumes openebs-hostpath',
  'do-block-storage linode-block-storage linode-block-storage-retain vultr-block-storage vultr-block-storage-hdd',
  'ceph-block rook-ceph-block',
);
/** Types of disks in the names of classes. Ceph's RBD shares only raw blocks between nodes. */
const types = wordSet('gp2 gp3 io1 io2 st1 sc1 ebs rwo rbd');
const shared = wordSet('efs fsx nfs file files fs rwx shared');

/** Whether a storage class has disks, which one node mounts at a time. */
export function isDiskClass(name: string): boolean {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  return names.has(name) || (words.some((word) => types.has(word)) && !words.some((word) => shared.has(word)));
}

/** A claim that several nodes are to mount, of a class of disks. */
export interface SharedDisk {
  readonly storageClass: string;
  readonly span: Span;
}

/** @param part the spec of a claim, or a part of values or of a custom resource that describes one */
export function sharedDisk(part: Cursor | undefined): SharedDisk | undefined {
  if (part === undefined || part.node.kind !== 'map' || isIncomplete(part)) return undefined;
  const named = (name: RegExp) => entries(part).find((one) => name.test(keyOf(one)));
  const [storageClass, mode] = [named(/^storageClass(?:Name)?$/), named(/^(?:volumeA|a)ccessModes?$/)];
  if (storageClass === undefined || mode === undefined || isTemplated(mode) || isTemplated(storageClass))
    return undefined;
  if (entries(part).some((one) => other.has(keyOf(one)) && !/^(?:|Filesystem)$/.test(asText(one) ?? '')))
    return undefined;
  const name = asText(storageClass) ?? '';
  const modes = [mode, ...items(mode)];
  const many = modes.find((one) => !isTemplated(one) && asText(one) === 'ReadWriteMany');
  return many === undefined || !isDiskClass(name) ? undefined : { storageClass: name, span: spanOf(many) };
}

/** A claim that exists, a volume that exists, or one without a file system. */
const other = wordSet('existingClaim claimName volumeName volumeMode');

/** The parts of values that most charts make volumes of. */
export function volumeParts(values: Cursor | undefined): readonly Cursor[] {
  return entries(values).filter((one) => /^(?:persist\w*|pvc|storage|(?:model)?cache)$/i.test(keyOf(one)));
}

/** The specs of the claims that a StatefulSet makes. */
export function claimTemplates(root: Cursor): readonly Cursor[] {
  return items(getIn(root, 'spec', 'volumeClaimTemplates')).flatMap((one) => getIn(one, 'spec') ?? []);
}
