import { lazy } from '../yaml/lazy.ts';
import type { InstanceType, Provider } from './types.ts';

// Labels that a node has because of its instance type. GPU models are not among them: several spellings name one model (node-labels.ts).
// Sources: aws/karpenter-provider-aws@1d927085:pkg/apis/v1/labels.go (2026-08-21); the EKS Auto Mode guide ("create-node-pool");
// docs/reference/instance-types (instance-local-nvme: in GB, and only on machines with such disks); Azure/karpenter-provider-azure@00ae1126:pkg/apis/v1beta1/labels.go (2026-11-22); the GKE labels are unsourced.

/** What is known of an instance type, as far as its labels say it. */
export type MachineShape = Pick<
  InstanceType,
  'provider' | 'name' | 'gpu' | 'gpuCount' | 'vcpu' | 'memoryGiB' | 'localDisk'
>;

const known = new WeakMap<MachineShape, ReadonlyMap<string, string | null>>();

/** The labels of a node of an instance type; null: it has the label, but the value is unknown. Computed once for each record. */
export function machineLabels(type: MachineShape): ReadonlyMap<string, string | null> {
  const labels = known.get(type) ?? makeLabels(type);
  known.set(type, labels);
  return labels;
}

function makeLabels(type: MachineShape): ReadonlyMap<string, string | null> {
  // The name of an N1 machine with its accelerators: `n1-standard-4 + 1 x nvidia-tesla-t4`.
  const [name = type.name] = type.name.split(' + ');
  const found: [string, string | number | null | undefined][] = [
    ['node.kubernetes.io/instance-type', name],
    ['beta.kubernetes.io/instance-type', name],
    [physicalCount, type.gpuCount],
    [machineCpus, type.vcpu],
    [machineMemory, type.memoryGiB],
    ...labelsOf[type.provider](type, name),
  ];
  return new Map(
    found.flatMap(([key, value]) => (value === undefined ? [] : [[key, value === null ? null : String(value)]])),
  );
}

/** Whether the value of a label follows from the instance type of a node. */
export function isMachineLabel(key: string): boolean {
  return keys().has(key);
}

/** The label of GPU feature discovery; under MIG's single strategy, it counts slices. https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery */
export const physicalCount = 'nvidia.com/gpu.count';

/** The GiB of a machine's local disks, like a label. */
export const localDisk = 'local-disk';

/** The CPUs and the GiB of memory of any machine, like labels. */
export const machineCpus = 'machine-cpus';
export const machineMemory = 'machine-memory';

/** The TPU chips of a machine, like a label. */
export const machineChips = 'machine-chips';

type LabelsOf = (type: MachineShape, name: string) => [string, string | number | null | undefined][];

const none: LabelsOf = () => [];

const labelsOf: Readonly<Record<Provider, LabelsOf>> = {
  aws: (type, name) => {
    const [, family, category, generation, size] = /^(([a-z]{1,9})(\d{1,3})[a-z0-9-]*)\.([a-z0-9-]+)$/.exec(name) ?? [];
    const isGpu = category === 'p' || category === 'g' || category === 'gr';
    const facts: [string, string | number | null | undefined][] = [
      ['category', category],
      ['family', family],
      ['generation', generation],
      ['size', size],
      ['cpu', type.vcpu],
      ['memory', mebibytes(type)],
      ['local-nvme', sizeOf(type, 1)],
      [isGpu ? 'gpu-count' : 'accelerator-count', type.gpuCount],
      [isGpu ? 'gpu-manufacturer' : 'accelerator-manufacturer', isGpu ? gpuManufacturer(name) : 'aws'],
    ];
    const labels = facts.flatMap(([fact, value]): [string, string | number | null | undefined][] => [
      [`karpenter.k8s.aws/instance-${fact}`, value],
      [`eks.amazonaws.com/instance-${fact}`, value],
    ]);
    return [...labels, [localDisk, sizeOf(type, 1e9 / 2 ** 30)]];
  },
  gcp: (type, name) => [
    ['cloud.google.com/machine-family', name.split('-')[0]],
    ['cloud.google.com/gke-accelerator-count', name.startsWith('ct') ? undefined : type.gpuCount],
    [machineChips, /^(?:ct|tpu)/.test(name) ? type.gpuCount : undefined],
    // Two machines have the same card under different labels.
    [localDisk, sizeOf(type, 1)],
    ['cloud.google.com/gke-accelerator', /^a3-(mega|high)/.test(name) ? h100Label(name) : null],
  ],
  azure: (type, name) => [
    ['karpenter.azure.com/sku-name', name],
    ['karpenter.azure.com/sku-family', 'N'],
    ['karpenter.azure.com/sku-cpu', type.vcpu],
    ['karpenter.azure.com/sku-memory', mebibytes(type)],
    ['karpenter.azure.com/sku-gpu-count', type.gpuCount],
    ['karpenter.azure.com/sku-gpu-manufacturer', /^(?:radeon|mi\d)/.test(type.gpu ?? '') ? 'amd' : 'nvidia'],
    ['node.kubernetes.io/instance-type', name],
  ],
  oci: none,
  coreweave: none,
  crusoe: none,
  hyperstack: none,
  lambda: none,
  nebius: none,
  runpod: none,
};

/** https://cloud.google.com/kubernetes-engine/docs/how-to/gpus */
function h100Label(name: string): string {
  return name.startsWith('a3-mega') ? 'nvidia-h100-mega-80gb' : 'nvidia-h100-80gb';
}

/** Karpenter counts memory in MiB. */
function mebibytes({ memoryGiB }: MachineShape): number | null {
  return memoryGiB === null ? null : memoryGiB * 1024;
}

/** A machine without local disks has no label for their size. */
function sizeOf({ localDisk: size }: MachineShape, unit: number): number | null | undefined {
  return size === undefined ? null : size === 0 ? undefined : size * unit;
}

function gpuManufacturer(name: string): string {
  return name.startsWith('g4ad.') ? 'amd' : 'nvidia';
}

const keys = lazy(() => {
  const shape = { gpu: null, gpuCount: 1, vcpu: 1, memoryGiB: 1 };
  const samples: readonly [Provider, string][] = [
    ['aws', 'p5.48xlarge'],
    ['aws', 'trn2.48xlarge'],
    ['gcp', 'g2-standard-4'],
    ['gcp', 'ct5p-hightpu-4t'],
    ['azure', 'Standard_NC24ads_A100_v4'],
  ];
  return new Set(samples.flatMap(([provider, name]) => [...machineLabels({ ...shape, provider, name }).keys()]));
});
