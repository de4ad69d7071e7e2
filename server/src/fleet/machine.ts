import {
  gpus,
  gpusByLabel,
  instanceType,
  isGpuCountLabel,
  isGpuLabel,
  nodeLabelMeaning,
  type Provider,
  providerOfLabel,
  spotSelector,
} from '../catalog/index.ts';
import { countIn } from '../model/count.ts';
import { modelsInLabel } from '../model/named-models.ts';
import type { ClusterNode } from './cluster-objects.ts';
import type { LiveCapacity, LiveModel } from './cluster-view.ts';

/** What the labels of a node say of its machine. */
export interface Machine {
  readonly instanceType: string | null;
  readonly provider: Provider | null;
  readonly region: string | null;
  readonly zone: string | null;
  readonly capacity: LiveCapacity | null;
  readonly model: LiveModel | null;
  /** Accelerators that it has by its labels or its instance type; null: unknown. */
  readonly devices: number | null;
}

/** The machine of a node. */
export function machineOfNode({ labels, providerId }: ClusterNode): Machine {
  const name = labels.get('node.kubernetes.io/instance-type') ?? labels.get('beta.kubernetes.io/instance-type') ?? null;
  const known = name === null ? undefined : instanceType(name);
  const provider = providerOf(labels, providerId) ?? known?.provider ?? null;
  const capacities = [...labels].flatMap(([key, value]) => spotSelector(key, value) ?? []);
  const region = labels.get('topology.kubernetes.io/region') ?? labels.get('failure-domain.beta.kubernetes.io/region');
  const zone = labels.get('topology.kubernetes.io/zone') ?? labels.get('failure-domain.beta.kubernetes.io/zone');
  return {
    instanceType: name,
    provider,
    region: region ?? null,
    zone: zone ?? null,
    // Azure and Google label only spot nodes, and a reservation says more than "standard".
    capacity:
      capacities.find((one) => one !== 'on-demand') ??
      capacities[0] ??
      (provider === 'gcp' || provider === 'azure' ? 'on-demand' : null),
    model: modelOf(labels),
    devices: devicesOf(labels, name),
  };
}

/** https://github.com/kubernetes/cloud-provider: the ID of a node begins with the name of its provider. */
const schemes: ReadonlyMap<string, Provider> = new Map([
  ['aws', 'aws'],
  ['gce', 'gcp'],
  ['azure', 'azure'],
  ['oci', 'oci'],
  ['ocid1.instance.oc1', 'oci'],
  ['coreweave', 'coreweave'],
]);

function providerOf(labels: ClusterNode['labels'], providerId: string): Provider | undefined {
  const scheme = /^(?:ocid1\.instance\.oc1|[a-z0-9]+(?=:\/\/))/.exec(providerId)?.[0] ?? '';
  const [byLabel] = [...labels.keys()].flatMap((key) => providerOfLabel(key) ?? []);
  return schemes.get(scheme) ?? byLabel;
}

/** The card that all labels name together; a card that the catalog does not have by the value of its label. */
function modelOf(labels: ClusterNode['labels']): LiveModel | null {
  let found: { readonly ids: readonly string[]; readonly from: string } | undefined;
  let unknown: LiveModel | null = null;
  for (const key of [...labels.keys()].sort(byMeaning)) {
    const value = labels.get(key) ?? '';
    const exact = gpusByLabel(key, value);
    const models = exact.length > 0 || !isGpuLabel(key) ? exact : modelsInLabel(key, [value]);
    if (models.length === 0) {
      if (isGpuLabel(key) && value !== '') unknown ??= { id: null, name: value, from: key };
      continue;
    }
    const ids = models.map(({ id }) => id);
    const both = found?.ids.filter((id) => ids.includes(id));
    if (both === undefined) found = { ids, from: key };
    else if (both.length > 0 && found !== undefined) found = { ids: both, from: found.from };
  }
  if (found === undefined) return unknown;
  const [id = '', ...others] = found.ids;
  const { from } = found;
  // What the card reports says more than a family of machines.
  if (others.length === 0) return { id, name: gpus.get(id)?.name ?? id, from };
  return unknown ?? { id: null, name: found.ids.map((one) => gpus.get(one)?.name ?? one).join(' or '), from };
}

/** Labels of cards before those of machines. */
function byMeaning(a: string, b: string): number {
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

function rank(key: string): number {
  const meaning = nodeLabelMeaning(key);
  if (meaning === 'gpu-model') return key === 'nvidia.com/gpu.product' ? 0 : 1;
  return meaning === 'instance-type' ? 2 : 3;
}

function devicesOf(labels: ClusterNode['labels'], name: string | null): number | null {
  for (const [key, value] of labels) if (isGpuCountLabel(key)) return countIn(value) ?? null;
  // Under the single strategy, GPU feature discovery counts slices.
  const isCut = /-MIG-/.test(labels.get('nvidia.com/gpu.product') ?? '');
  const counted = isCut ? null : countIn(labels.get('nvidia.com/gpu.count') ?? '');
  if (counted !== null && counted !== undefined && counted > 0) return counted;
  const type = name === null ? undefined : instanceType(name);
  const isSourced = type !== undefined && !type.unsourced.some((field) => field === 'all' || field === 'gpuCount');
  return isSourced && type.gpu !== null && Number.isInteger(type.gpuCount) ? type.gpuCount : null;
}

/** Whether the labels of a node say that it has an accelerator, whatever it offers. */
export function isAcceleratorNode({ labels }: ClusterNode, { model, devices }: Machine): boolean {
  if (labels.get('nvidia.com/gpu.present') === 'true' || (devices ?? 0) > 0) return true;
  if (model !== null) return true;
  // Displays and 3D controllers of NVIDIA and AMD, as node feature discovery labels them.
  for (const [key, value] of labels)
    if (value === 'true' && /^feature\.node\.kubernetes\.io\/pci-(?:030[02]_)(?:10de|1002)\.present$/.test(key))
      return true;
  return false;
}
