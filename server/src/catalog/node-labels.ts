import { type Table, table } from '../yaml/table.ts';
import { isSlip } from './spelling.ts';
import type { Provider, Source } from './types.ts';
import { wordSet } from './word-patterns.ts';

/** What the value of a node label names. */
export type NodeLabelMeaning =
  | 'gpu-model'
  | 'gpu-memory'
  | 'gpu-count'
  | 'instance-type'
  | 'instance-family'
  | 'capacity';

interface NodeLabel extends Source {
  readonly names: NodeLabelMeaning;
  /** For `capacity`: what each value selects. */
  readonly capacity?: Table<SelectedCapacity>;
  /** What any other value selects. */
  readonly otherCapacity?: SelectedCapacity;
}

export type SelectedCapacity = 'spot' | 'on-demand' | 'reserved' | 'flex';

const kubernetes = { source: 'https://kubernetes.io/docs/reference/labels-annotations-taints/', date: null };
const karpenterAws = { source: 'aws/karpenter-provider-aws@1d927085:pkg/apis/v1/labels.go', date: '2026-08-21' };
const karpenterAzure = {
  source: 'Azure/karpenter-provider-azure@00ae1126:pkg/apis/v1beta1/labels.go',
  date: '2026-11-22',
};
const autoMode = { source: 'https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html', date: null };
const flexStart = {
  source: 'https://cloud.google.com/kubernetes-engine/docs/how-to/dws-flex-start-training',
  date: null,
};
const reservations = {
  source: 'https://cloud.google.com/kubernetes-engine/docs/how-to/consuming-reservations',
  date: null,
};
const preemptible = {
  source: 'https://docs.oracle.com/iaas/Content/ContEng/Tasks/contengusingpreemptiblecapacity.htm',
  date: null,
};
const unsourced = { source: 'unsourced', date: null };
const capacityOf = (origin: Source, values: Table<SelectedCapacity>): NodeLabel => ({
  names: 'capacity',
  capacity: values,
  ...origin,
});

/** Every node label that gpulint understands. gpus.json has the GPU models that each value selects. */
const labels = table<NodeLabel>({
  'nvidia.com/gpu.product': { names: 'gpu-model', source: 'NVIDIA/k8s-device-plugin@1b826acc', date: '2026-08-19' },
  'amd.com/gpu.product-name': { names: 'gpu-model', ...unsourced },
  'beta.amd.com/gpu.product-name': { names: 'gpu-model', ...unsourced },
  'cloud.google.com/gke-accelerator': { names: 'gpu-model', ...unsourced },
  'cloud.google.com/gke-tpu-accelerator': { names: 'gpu-model', ...unsourced },
  'karpenter.k8s.aws/instance-gpu-name': { names: 'gpu-model', ...karpenterAws },
  'karpenter.k8s.aws/instance-accelerator-name': { names: 'gpu-model', ...karpenterAws },
  'eks.amazonaws.com/instance-gpu-name': { names: 'gpu-model', ...autoMode },
  'karpenter.azure.com/sku-gpu-name': { names: 'gpu-model', ...karpenterAzure },
  'gpu.nvidia.com/class': { names: 'gpu-model', ...unsourced },
  'gpu.nvidia.com/model': { names: 'gpu-model', ...unsourced },

  'karpenter.k8s.aws/instance-gpu-memory': { names: 'gpu-memory', ...karpenterAws },
  'eks.amazonaws.com/instance-gpu-memory': { names: 'gpu-memory', ...autoMode },

  'cloud.google.com/gke-accelerator-count': { names: 'gpu-count', ...unsourced },
  'karpenter.k8s.aws/instance-gpu-count': { names: 'gpu-count', ...karpenterAws },
  'karpenter.k8s.aws/instance-accelerator-count': { names: 'gpu-count', ...karpenterAws },
  'eks.amazonaws.com/instance-gpu-count': { names: 'gpu-count', ...autoMode },
  'eks.amazonaws.com/instance-accelerator-count': { names: 'gpu-count', ...unsourced },
  'karpenter.azure.com/sku-gpu-count': { names: 'gpu-count', ...karpenterAzure },

  'node.kubernetes.io/instance-type': { names: 'instance-type', ...kubernetes },
  'beta.kubernetes.io/instance-type': { names: 'instance-type', ...kubernetes },
  'karpenter.azure.com/sku-name': { names: 'instance-type', ...karpenterAzure },

  'karpenter.k8s.aws/instance-family': { names: 'instance-family', ...karpenterAws },
  'eks.amazonaws.com/instance-family': { names: 'instance-family', ...autoMode },
  'cloud.google.com/machine-family': { names: 'instance-family', ...unsourced },

  'cloud.google.com/gke-spot': capacityOf(unsourced, table({ true: 'spot' })),
  'cloud.google.com/gke-preemptible': capacityOf(unsourced, table({ true: 'spot' })),
  'cloud.google.com/gke-provisioning': capacityOf(
    unsourced,
    table({
      spot: 'spot',
      preemptible: 'spot',
      standard: 'on-demand',
    }),
  ),
  'cloud.google.com/gke-flex-start': capacityOf(flexStart, table({ true: 'flex' })),
  'cloud.google.com/gke-queued': capacityOf(flexStart, table({ true: 'flex' })),
  'cloud.google.com/reservation-name': { ...capacityOf(reservations, table()), otherCapacity: 'reserved' },
  'karpenter.sh/capacity-type': capacityOf(
    karpenterAws,
    table({
      spot: 'spot',
      'on-demand': 'on-demand',
      reserved: 'reserved',
    }),
  ),
  'eks.amazonaws.com/capacityType': capacityOf(
    unsourced,
    table({
      SPOT: 'spot',
      ON_DEMAND: 'on-demand',
      CAPACITY_BLOCK: 'reserved',
    }),
  ),
  'kubernetes.azure.com/scalesetpriority': capacityOf(karpenterAzure, table({ spot: 'spot', regular: 'on-demand' })),
  'oci.oraclecloud.com/oke-is-preemptible': capacityOf(preemptible, table({ true: 'spot' })),
  'kubernetes.azure.com/priority': capacityOf(karpenterAzure, table({ spot: 'spot', regular: 'on-demand' })),
});

/** What a node label names; undefined for labels that gpulint does not understand. */
export function nodeLabelMeaning(key: string): NodeLabelMeaning | undefined {
  return labels[key]?.names;
}

/** Every node label that gpulint understands. */
export function nodeLabels(): readonly string[] {
  return Object.keys(labels);
}

/**
 * Labels that describe accelerators without naming one.
 * Sources: NVIDIA/k8s-device-plugin@1b826acc:docs/gpu-feature-discovery/README.md; https://cloud.google.com/kubernetes-engine/docs/how-to/gpus.
 */
const otherLabels = [
  ...['present', 'count', 'memory', 'family', 'machine', 'replicas', 'sharing-strategy', 'compute.major'].map(
    (name) => `nvidia.com/gpu.${name}`,
  ),
  ...['capable', 'strategy', 'config'].map((name) => `nvidia.com/mig.${name}`),
  ...[
    'tpu-topology',
    'gpu-driver-version',
    'gpu-sharing-strategy',
    'gpu-partition-size',
    'max-shared-clients-per-gpu',
  ].map((name) => `cloud.google.com/gke-${name}`),
  'intel.feature.node.kubernetes.io/gpu',
];

/**
 * The node label that an unknown one in the same domain stands for: the same letters with other separators, or one slip away. Undefined if it is a known
 * label, like none, or like several.
 */
export function meantNodeLabel(key: string): string | undefined {
  const all = [...nodeLabels(), ...otherLabels];
  if (all.includes(key) || !key.includes('/')) return undefined;
  const letters = key.toLowerCase().replace(/[._-]/g, '');
  const same = all.filter((known) => known.toLowerCase().replace(/[._-]/g, '') === letters);
  const [meant, ...others] = same.length > 0 ? same : all.filter((known) => isSlip(key, known));
  return others.length === 0 && meant?.split('/')[0] === key.split('/')[0] ? meant : undefined;
}

/** Whether a label names an accelerator model (nvidia.com/gpu.product, cloud.google.com/gke-accelerator ...). */
export function isGpuLabel(key: string): boolean {
  return nodeLabelMeaning(key) === 'gpu-model';
}

/** Whether a label's value is a node's number of accelerators. */
export function isGpuCountLabel(key: string): boolean {
  return nodeLabelMeaning(key) === 'gpu-count';
}

/** Whether a label names a provider's instance type. */
export function isInstanceTypeLabel(key: string): boolean {
  return nodeLabelMeaning(key) === 'instance-type';
}

/** The capacity type that a node label selects; undefined if it selects none. Values must match exactly, as in Kubernetes. */
export function spotSelector(key: string, value: string): SelectedCapacity | undefined {
  const label = labels[key];
  if (label === undefined) return isOwnSpotLabel(key, value) ? 'spot' : undefined;
  return label.capacity?.[value] ?? label.otherCapacity;
}

/** Labels of people's own: `lifecycle: Ec2Spot`, `example.com/capacity: preemptible`, `spot: "true"`. */
function isOwnSpotLabel(key: string, value: string): boolean {
  const words = key
    .slice(key.lastIndexOf('/') + 1)
    .toLowerCase()
    .split(/[._-]/);
  if (value === 'true') return words.length === 1 && spotValues.has(words[0] ?? '');
  return words.some((word) => capacityWords.has(word)) && spotValues.has(value.toLowerCase());
}

const capacityWords = wordSet('lifecycle capacity provisioning purchase market');
const spotValues = wordSet('spot preemptible ec2spot');

/**
 * The capacity type of the nodes that meet a requirement on a label; undefined if it leaves several. Every node that Karpenter or EKS creates has
 * their labels, which also name reserved capacity; other labels are on spot nodes only.
 */
export function capacityLeft(key: string, operator: string, values: readonly string[]): SelectedCapacity | undefined {
  const all = values.map((value) => spotSelector(key, value));
  if (operator === 'In') {
    // Where no reservation has room, nodes are of the other kind.
    const others = all.length > 1 ? all.filter((one) => one !== 'reserved') : all;
    return others.length === 1 ? others[0] : undefined;
  }
  const named = Object.values(labels[key]?.capacity ?? {});
  const isOnAll = named.includes('reserved');
  if (!named.includes('spot')) return undefined;
  if (operator === 'NotIn') {
    if (all.includes('spot')) return 'on-demand';
    return isOnAll && all.includes('on-demand') ? 'spot' : undefined;
  }
  if (operator === 'DoesNotExist') return isOnAll ? undefined : 'on-demand';
  return operator === 'Exists' && !named.includes('on-demand') ? 'spot' : undefined;
}

/** Whether a requirement allows reserved nodes and others. Karpenter takes the reserved ones first. */
export function allowsReserved({ key, operator, values }: Requirement): boolean {
  return operator === 'In' && values.length > 1 && values.some((value) => spotSelector(key, value) === 'reserved');
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** The taint and label of AKS spot nodes. */
export const aksSpotTaint = 'kubernetes.azure.com/scalesetpriority';

/** Taint keys of spot nodes: set by AKS, and by convention on GKE. */
export const spotTaintKeys: readonly string[] = [aksSpotTaint, 'cloud.google.com/gke-spot'];

const labelOwners: readonly (readonly [prefix: string, provider: Provider])[] = [
  ['karpenter.k8s.aws/', 'aws'],
  ['eks.amazonaws.com/', 'aws'],
  ['k8s.amazonaws.com/', 'aws'],
  ['cloud.google.com/', 'gcp'],
  ['kubernetes.azure.com/', 'azure'],
  ['karpenter.azure.com/', 'azure'],
  ['gpu.nvidia.com/class', 'coreweave'],
  ['gpu.nvidia.com/model', 'coreweave'],
];

/** Instead of a label: the cloud without prices of which a pool is. */
export const otherCloudKey = 'other-cloud';

/** Clouds without prices in the catalog, by the domain of the labels of their nodes. */
const otherClouds: readonly (readonly [domain: string, name: string])[] = [
  ['doks.digitalocean.com', 'DigitalOcean'],
  ['ibm-cloud.kubernetes.io', 'IBM Cloud'],
  ['lke.linode.com', 'Akamai'],
  ['vke.vultr.com', 'Vultr'],
  ['k8s.scaleway.com', 'Scaleway'],
  ['kubernetes.civo.com', 'Civo'],
  ['alibabacloud.com', 'Alibaba Cloud'],
  ['tke.cloud.tencent.com', 'Tencent Cloud'],
  ['vke.volcengine.com', 'Volcano Engine'],
];

/** The name of the cloud without prices whose nodes carry a label. */
export function otherCloudOfLabel(key: string): string | undefined {
  const domain = key.slice(0, Math.max(0, key.indexOf('/')));
  return otherClouds.find(([known]) => domain === known || domain.endsWith(`.${known}`))?.[1];
}

/** The only provider whose nodes carry a label; null if several do (karpenter.sh/*, nvidia.com/*). */
export function providerOfLabel(key: string): Provider | null {
  return labelOwners.find(([prefix]) => (prefix.endsWith('/') ? key.startsWith(prefix) : key === prefix))?.[1] ?? null;
}
