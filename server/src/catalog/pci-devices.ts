import { gpus } from './gpus.ts';
import type { GpuModel } from './types.ts';

// Intel's rules of node feature discovery label a node with the PCI device of each card: `gpu.intel.com/device-id.0300-56a0.present`.
// https://intel.github.io/intel-device-plugins-for-kubernetes/0.35/cmd/gpu_plugin/labels.html (2026-11-23)

/** Source: the PCI ID database of 2023-04-11 (Debian package pci.ids); for Arc B, intel/compute-runtime, devices_base.inl (2025). */
const intel: ReadonlyMap<string, string> = new Map([
  ['56a0', 'arc-a770'],
  ['56a1', 'arc-a750'],
  ['56a2', 'arc-a580'],
  ['56a5', 'arc-a380'],
  ['56c0', 'data-center-gpu-flex-170'],
  ['56c1', 'data-center-gpu-flex-140'],
  ['0bd5', 'data-center-gpu-max-1550'],
  ['0bda', 'data-center-gpu-max-1100'],
  ['e20b', 'arc-b580'],
  ['e20c', 'arc-b570'],
]);

/** The cards in the key of a label about a PCI device; empty for integrated graphics and unknown devices. */
export function gpusByPciLabel(key: string): readonly GpuModel[] {
  const [, id = ''] =
    /^gpu\.intel\.com\/device-id\.[\da-f]{4}-([\da-f]{4})\.present$/.exec(key) ??
    /^feature\.node\.kubernetes\.io\/pci-(?:[\da-f]{4}_)?8086_([\da-f]{4})\.present$/.exec(key) ??
    [];
  const gpu = gpus.get(intel.get(id) ?? '');
  return gpu === undefined ? [] : [gpu];
}
