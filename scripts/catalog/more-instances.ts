import type { Row } from './sources.ts';

// Crusoe's machines, which the gathered rows lack. Their names state the card and its number; CPU and memory are not known.

const source =
  'crusoecloud: examples of its Terraform provider, its Slurm and KServe solutions, seen in public texts (2026-11-30)';

const machines: readonly (readonly [name: string, gpu: string])[] = [
  ['a100-80gb-sxm-ib.8x', 'A100-80GB-SXM'],
  ['a100-80gb.8x', 'A100-80GB-PCIe'],
  ['a40.8x', 'A40'],
  ['h100-80gb-sxm-ib.8x', 'H100-80GB-SXM'],
  ['l40s-48gb.8x', 'L40S'],
  ['mi300x-192gb-ib.8x', 'MI300X'],
];

export const moreInstances: readonly Row[] = machines.map(([name, gpu]) => ({
  provider: 'crusoe',
  instance_type: name,
  gpu_model: gpu,
  gpu_count: '8',
  price_date: '2026-11-30',
  source,
}));
