import type { LiveCost, MoneyRange } from './cluster-view.ts';
import type { Machine } from './machine.ts';

/** The price of a whole node, in US dollars per hour, or why it is unknown. */
export type NodePrice =
  | { readonly hourly: MoneyRange; readonly basis: string }
  | { readonly hourly: null; readonly because: string };

/** The prices of nodes. The formulas and the price sheet belong to the cost estimates, so they are handed in. */
export type NodePricing = (machine: Machine) => NodePrice;

/** @param idle the part of the node's devices that no pod requests, from 0 to 1 */
export function nodeCost(price: NodePrice, idle: number): LiveCost {
  const { hourly } = price;
  if (hourly === null) return { hourly, idle: null, unpricedNodes: 1, basis: [], because: [price.because] };
  const part = { min: hourly.min * idle, max: hourly.max * idle };
  return { hourly, idle: part, unpricedNodes: 0, basis: [price.basis], because: [] };
}

/** More reasons and bases than anybody reads. */
const maxTexts = 4;

/** The cost of several nodes or pools together; what is unknown is not in the amounts. */
export function sumCosts(costs: readonly LiveCost[]): LiveCost {
  return {
    hourly: sumMoney(costs.map(({ hourly }) => hourly)),
    idle: sumMoney(costs.map(({ idle }) => idle)),
    unpricedNodes: costs.reduce((sum, { unpricedNodes }) => sum + unpricedNodes, 0),
    basis: distinct(costs.map(({ basis }) => basis)),
    because: distinct(costs.map(({ because }) => because)),
  };
}

/** null if no amount is known. */
function sumMoney(amounts: readonly (MoneyRange | null)[]): MoneyRange | null {
  const known = amounts.filter((amount) => amount !== null);
  if (known.length === 0) return null;
  return known.reduce((sum, { min, max }) => ({ min: sum.min + min, max: sum.max + max }), { min: 0, max: 0 });
}

function distinct(lists: readonly (readonly string[])[]): readonly string[] {
  const all = new Set<string>();
  for (const texts of lists) for (const text of texts) if (all.size < maxTexts) all.add(text);
  return [...all];
}
