import { describe, expect, it } from 'vitest';
import { gpus, gpusMentioned, gpusNamed, instanceType } from '../server/src/catalog/index.ts';
import { modelsOfNodeLabel } from '../server/src/model/named-models.ts';

const ids = (models: readonly { readonly id: string }[]) => models.map(({ id }) => id);

describe('the name of a card', () => {
  it.each([
    // Any case, separator, vendor, form factor and memory.
    ['NVIDIA-A100-SXM4-80GB', ['a100-80gb-sxm']],
    ['A100_PCIE_80GB', ['a100-80gb-pcie']],
    ['a100-80', ['a100-80gb-sxm']],
    ['Tesla-A100-80G', ['a100-80gb-sxm']],
    ['A100_NVLINK_40GB', ['a100-40gb-sxm']],
    ['8xh100', ['h100-80gb-sxm']],
    ['h100x4', ['h100-80gb-sxm']],
    ['h100sxm5', ['h100-80gb-sxm']],
    ['H100-NVL', ['h100-nvl-94gb']],
    ['nvidia h100 pcie', ['h100-80gb-pcie']],
    ['NVIDIA-GH200-480GB', ['gh200-96gb']],
    ['gb200-nvl72', ['gb200']],
    ['H20-3e', ['h20-141gb']],
    ['Tesla-T4-SHARED', ['t4']],
    ['NVIDIA-A30-MIG-1g.6gb', ['a30']],
    ['GA102GL_A10', ['a10']],
    ['GRID-T4-16Q', ['t4']],
    ['DGXH100', ['h100-80gb-sxm']],
    ['NVIDIA-DGX-Spark', ['gb10']],
    ['RTX_A5000', ['rtx-a5000']],
    ['a5000', ['rtx-a5000']],
    ['GeForce RTX 3090 Ti', ['rtx-3090-ti']],
    ['rtx3090', ['rtx-3090']],
    ['NVIDIA-GeForce-RTX-4070-Ti-SUPER', ['rtx-4070-ti-super']],
    ['Quadro_RTX_5000', ['quadro-rtx-5000']],
    ['rtx-5000-ada', ['rtx-5000-ada']],
    ['A6000 Ada', ['rtx-6000-ada']],
    ['a4000', ['rtx-a4000']],
    ['NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition', ['rtx-pro-6000-blackwell-workstation']],
    ['titan_rtx', ['titan-rtx']],
    ['AMD Instinct MI300X', ['mi300x']],
    ['mi300', ['mi300x']],
    ['nvidia-tesla-m6', ['tesla-m6']],
    ['Tesla-V100S-PCIE-32GB', ['v100s']],
    ['GRID_K2', ['grid-k2']],
    ['Tesla K40m', ['k40']],
    ['Tesla-P6', ['tesla-p6']],
    ['NVIDIA-A10M', ['a10m']],
    // Without NVIDIA's names, families of machines and models.
    ['m6', []],
    ['p6', []],
    ['Kimi-K2', []],
    ['Gaudi2', ['gaudi2']],
    ['trn2', ['trainium2']],
    ['v5litepod-16', ['tpu-v5e']],
    ['tpu-v3-device', ['tpu-v3']],
    ['tpu-v6e-slice', ['tpu-v6e']],
    ['intel-arc-a770', ['arc-a770']],
    ['Max_1550', ['data-center-gpu-max-1550']],
    ['Ascend910B', ['ascend-910b']],
    ['AMD Radeon(TM) 780M Graphics', ['radeon-780m']],
    ['radeon-8060s', ['radeon-8060s']],
    ['AMD 890M', ['radeon-890m']],
    ['Intel UHD Graphics 770', ['uhd-770']],
    ['iris-xe', ['iris-xe']],
    // The memory, or the generation, is open.
    ['A100', ['a100-40gb-sxm', 'a100-80gb-sxm']],
    ['tesla-v100', ['v100-16gb', 'v100-32gb']],
    ['RTX-6000', ['quadro-rtx-6000', 'rtx-6000-ada']],
    ['gaudi', ['gaudi1', 'gaudi2', 'gaudi3']],
    ['jetson-orin', ['jetson-agx-orin', 'jetson-orin-nano', 'jetson-orin-nx']],
    ['jetson-agx-thor', ['jetson-agx-thor']],
    // Not names.
    ['nvidia', []],
    ['gpu', []],
    ['true', []],
    ['ampere', []],
    ['80gb', []],
    ['780M', []],
    ['gpu-780m', []],
    ['8060s', []],
    ['3090', []],
    ['gpu-h100-pool', []],
    ['b9000', []],
    ['constructor', []],
    ['a'.repeat(500), []],
  ])('%s', (text, expected) => {
    expect(ids(gpusNamed(text)).sort()).toEqual(expected);
  });

  it('may be a bare number where only a card can be meant', () => {
    expect(ids(gpusNamed('3090', true))).toEqual(['rtx-3090']);
    expect(ids(gpusNamed('2080ti', true))).toEqual(['rtx-2080-ti']);
    for (const other of ['2000', '8', '80', '1024', '910']) expect(gpusNamed(other, true), other).toEqual([]);
  });

  it('is found by the name that the catalog shows', () => {
    for (const gpu of gpus.values()) expect(ids(gpusNamed(gpu.name)), gpu.name).toContain(gpu.id);
  });
});

describe('the mention of a card among other words', () => {
  it.each([
    ['gpu-h100-80gb-high-x1', ['h100-80gb-sxm']],
    ['llama-3.1-70b-instruct-fp8-a100-80gb', ['a100-80gb-sxm']],
    ['worker-rtx3090-2', ['rtx-3090']],
    ['gpu-6000adax1-48gb', ['rtx-6000-ada']],
    ['gpu-3070', ['rtx-3070']],
    ['t4-32gb', ['t4']],
    ['tpu-v5e-2x4', ['tpu-v5e']],
    ['inferentia-inf2', ['inferentia2']],
    ['gpu-a2', ['a2']],
    ['8 x H100 or A40', ['h100-80gb-sxm', 'a40']],
    ['worker-a10-0', ['a10']],
    ['trainer-l4-0', ['l4']],
    ['a100np', ['a100-40gb-sxm', 'a100-80gb-sxm']],
    ['spotl40spool', ['l40s']],
    ['node-a1-00', []],
    ['cluster-a2', []],
    ['mistral-7b-instruct-v03', []],
    ['llama-3-8b', []],
    ['p4-depot', []],
    ['node-3090', []],
    ['gpu-operator', []],
    ['the 780M iGPU of node 3', ['radeon-780m']],
    ['on a Ryzen 890M, 780M parameters', ['radeon-890m']],
    ['gpu memory 680M, timeout 8060s', []],
  ])('%s', (text, expected) => {
    expect(ids(gpusMentioned(text))).toEqual(expected);
  });
});

describe('an instance type', () => {
  it.each([
    ['ml.p4d.24xlarge', 'p4d.24xlarge'],
    ['P5.48XLARGE', 'p5.48xlarge'],
    ['standard_nc24ads_a100_v4', 'Standard_NC24ads_A100_v4'],
    ['NC6s_v3', 'Standard_NC6s_v3'],
    ['bm.gpu.h100.8', 'BM.GPU.H100.8'],
  ])('%s is %s', (written, name) => {
    expect(instanceType(written)?.name).toBe(name);
  });

  it.each(['ml.', 'ml', 'p5', 'Standard_', 'constructor', 'x'.repeat(100)])('%s is unknown', (written) => {
    expect(instanceType(written)).toBeUndefined();
  });
});

describe('the models that a node label names', () => {
  it.each([
    // A cloud's own value names one card where its words alone name two.
    ['cloud.google.com/gke-accelerator', 'nvidia-tesla-a100', ['a100-40gb-sxm']],
    ['example.com/gpu', 'nvidia-tesla-a100', ['a100-40gb-sxm', 'a100-80gb-sxm']],
    ['node.kubernetes.io/instance-type', 'p4d.24xlarge', ['a100-40gb-sxm']],
  ])('%s: %s', (key, value, models) => {
    expect(ids(modelsOfNodeLabel(key, value))).toEqual(models);
  });
});
