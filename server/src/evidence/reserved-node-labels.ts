import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import { gpuPools, poolsByFields } from './gpu-pools.ts';

/** A label that a pool may not give its nodes, with who rejects it. */
export interface ReservedLabel {
  readonly at: Cursor;
  readonly key: string;
  readonly problem: string;
}

/**
 * The labels of GPU pools in the domains of Kubernetes. A kubelet configured to give itself one of them, such as a role, does not start; eksctl and
 * Karpenter reject them before. https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
 */
export function reservedLabels(manifest: Manifest): readonly ReservedLabel[] {
  const { root, kind, apiVersion } = manifest;
  const group = groupOf(apiVersion);
  const labels = (at: Cursor | undefined, problem: string, allowed: RegExp) =>
    entries(at)
      .filter((entry) => !isTemplated(entry) && isReserved(keyOf(entry), allowed))
      .map((entry) => ({ at: entry, key: keyOf(entry), problem }));
  if (group === 'karpenter.sh') {
    if (gpuPools(manifest).length === 0) return [];
    const path = kind === 'NodePool' ? ['spec', 'template', 'metadata', 'labels'] : ['spec', 'labels'];
    return labels(getIn(root, ...path), 'Karpenter rejects the pool', allowedByKarpenter);
  }
  if (group === 'eksctl.io')
    return gpuPools(manifest).flatMap(({ owner }) =>
      labels(getIn(owner, 'labels'), 'eksctl rejects the node group', allowedByKubelet),
    );
  if (!/^(?:NodeGroup|Nodegroup|AWSManagedMachinePool)$/.test(kind)) return [];
  const spec = getIn(root, 'spec');
  return poolsByFields(manifest).flatMap(() =>
    labels(
      getIn(spec, 'forProvider', 'labels') ?? getIn(spec, 'labels'),
      'the kubelet does not start',
      allowedByKubelet,
    ),
  );
}

function isReserved(key: string, allowed: RegExp): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  return /(?:^|\.)(?:kubernetes|k8s)\.io$/.test(domain) && !allowed.test(domain) && !wellKnown.test(key);
}

const allowedByKubelet = /(?:^|\.)(?:kubelet|node)\.kubernetes\.io$/;
const allowedByKarpenter = /(?:^|\.)(?:node|node-restriction)\.kubernetes\.io$|^kops\.k8s\.io$/;

/** Labels that every node has, which some tools repeat. */
const wellKnown =
  /^(?:(?:beta\.)?kubernetes\.io\/(?:arch|os|hostname|instance-type)|(?:failure-domain(?:\.beta)?|topology)\.kubernetes\.io\/(?:zone|region))$/;
