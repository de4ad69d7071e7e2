import { describe, expect, it } from 'vitest';
import {
  allInstanceTypes,
  catalogInfo,
  catalogPrices,
  cheapestOffer,
  defaultRegion,
  gpus,
  gpusByLabel,
  instanceType,
  interruptionBand,
  isGpuLabel,
  isInstanceTypeLabel,
  labelCandidates,
  migByResource,
  migShare,
  migTable,
  migTables,
  nodeLabelMeaning,
  nodeLabels,
  offers,
  type Provider,
  platforms,
  pricePerDevice,
  providerOfLabel,
  spotSelector,
  spotTaintKeys,
} from '../server/src/catalog/index.ts';

const ids = (key: string, value: string) => gpusByLabel(key, value).map((gpu) => gpu.id);
const product = 'nvidia.com/gpu.product';

describe('labels that name a GPU', () => {
  it.each([
    [product, 'NVIDIA-A100-SXM4-40GB', ['a100-40gb-sxm']],
    [product, 'Tesla-T4-SHARED', ['t4']],
    [product, 'NVIDIA-A100-SXM4-40GB-MIG-1g.5gb', ['a100-40gb-sxm']],
    [product, 'NVIDIA-A100-SXM4-40GB-MIG-1g.5gb.me', ['a100-40gb-sxm']],
    [product, 'NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED', ['h100-80gb-sxm']],
    [product, 'NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition-MIG-1g.24gb-me', ['rtx-pro-6000-blackwell-server']],
    ['cloud.google.com/gke-accelerator', 'nvidia-l4', ['l4']],
    ['cloud.google.com/gke-accelerator', 'nvidia-h100-mega-80gb', ['h100-80gb-sxm']],
    ['cloud.google.com/gke-tpu-accelerator', 'tpu-v6e-slice', ['tpu-v6e']],
    ['karpenter.k8s.aws/instance-gpu-name', 'a100', ['a100-40gb-sxm', 'a100-80gb-sxm']],
    ['karpenter.k8s.aws/instance-gpu-memory', '40960', ['a100-40gb-sxm']],
    ['karpenter.k8s.aws/instance-accelerator-name', 'inferentia2', ['inferentia2']],
    ['eks.amazonaws.com/instance-gpu-name', 'l40s', ['l40s']],
    ['karpenter.azure.com/sku-gpu-name', 'T4', ['t4']],
    ['gpu.nvidia.com/class', 'A100_NVLINK_80GB', ['a100-80gb-sxm']],
    ['amd.com/gpu.product-name', 'AMD_Instinct_MI300X_OAM', ['mi300x']],
    ['beta.amd.com/gpu.product-name', 'AMD_Instinct_MI300X_OAM', ['mi300x']],
    ['node.kubernetes.io/instance-type', 'g5.8xlarge', ['a10g']],
    ['beta.kubernetes.io/instance-type', 'p4d.24xlarge', ['a100-40gb-sxm']],
    ['node.kubernetes.io/instance-type', 'ct5p-hightpu-4t', ['tpu-v5p']],
    ['karpenter.k8s.aws/instance-family', 'g6e', ['l40s']],
    ['cloud.google.com/machine-family', 'g2', ['l4']],
  ])('%s=%s', (key, value, expected) => {
    expect(ids(key, value)).toEqual(expected);
  });

  it.each([
    [product, 'NVIDIA-B9000'],
    [product, '-SHARED'],
    [product, ''],
    ['cloud.google.com/gke-accelerator', 'nvidia-l4-SHARED'],
    // The A3 family has H100 and H200 sizes, A2 has two memory sizes, and N1 does not name a GPU.
    ['cloud.google.com/machine-family', 'a3'],
    ['cloud.google.com/machine-family', 'a2'],
    ['node.kubernetes.io/instance-type', 'n1-standard-4'],
    ['node.kubernetes.io/instance-type', 'constructor'],
    ['app', 'nvidia-l4'],
    ['constructor', 'prototype'],
  ])('knows no GPU of %s=%s', (key, value) => {
    expect(ids(key, value)).toEqual([]);
  });

  it('distinguishes the keys that name a model from those that narrow it down', () => {
    expect(isGpuLabel(product)).toBe(true);
    expect(isGpuLabel('gpu.nvidia.com/model')).toBe(true);
    expect(isGpuLabel('node.kubernetes.io/instance-type')).toBe(false);
    expect(isGpuLabel('nvidia.com/gpu.present')).toBe(false);
  });

  it('lists the values of a key', () => {
    expect(labelCandidates('cloud.google.com/gke-accelerator')).toContain('nvidia-tesla-t4');
    expect(labelCandidates('karpenter.k8s.aws/instance-family')).toContain('g5');
    expect(labelCandidates('cloud.google.com/machine-family')).not.toContain('a3');
    expect(labelCandidates('gpu.nvidia.com/model')).toEqual([]);
    for (const gpu of gpus.values()) {
      for (const [key, values] of Object.entries(gpu.labels))
        expect(labelCandidates(key)).toEqual(expect.arrayContaining([...values]));
    }
  });
});

describe('MIG', () => {
  it('finds every GPU with a resource name, in the spelling of Kubernetes only', () => {
    const found = migByResource('nvidia.com/mig-1g.10gb');
    expect(found.map(({ gpu, table, profile }) => [gpu.id, migShare(table, profile)])).toEqual([
      ['a100-40gb-pcie', 1 / 4],
      ['a100-40gb-sxm', 1 / 4],
      ['a100-80gb-pcie', 1 / 7],
      ['a100-80gb-sxm', 1 / 7],
      ['h100-80gb-pcie', 1 / 7],
      ['h100-80gb-sxm', 1 / 7],
    ]);
    expect(migByResource('nvidia.com/mig-1g.10gb.me')).not.toEqual([]);
    for (const wrong of ['nvidia.com/mig-1g.10gb+me', 'nvidia.com/mig-9g.10gb', '1g.10gb', '']) {
      expect(migByResource(wrong)).toEqual([]);
    }
  });

  it('has a table for each MIG-capable GPU except the one without a source', () => {
    const without = [...gpus.values()].filter((gpu) => gpu.migCapable && migTable(gpu.id) === undefined);
    expect(without.map((gpu) => gpu.id)).toEqual(['rtx-pro-4500-blackwell-server']);
    for (const table of migTables()) for (const id of table.gpus) expect(gpus.get(id)?.migCapable, id).toBe(true);
    expect(migTable('l4')).toBeUndefined();
  });
});

describe('instance types', () => {
  it('have CPU, memory and GPUs', () => {
    expect(instanceType('p5.48xlarge')).toMatchObject({ gpu: 'h100-80gb-sxm', gpuCount: 8, vcpu: 192, rdma: 'EFA' });
    expect(instanceType('Standard_ND96isr_H100_v5')).toMatchObject({
      provider: 'azure',
      gpu: 'h100-80gb-sxm',
      gpuCount: 8,
    });
    expect(instanceType('no.such')).toBeUndefined();
  });

  it('have unique names and list unsourced fields', () => {
    const all = allInstanceTypes();
    expect(new Set(all.map((instance) => instance.name)).size).toBe(all.length);
    expect(instanceType('Standard_ND40rs_v2')?.unsourced).toContain('gpuCount');
  });
});

describe('offers', () => {
  it('are sorted by date first, then by price per device', () => {
    const found = offers({ gpu: 'h100-80gb-sxm' }, catalogPrices);
    const undated = found.findIndex((offer) => offer.date === null);
    expect(undated).toBeGreaterThan(0);
    expect(found.slice(undated).every((offer) => offer.date === null)).toBe(true);
    const prices = found
      .slice(0, undated)
      .map((offer) => pricePerDevice(offer, 'on-demand') ?? Number.POSITIVE_INFINITY);
    expect(prices).toEqual([...prices].sort((a, b) => a - b));
  });

  it('match every part of the query', () => {
    const found = offers(
      { gpu: 'a10g', provider: 'aws', region: 'us-east-1', instanceType: 'g5.xlarge' },
      catalogPrices,
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ onDemand: 1.006, gpuCount: 1, date: '2026-07-20' });
    expect(offers({ gpu: 'no-such' }, catalogPrices)).toEqual([]);
    expect(offers({ provider: 'coreweave', region: 'us-east-04' }, catalogPrices)).not.toEqual([]);
  });

  it('do not treat an N1 machine as a GPU machine', () => {
    expect(offers({ instanceType: 'n1-standard-4' }, catalogPrices)).toEqual([]);
    const found = offers({ instanceType: 'n1-standard-4', gpu: 't4', region: 'us-central1' }, catalogPrices);
    expect(found.map((offer) => offer.instanceType)).toEqual(['n1-standard-4 + 1 x nvidia-tesla-t4']);
  });

  it('never choose an undated offer as the cheapest', () => {
    expect(offers({ provider: 'oci' }, catalogPrices)).not.toEqual([]);
    expect(cheapestOffer({ provider: 'oci' }, 'on-demand')).toBeUndefined();
    for (const gpu of gpus.keys()) {
      const found = cheapestOffer({ gpu }, 'spot');
      if (found !== undefined) expect(found).toMatchObject({ gpu, date: expect.any(String), spot: expect.any(Number) });
    }
  });

  it('exist on demand in the default region of each provider', () => {
    const providers = new Set<Provider>(offers({}, catalogPrices).map((offer) => offer.provider));
    expect(providers.size).toBe(10);
    for (const provider of providers) {
      const found = offers({ provider, region: defaultRegion(provider) }, catalogPrices);
      expect(
        found.some((offer) => offer.onDemand !== null),
        provider,
      ).toBe(true);
    }
  });

  it('have a source and an oldest date', () => {
    const found = offers({}, catalogPrices);
    for (const offer of found) expect(offer.source).not.toBe('');
    const dates = found.flatMap((offer) => offer.date ?? []).sort();
    expect(catalogInfo.pricesAsOf).toBe(dates[0]);
    expect(catalogInfo.sources.length).toBeGreaterThan(5);
  });

  it('have interruption bands on AWS', () => {
    expect(interruptionBand('g5.xlarge', 'us-east-1')).toMatchObject({ band: '>20%', date: '2025-06-28' });
    expect(interruptionBand('g5.xlarge', 'mars-1')).toBeUndefined();
    expect(interruptionBand('g5.xlarge', '')).toBeUndefined();
  });
});

describe('platforms', () => {
  it.each([
    ['cloud.google.com/gke-spot', 'true', 'spot'],
    ['cloud.google.com/gke-preemptible', 'true', 'spot'],
    ['cloud.google.com/gke-provisioning', 'spot', 'spot'],
    ['karpenter.sh/capacity-type', 'spot', 'spot'],
    ['karpenter.sh/capacity-type', 'on-demand', 'on-demand'],
    ['karpenter.sh/capacity-type', 'reserved', 'reserved'],
    ['eks.amazonaws.com/capacityType', 'SPOT', 'spot'],
    ['eks.amazonaws.com/capacityType', 'spot', undefined],
    ['kubernetes.azure.com/scalesetpriority', 'spot', 'spot'],
    ['kubernetes.azure.com/priority', 'regular', 'on-demand'],
    ['cloud.google.com/gke-spot', 'false', undefined],
    ['constructor', 'name', undefined],
    ['karpenter.sh/capacity-type', 'toString', undefined],
  ])('%s=%s selects %s', (key, value, expected) => {
    expect(spotSelector(key, value)).toBe(expected);
  });

  it('agree with the selectors', () => {
    expect([...platforms.keys()]).toEqual(expect.arrayContaining(['aks', 'eks-karpenter', 'gke-standard']));
    for (const { spotLabels } of platforms.values()) {
      for (const [key, values] of Object.entries(spotLabels))
        for (const value of values) expect(spotSelector(key, value)).toBe('spot');
    }
    expect(platforms.get('aks')?.spotLabels).toHaveProperty(['kubernetes.azure.com/scalesetpriority'], ['spot']);
    expect(platforms.get('gke-standard')?.spotNoticeSeconds).toBe(30);
    expect(spotTaintKeys).toContain('kubernetes.azure.com/scalesetpriority');
  });

  it('have a meaning if they select GPU models, as does every key that the code uses', () => {
    const selecting = new Set([...gpus.values()].flatMap(({ labels }) => Object.keys(labels)));
    expect([...selecting].filter((key) => nodeLabelMeaning(key) === undefined)).toEqual([]);
    expect(
      nodeLabels().filter((key) => isInstanceTypeLabel(key) && !labelCandidates(key).includes('g5.xlarge')),
    ).toEqual([]);
    expect(nodeLabelMeaning('constructor')).toBeUndefined();
  });

  it.each([
    ['karpenter.k8s.aws/instance-gpu-name', 'aws'],
    ['eks.amazonaws.com/nodegroup', 'aws'],
    ['cloud.google.com/gke-accelerator', 'gcp'],
    ['kubernetes.azure.com/priority', 'azure'],
    ['karpenter.azure.com/sku-gpu-name', 'azure'],
    ['gpu.nvidia.com/class', 'coreweave'],
    ['karpenter.sh/capacity-type', null],
    ['nvidia.com/gpu.product', null],
  ])('%s belongs to %s', (key, expected) => {
    expect(providerOfLabel(key)).toBe(expected);
  });
});
