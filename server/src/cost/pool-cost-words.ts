import { formatHourly } from './money.ts';
import { noEstimateWords } from './no-estimate-words.ts';
import type { PoolProblem } from './pool-cost.ts';
import { machineSaleWords } from './sale-words.ts';

/** Why a pool has no price: a clause after `price unknown: `. */
export function poolProblemWords(problem: PoolProblem): string {
  switch (problem.kind) {
    case 'noMachine':
      return 'the catalog has no machine that meets its requirements';
    case 'otherCloud':
      return `${problem.cloud} is not in the price sheet`;
    case 'unpriced': {
      const { machines, region, pricing, onDemand } = problem;
      const [first, ...others] = machines;
      const sale = first === undefined || others.length > 0 || pricing === 'spot' ? undefined : machineSaleWords(first);
      if (sale !== undefined) return sale;
      const of =
        first === undefined ? ' for it' : ` for ${others.length === 0 ? first : `${first} and ${others.length} more`}`;
      const place = region === null ? '' : ` in ${region}`;
      const known = onDemand === null ? '' : ` (on demand: ${formatHourly(onDemand)})`;
      return `the price sheet has no ${pricing === 'spot' ? 'spot ' : ''}price${of}${place}${known}`;
    }
    default: {
      const words = noEstimateWords(problem);
      return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
    }
  }
}
