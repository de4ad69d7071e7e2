import {
  allInstanceTypes,
  defaultRegion,
  gpusByLabel,
  isInstanceTypeLabel,
  labelCandidates,
  offers,
  type PriceSheet,
  type Provider,
  providerName,
  providerOfLabel,
  saleOf,
  spotSelector,
} from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { ownInstancePrice } from '../../cost/custom-prices.ts';
import { formatHourly } from '../../cost/money.ts';
import { cardsOfMachine } from '../hover/gpu-words.ts';
import type { Word } from './completion-item.ts';
import { spotLabels } from './scheduling-words.ts';

/** Labels that select GPU nodes. */
const gpuLabels: readonly (readonly [key: string, detail: string])[] = [
  ['nvidia.com/gpu.product', 'GPU model, set by GPU feature discovery'],
  ['cloud.google.com/gke-accelerator', 'GPU model on GKE'],
  ['cloud.google.com/gke-tpu-accelerator', 'TPU model on GKE'],
  ['karpenter.k8s.aws/instance-gpu-name', 'GPU model, set by Karpenter on AWS'],
  ['eks.amazonaws.com/instance-gpu-name', 'GPU model, set by EKS Auto Mode'],
  ['karpenter.azure.com/sku-gpu-name', 'GPU model, set by AKS node autoprovisioning'],
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
  const own = [...new Set(pools)].map((key) => [key, "project's node pools"] as const);
  const others = [...gpuLabels, ...capacity].filter(([key]) => fits(key) && !pools.includes(key));
  return [...own, ...others].map(([text, detail], rank) => ({ text, detail, rank }));
}

/** Known values of a label. */
export function selectorValues(key: string, config: ProjectConfig): readonly Word[] {
  const pools = config.nodePools.flatMap((pool): Word[] => {
    const value = pool.labels[key];
    if (value === undefined) return [];
    // Unquoted, these are booleans or numbers, not strings.
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

/** With the on-demand price in the config's region, or in the provider's default region. */
function instanceTypes({ provider, region, prices }: ProjectConfig): readonly Word[] {
  return allInstanceTypes()
    .filter((type) => provider === null || type.provider === provider)
    .filter(({ name }) => saleOf(name)?.retired === undefined)
    .map((type) => {
      const { name, provider: owner } = type;
      const price =
        ownInstancePrice(prices, name) ?? listPrice(name, owner, owner === provider ? region : null, prices.sheet);
      const cards = `${providerName(owner)}: ${cardsOfMachine(type)}`;
      return { text: name, detail: price === null ? cards : `${cards}, ${formatHourly(price)}` };
    });
}

/** US dollars per hour; null without a dated price. */
function listPrice(instanceType: string, provider: Provider, region: string | null, sheet: PriceSheet): number | null {
  const known = offers({ instanceType, provider }, sheet).filter(
    ({ date, onDemand }) => date !== null && onDemand !== null,
  );
  const at = (place: string) => known.find((offer) => offer.region === place);
  return (at(region ?? '') ?? at(defaultRegion(provider)) ?? known[0])?.onDemand ?? null;
}
