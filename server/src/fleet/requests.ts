import { parseQuantity } from '../model/quantity.ts';
import { at, fields, list } from './json.ts';
import type { Amounts } from './types.ts';

// https://github.com/kubernetes/component-helpers/blob/master/resource/helpers.go

/** Quantities as the scheduler counts them: cpu in thousandths, all others in whole units, rounded up. */
export function amountsOf(value: unknown): Amounts {
  const amounts = new Map<string, number>();
  for (const [name, quantity] of fields(value)) {
    const read =
      typeof quantity === 'number' ? quantity : typeof quantity === 'string' ? parseQuantity(quantity) : null;
    if (read !== null) amounts.set(name, name === 'cpu' ? thousandths(read) : Math.ceil(read));
  }
  return amounts;
}

/** Through billionths, because 2.89 × 1000 is slightly more than 2890. */
function thousandths(cores: number): number {
  return Math.ceil(Math.round(cores * 1e9) / 1e6);
}

/**
 * What a pod needs: all containers and sidecars together, or an init container with the sidecars that start before it, whichever is more.
 * Pod-level resources replace cpu, memory and huge pages.
 */
export function podRequests(spec: unknown): Amounts {
  const containers = list(at(spec, 'containers')).map(containerRequests);
  let sidecars: Amounts = new Map();
  let most: Amounts = new Map();
  for (const container of list(at(spec, 'initContainers'))) {
    const requests = containerRequests(container);
    if (at(container, 'restartPolicy') === 'Always') {
      sidecars = sum(sidecars, requests);
      most = larger(most, sidecars);
    } else most = larger(most, sum(sidecars, requests));
  }
  const needed = larger(containers.reduce(sum, sidecars), most);
  return sum(withPodLevel(needed, spec), amountsOf(at(spec, 'overhead')));
}

/** Limits count as requests where a container states only them. */
function containerRequests(container: unknown): Amounts {
  const limits = amountsOf(at(container, 'resources', 'limits'));
  return new Map([...limits, ...amountsOf(at(container, 'resources', 'requests'))]);
}

/** A limit of the pod becomes its request only where no container has one. */
function withPodLevel(needed: Amounts, spec: unknown): Amounts {
  const own = new Map(needed);
  const isPodLevel = ([name]: readonly [string, number]) =>
    name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
  const requests = amountsOf(at(spec, 'resources', 'requests'));
  for (const [name, amount] of [...amountsOf(at(spec, 'resources', 'limits'))].filter(isPodLevel))
    if (!requests.has(name) && !needed.has(name)) own.set(name, amount);
  for (const [name, amount] of [...requests].filter(isPodLevel)) own.set(name, amount);
  return own;
}

export function sum(left: Amounts, right: Amounts): Amounts {
  const total = new Map(left);
  for (const [name, amount] of right) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

function larger(left: Amounts, right: Amounts): Amounts {
  const most = new Map(left);
  for (const [name, amount] of right) most.set(name, Math.max(most.get(name) ?? 0, amount));
  return most;
}
