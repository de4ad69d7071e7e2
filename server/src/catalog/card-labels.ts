import { deviceGiB } from './gpus.ts';
import { isGpuLabel, nodeLabelMeaning } from './node-labels.ts';
import type { GpuModel } from './types.ts';

// Labels that a node has because of its card, and the cards that a pod can be expected to run on.
// Source: NVIDIA/k8s-device-plugin@1b826acc:docs/gpu-feature-discovery (2026-08-19).

const arch = 'kubernetes.io/arch';

/** In MiB, as the driver reports it. */
export const memoryLabel = 'nvidia.com/gpu.memory';

/** Whether the value of a label follows from the card of a node. */
export function isCardLabel(key: string): boolean {
  return isGpuLabel(key) || nodeLabelMeaning(key) === 'gpu-memory' || derived.has(key);
}

const derived: ReadonlySet<string> = new Set([
  memoryLabel,
  'nvidia.com/gpu.family',
  'nvidia.com/gpu.compute.major',
  arch,
]);

/** The values that a label can have on nodes with a card; empty if none is known. */
export function cardLabel(gpu: GpuModel, key: string): readonly string[] {
  switch (key) {
    case arch:
      return [hasArmHost(gpu) ? 'arm64' : 'amd64'];
    case 'nvidia.com/gpu.family':
      return [gpu.architecture === 'Ada' ? 'ada-lovelace' : gpu.architecture.toLowerCase().replace(' ultra', '')];
    case 'nvidia.com/gpu.compute.major':
      return gpu.computeCapability === null ? [] : gpu.computeCapability.split('.', 1);
    case memoryLabel: {
      // Without a source, the marketed figure is still closer than any memory.
      const gib = deviceGiB(gpu) ?? gpu.memoryGiB;
      return gib === null ? [] : [String(Math.round(gib * 1024))];
    }
    default:
      return gpu.labels[key] ?? [];
  }
}

/** Whether the machines with a card have ARM processors: AWS Graviton, NVIDIA Grace and Jetson. Most images are built for x86 only. */
export function hasArmHost({ id }: GpuModel): boolean {
  return /^(?:t4g|g[bh]\d+|jetson)(?:-|$)/.test(id);
}

/**
 * Whether current software still runs on a card: CUDA 13 and PyTorch's wheels for it need Turing, ROCm needs CDNA or newer RDNA, and PyTorch NeuronX
 * needs NeuronCore-v2. Volta is kept, because CUDA 12 images are common.
 * https://docs.nvidia.com/cuda/archive/13.0.0/cuda-toolkit-release-notes/, https://rocm.docs.amd.com/projects/install-on-linux (2026-11-22)
 */
export function isCurrent({ id, vendor, architecture }: GpuModel): boolean {
  const isOldTesla = vendor === 'nvidia' && /^[kmp]\d+(?:-|$)/.test(id);
  return !isOldTesla && !outdated.has(architecture) && !outdated.has(id);
}

const outdated: ReadonlySet<string> = new Set(['Kepler', 'Maxwell', 'Pascal', 'GCN', 'radeon-pro-v520', 'inferentia1']);
