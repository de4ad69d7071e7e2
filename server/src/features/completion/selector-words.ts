import {
  allInstanceTypes,
  gpus,
  gpusByLabel,
  isInstanceTypeLabel,
  labelCandidates,
  providerName,
  providerOfLabel,
  spotSelector,
} from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import type { Word } from './completion.ts';
import { spotLabels } from './scheduling-words.ts';

/** Labels that choose GPU nodes, those of the config's provider first. */
const gpuLabels: readonly (readonly [key: string, detail: string])[] = [
  ['nvidia.com/gpu.product', 'GPU model, as GPU feature discovery names it'],
  ['cloud.google.com/gke-accelerator', 'GPU model on GKE'],
  ['cloud.google.com/gke-tpu-accelerator', 'TPU model on GKE'],
  ['karpenter.k8s.aws/instance-gpu-name', 'GPU model, with Karpenter on AWS'],
  ['eks.amazonaws.com/instance-gpu-name', 'GPU model, with EKS Auto Mode'],
  ['karpenter.azure.com/sku-gpu-name', 'GPU model, with node autoprovisioning on AKS'],
  ['gpu.nvidia.com/class', 'GPU class on CoreWeave'],
  ['node.kubernetes.io/instance-type', 'instance type of the node'],
  ['topology.kubernetes.io/region', 'region of the node'],
  ['topology.kubernetes.io/zone', 'zone of the node'],
];

/** Labels for a nodeSelector. */
export function selectorKeys(config: ProjectConfig): readonly Word[] {
  const fits = (key: string) => {
    const owner = providerOfLabel(key);
    return config.provider === null || owner === null || owner === config.provider;
  };
  const capacity = [...spotLabels(config.provider).keys()].map((key) => [key, 'spot or on-demand nodes'] as const);
  const pools = config.nodePools.flatMap(({ labels }) => Object.keys(labels));
  const own = [...new Set(pools)].map((key) => [key, 'node pools of the project'] as const);
  const others = [...gpuLabels, ...capacity].filter(([key]) => fits(key) && !pools.includes(key));
  return [...own, ...others].map(([text, detail], rank) => ({ text, detail, rank }));
}

/** The values of a label that the catalogue knows. */
export function selectorValues(key: string, config: ProjectConfig): readonly Word[] {
  const pools = config.nodePools.flatMap((pool): Word[] => {
    const value = pool.labels[key];
    if (value === undefined) return [];
    // Written plain, these would be a boolean or a number, and no label.
    const quoted = /^(true|false|yes|no|on|off|null|~|[\d.+-].*)$/i.test(value) ? { value: JSON.stringify(value) } : {};
    return [{ text: value, detail: `node pool ${pool.name}`, ...quoted }];
  });
  return pools.length > 0 ? pools : catalogValues(key, config);
}

function catalogValues(key: string, config: ProjectConfig): readonly Word[] {
  const capacities = capacityWords.flatMap((word): Word[] => {
    const selected = spotSelector(key, word);
    return selected === undefined ? [] : [{ text: word, detail: selected, value: word === 'true' ? '"true"' : word }];
  });
  if (capacities.length > 0) return capacities;
  if (isInstanceTypeLabel(key)) return instanceTypes(config);
  return labelCandidates(key).map((text) => ({
    text,
    detail: [...new Set(gpusByLabel(key, text).map(({ name }) => name))].join(', '),
  }));
}

const capacityWords = [
  'spot',
  'on-demand',
  'reserved',
  'SPOT',
  'ON_DEMAND',
  'CAPACITY_BLOCK',
  'regular',
  'standard',
  'preemptible',
  'true',
] as const;

function instanceTypes({ provider }: ProjectConfig): readonly Word[] {
  return allInstanceTypes()
    .filter((type) => provider === null || type.provider === provider)
    .map(({ name, gpu, gpuCount, provider: owner }) => ({
      text: name,
      detail: `${providerName(owner)}: ${gpuCount ?? '?'} × ${gpus.get(gpu ?? '')?.name ?? 'GPU'}`,
    }));
}
