import { getIn } from '../yaml/cursor.ts';
import { lowerQuantity } from './quantity.ts';
import type { Container, PodNeeds } from './workload.ts';

/**
 * The scheduler's sum: app containers and native sidecars together, or the largest init container if that is more. A limit without a request is
 * also the request.
 */
export function podNeeds(containers: readonly Container[]): PodNeeds {
  const total = (resource: string) => {
    let running = 0;
    let most = 0;
    for (const { type, resources } of containers) {
      const written = getIn(resources, 'requests', resource) ?? getIn(resources, 'limits', resource);
      const value = written === undefined ? 0 : (lowerQuantity(written).value ?? 0);
      if (type === 'init') most = Math.max(most, value);
      else running += value;
    }
    return Math.max(running, most);
  };
  return { cpu: total('cpu'), memoryGiB: total('memory') / 2 ** 30, efa: total('vpc.amazonaws.com/efa') };
}
