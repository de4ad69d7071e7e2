import { moreGpus } from './more-gpus.ts';
import { byText, type CommitDates, clean, dateOf, SourceTable } from './sources.ts';

interface Accelerator {
  readonly id: string;
  readonly catalog_id: string;
  readonly vendor: string;
  readonly arch: string | null;
  readonly memory_gib: number | null;
  readonly memory_bandwidth_gb_s: number | null;
  readonly bf16_dense_tflops: number | null;
  readonly fp16_dense_tflops: number | null;
  readonly fp8_dense_tflops: number | null;
  readonly nvlink: boolean | null;
  readonly mig_capable: boolean;
  readonly compute_capability: string | null;
  readonly labels: Readonly<Record<string, readonly string[] | number | null>>;
  readonly source: string;
  readonly unsourced_fields: readonly string[];
  readonly notes: string;
}

/** Field names in the gathered facts -> field names in the catalog. Fields that the catalog omits are not listed. */
const fields: Readonly<Record<string, string>> = {
  all: 'all',
  memory_gib: 'memoryGiB',
  memory_bandwidth_gb_s: 'memoryBandwidth',
  bf16_dense_tflops: 'tflops.bf16',
  fp16_dense_tflops: 'tflops.fp16',
  fp8_dense_tflops: 'tflops.fp8',
  compute_capability: 'computeCapability',
  'gfd label': 'labels.nvidia.com/gpu.product',
  'coreweave label': 'labels.gpu.nvidia.com/class',
  label: 'labels',
};
const omitted = new Set(['tdp_w', 'nvlink_gb_s_bidirectional']);

/** Label keys with the same values as a key in the facts. */
const sameValues: Readonly<Record<string, readonly string[]>> = {
  'karpenter.k8s.aws/instance-gpu-name': ['eks.amazonaws.com/instance-gpu-name'],
  'karpenter.k8s.aws/instance-gpu-memory': ['eks.amazonaws.com/instance-gpu-memory'],
  'amd.com/gpu.product-name': ['beta.amd.com/gpu.product-name'],
};

/**
 * AKS node auto-provisioning takes the name from the size, `Standard_NC40ads_H100_v5`, without memory or form factor: each value stands for every such
 * card in Azure.
 */
const azureNames: Readonly<Record<string, string>> = {
  'a100-80gb-pcie': 'A100',
  'a100-80gb-sxm': 'A100',
  'a100-40gb-sxm': 'A100',
  a10: 'A10',
  'h100-80gb-sxm': 'H100',
  'h100-nvl-94gb': 'H100',
  'h200-141gb-sxm': 'H200',
  t4: 'T4',
  'v100-16gb': 'V100',
  'v100-32gb': 'V100',
};
const azureSource =
  'Azure/karpenter-provider-azure:pkg/cloudprovider tests and label table of the AKS node auto-provisioning pages';

/** Names of the same card in other machines: in a DGX Station. Its name in nvidia-smi with dashes, as GPU feature discovery writes it. */
const moreProducts: Readonly<Record<string, readonly string[]>> = { 'v100-32gb': ['Tesla-V100-DGXS-32GB'] };

export function gpuFile(facts: { readonly accelerators: readonly Accelerator[] }, dates: CommitDates) {
  const sources = new SourceTable();
  const gathered = [...facts.accelerators].sort((a, b) => byText(a.catalog_id, b.catalog_id)).map(record);
  const known = new Set(gathered.map(({ id }) => id));
  const others = moreGpus(sources).filter(({ id }) => !known.has(id));
  const records = [...gathered, ...others].sort((a, b) => byText(a.id, b.id));
  const idByName = new Map([
    ...records.map(({ name, id }) => [name, id] as const),
    ...facts.accelerators.map((gpu) => [gpu.id, gpu.catalog_id] as const),
  ]);
  return { file: { sources: sources.toJSON(), gpus: records }, idByName };

  function record(gpu: Accelerator) {
    // Models that appear only in price tables have no datasheet: everything except the name is unsourced.
    const pricedOnly = gpu.notes === 'priced only';
    const source = pricedOnly ? 'named in the price and instance tables; figures unsourced' : clean(gpu.source);
    const azure = azureNames[gpu.catalog_id] === undefined ? '' : `; ${azureSource}`;
    return {
      id: gpu.catalog_id,
      name: gpu.id.replaceAll('-', ' '),
      vendor: /^Gaudi/.test(gpu.id) ? 'habana' : gpu.vendor.toLowerCase(),
      architecture: gpu.arch ?? 'unknown',
      memoryGiB: gpu.memory_gib,
      memoryBandwidth: gpu.memory_bandwidth_gb_s,
      tflops: { bf16: gpu.bf16_dense_tflops, fp16: gpu.fp16_dense_tflops, fp8: gpu.fp8_dense_tflops },
      nvlink: gpu.nvlink ?? false,
      computeCapability: gpu.compute_capability,
      migCapable: gpu.mig_capable,
      labels: labels(gpu),
      unsourced: pricedOnly ? ['all'] : gpu.unsourced_fields.filter((name) => !omitted.has(name)).map(field),
      date: dateOf(source, dates),
      source: sources.refer(source + azure),
    };
  }
}

function field(name: string): string {
  const known = fields[name];
  if (known === undefined) throw new Error(`gpus.json: the catalog has no field for ${name}`);
  return known;
}

function labels(gpu: Accelerator): Record<string, readonly string[]> {
  const found: [string, readonly string[]][] = [];
  for (const [key, value] of Object.entries(gpu.labels)) {
    if (value === null || (Array.isArray(value) && value.length === 0)) continue;
    const name = key.replace(/_mib$/, '');
    const listed = typeof value === 'number' ? [String(value)] : [...(value as readonly string[])].sort(byText);
    const values = name === 'nvidia.com/gpu.product' ? [...listed, ...(moreProducts[gpu.catalog_id] ?? [])] : listed;
    for (const each of [name, ...(sameValues[name] ?? [])]) found.push([each, values]);
  }
  const azure = azureNames[gpu.catalog_id];
  if (azure !== undefined) found.push(['karpenter.azure.com/sku-gpu-name', [azure]]);
  return Object.fromEntries(found.sort(([a], [b]) => byText(a, b)));
}
