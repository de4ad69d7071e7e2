import { parseQuantity } from '../model/quantity.ts';
import { at, fields, list } from './json.ts';
import type { Amounts } from './types.ts';

// https://github.com/kubernetes/component-helpers/blob/master/resource/helpers.go

/** Quantities as the scheduler counts them: cpu in thousandths, all others in whole units, rounded up. */
export function amountsOf(value: unknown): Amounts {
  return whole(exactAmounts(value));
}

/** Quantities as the API server stores them: rounded up to thousandths. */
function exactAmounts(value: unknown): Amounts {
  const amounts = new Map<string, number>();
  for (const [name, quantity] of fields(value)) {
    const read =
      typeof quantity === 'number' ? quantity : typeof quantity === 'string' ? parseQuantity(quantity) : null;
    if (read === null) continue;
    if (name === 'cpu') amounts.set(name, thousandths(read));
    else amounts.set(name, Number.isInteger(read) ? read : thousandths(read) / 1000);
  }
  return amounts;
}

/** Rounded up; sums of thousandths are not exact. */
function whole(amounts: Amounts): Amounts {
  return new Map([...amounts].map(([name, amount]) => [name, Number.isInteger(amount) ? amount : roundedUp(amount)]));
}

function roundedUp(amount: number): number {
  return Math.ceil(Math.round(amount * 1000) / 1000);
}

/** In steps that the number can hold, because 2.89 × 1000 is slightly more than 2890. */
function thousandths(amount: number): number {
  const steps = amount < 1e6 ? 1e9 : amount < 1e9 ? 1e6 : 1e3;
  const units = Math.floor(amount);
  return units * 1000 + Math.ceil((Math.round((amount - units) * steps) * 1000) / steps);
}

/**
 * What a pod needs: all containers and sidecars together, or an init container with the sidecars that start before it, whichever is more.
 * Pod-level resources replace cpu, memory and huge pages. Only the total is rounded to whole units.
 * https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/753-sidecar-containers
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
  return whole(sum(withPodLevel(needed, spec), exactAmounts(at(spec, 'overhead'))));
}

/** Limits count as requests where a container states only them. */
function containerRequests(container: unknown): Amounts {
  const limits = exactAmounts(at(container, 'resources', 'limits'));
  return new Map([...limits, ...exactAmounts(at(container, 'resources', 'requests'))]);
}

/** A limit of the pod becomes its request only where no container has one. */
function withPodLevel(needed: Amounts, spec: unknown): Amounts {
  const own = new Map(needed);
  const isPodLevel = ([name]: readonly [string, number]) =>
    name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
  const requests = exactAmounts(at(spec, 'resources', 'requests'));
  for (const [name, amount] of [...exactAmounts(at(spec, 'resources', 'limits'))].filter(isPodLevel))
    if (!requests.has(name) && !needed.has(name)) own.set(name, amount);
  for (const [name, amount] of [...requests].filter(isPodLevel)) own.set(name, amount);
  return own;
}

/** The amounts of both, by resource. */
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
