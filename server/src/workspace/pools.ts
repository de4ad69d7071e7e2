import { instanceType, isInstanceTypeLabel, providerOfLabel } from '../catalog/index.ts';
import { type GpuPool, gpuPools } from '../evidence/gpu-pools.ts';
import type { PoolFacts } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { NodeTaint } from '../model/options.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asString,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
} from '../yaml/cursor.ts';
import { type Table, table, tableOf } from '../yaml/table.ts';

/** The pools of GPU nodes that an object describes: their own labels and their taints. */
export function poolsOf(manifest: Manifest): readonly PoolFacts[] {
  if (manifest.kind === 'ComputeClass') return computeClass(manifest);
  const karpenter = groupOf(manifest.apiVersion) === 'karpenter.sh';
  return gpuPools(manifest).map((pool) => ({
    labels: karpenter ? karpenterLabels(pool, manifest) : eksctlLabels(pool),
    taints: items(pool.taints).length > 0 ? items(pool.taints).flatMap(taint) : mappedTaints(pool.taints),
    // https://learn.microsoft.com/azure/aks/use-nvidia-gpu says it of AKS; EKS has no such plugin.
    toleratesRequested: karpenter && isOnAzure(pool),
    open:
      isIncomplete(pool.owner) ||
      isIncomplete(pool.taints) ||
      isTemplated(pool.taints) ||
      items(pool.taints).some(isUnknown),
    chosen: false,
  }));
}

/** Whether a pool's nodes are Azure's: by its class of nodes, or by a label or a type of machine that only Azure has. */
function isOnAzure({ owner }: GpuPool): boolean {
  const nodes = getIn(owner, 'nodeClassRef') ?? getIn(owner, 'providerRef');
  const group = asText(getIn(nodes, 'group')) ?? groupOf(asText(getIn(nodes, 'apiVersion')) ?? '');
  if (group === 'karpenter.azure.com' || asText(getIn(nodes, 'kind')) === 'AKSNodeClass') return true;
  return items(getIn(owner, 'requirements')).some((requirement) => {
    const key = asText(getIn(requirement, 'key')) ?? '';
    const types = isInstanceTypeLabel(key) ? items(getIn(requirement, 'values')) : [];
    return (
      providerOfLabel(key) === 'azure' || types.some((type) => instanceType(asText(type) ?? '')?.provider === 'azure')
    );
  });
}

/**
 * GKE lets pods that select a compute class onto its nodes, past the taint that these have of the class. Taints of its own it does not tolerate for
 * anybody. https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass
 */
function computeClass({ root, name }: Manifest): readonly PoolFacts[] {
  const config = getIn(root, 'spec', 'nodePoolConfig');
  const taints = getIn(config, 'taints');
  if (name === null) return [];
  // Node pools that somebody made by hand may have any.
  const byHand = items(getIn(root, 'spec', 'priorities')).some(
    (priority) => getIn(priority, 'nodepools') !== undefined,
  );
  const unknown = isTemplated(taints) || items(taints).some(isUnknown) || [config, taints].some(isIncomplete);
  return [
    {
      labels: table(labelsAt(getIn(config, 'nodeLabels')), { 'cloud.google.com/compute-class': name }),
      taints: items(taints).flatMap(taint),
      toleratesRequested: true,
      open: byHand || unknown,
      chosen: true,
    },
  ];
}

/** https://karpenter.sh/docs/concepts/nodepools/: its own labels, its name, and requirements that leave one value. */
function karpenterLabels({ owner, name }: GpuPool, { root, kind }: Manifest): Table<string> {
  const metadata = kind === 'NodePool' ? getIn(root, 'spec', 'template', 'metadata') : getIn(root, 'spec');
  const required = items(getIn(owner, 'requirements')).flatMap((requirement): [string, string][] => {
    const [only, ...others] = items(getIn(requirement, 'values'));
    if (only === undefined || others.length > 0 || asString(getIn(requirement, 'operator')) !== 'In') return [];
    return isTemplated(only) ? [] : [[asText(getIn(requirement, 'key')) ?? '', asText(only) ?? '']];
  });
  const own = kind === 'NodePool' ? 'karpenter.sh/nodepool' : 'karpenter.sh/provisioner-name';
  return tableOf([
    ...required,
    ...Object.entries(labelsAt(getIn(metadata, 'labels'))),
    ...(name === null ? [] : [[own, name] as const]),
  ]);
}

/** https://eksctl.io/usage/schema/ */
function eksctlLabels({ owner, name }: GpuPool): Table<string> {
  const named =
    name === null ? undefined : { 'alpha.eksctl.io/nodegroup-name': name, 'eks.amazonaws.com/nodegroup': name };
  return table(labelsAt(getIn(owner, 'labels')), named);
}

function labelsAt(map: Cursor | undefined): Table<string> {
  return tableOf(
    entries(map).flatMap((entry) => (isTemplated(entry) ? [] : [[keyOf(entry), asText(entry) ?? ''] as const])),
  );
}

function taint(item: Cursor): readonly NodeTaint[] {
  const key = asText(getIn(item, 'key'));
  const effect = asText(getIn(item, 'effect'));
  if (key === undefined || !isEffect(effect)) return [];
  return [{ key, value: asText(getIn(item, 'value')) ?? '', effect }];
}

/** eksctl's earlier form: `nvidia.com/gpu: "true:NoSchedule"`. */
function mappedTaints(map: Cursor | undefined): readonly NodeTaint[] {
  return entries(map).flatMap((entry) => {
    const [value = '', effect] = (asText(entry) ?? '').split(':');
    return isEffect(effect) ? [{ key: keyOf(entry), value, effect }] : [];
  });
}

function isEffect(text: string | undefined): text is NodeTaint['effect'] {
  return text === 'NoSchedule' || text === 'PreferNoSchedule' || text === 'NoExecute';
}

function isUnknown(item: Cursor): boolean {
  return isIncomplete(item) || entries(item).some(isTemplated);
}
