import type { Row } from './sources.ts';

// RunPod's prices for cards that the gathered rows lack: containers in its own data centers ("secure"), read on 2026-11-28. The file lists each card
// from one to eight at the same price for each; it has no date, so the gathered rows of the same file and commit decide it.

const source =
  'skypilot-org/skypilot-catalog@01acdfd419ce5afae1289ff14825b893ced0c196:catalogs/v8/runpod/vms.csv (date not seen)';
const date = '2026-07-09';

const perGpu: readonly (readonly [gpu: string, hourly: number])[] = [
  ['RTX 4000 Ada', 0.28],
  ['RTX 4090', 0.74],
  ['RTX 5090', 0.99],
  ['RTX A5000', 0.27],
];

export const morePrices: readonly Row[] = perGpu.map(([gpu, hourly]) => ({
  provider: 'runpod',
  instance_type: 'per GPU',
  region: 'all',
  gpu_model: gpu,
  gpu_count: '1',
  on_demand_usd_hour: String(hourly),
  price_date: date,
  source,
}));
