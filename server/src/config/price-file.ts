import type { Rates, UnitRates } from '../cost/custom-prices.ts';
import { jsonProblem } from '../yaml/json-problem.ts';
import { own } from '../yaml/table.ts';

// The file of custom prices that OpenCost and Kubecost read: JSON with US dollars per hour for one CPU, one GiB of memory and one GPU, usually as
// texts. Source: opencost/opencost@0d1f69cc:configs/default.json.

/** Whether a path leads to a file in the folder of the config or below it. */
export function isPathBelow(path: string): boolean {
  return /^[^/\\:?#%]+(?:\/[^/\\:?#%]+)*$/.test(path) && !path.split('/').some((step) => /^\.*$/.test(step));
}

/** The prices of a file, or why it has none. Never throws. */
export function readPriceFile(text: string): UnitRates | string {
  const problem = jsonProblem(text);
  if (problem !== undefined && !/^\uFEFF?\s*\{/.test(text)) return 'it is not JSON';
  if (problem !== undefined) return `line ${text.slice(0, problem.at).split('\n').length}: ${problem.message}`;
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
  const onDemand = ratesOf(value, ['GPU', 'CPU', 'RAM']);
  if (onDemand === null) return 'it has no GPU price above 0';
  return { onDemand, spot: ratesOf(value, ['spotGPU', 'spotCPU', 'spotRAM']) };
}

function ratesOf(value: unknown, [gpu, cpu, memory]: readonly [string, string, string]): Rates | null {
  const perGpu = amount(own(value, gpu));
  return perGpu === 0 ? null : { gpu: perGpu, cpu: amount(own(value, cpu)), memoryGiB: amount(own(value, memory)) };
}

/** 0 for a missing or unreadable price, as in OpenCost. */
function amount(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 && number <= 1e9 ? number : 0;
}
