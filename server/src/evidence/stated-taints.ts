import { isTaintEffect, type NodeTaint } from '../model/node-pool.ts';
import { type Field, fieldNamed, isFields } from './fields.ts';

/**
 * The taints that the fields of a pool state, in the forms of many tools: a block or several, a list, a mapping by name, or texts such as
 * `sku=gpu:NoSchedule`. Null without any: tools add taints of their own, and templates may.
 */
export function statedTaints(field: Field | undefined): readonly NodeTaint[] | null {
  const taints = taintsIn(field, 0).filter(({ key }) => !isRemoved.test(key));
  return taints.length === 0 ? null : taints;
}

function taintsIn(field: Field | undefined, depth: number): readonly NodeTaint[] {
  if (depth > 3 || field === undefined) return [];
  if (typeof field === 'string') return inText(field);
  if (Array.isArray(field)) return field.slice(0, 20).flatMap((one) => taintsIn(one, depth + 1));
  if (!isFields(field)) return [];
  const [key, value, effect] = ['key', 'value', 'effect'].map((name) => fieldNamed(field, name));
  if (effect === undefined) return [...field.values()].slice(0, 20).flatMap((one) => taintsIn(one, depth + 1));
  if (typeof key !== 'string' || typeof effect !== 'string') return [];
  return taint(key, typeof value === 'string' ? value : value === undefined ? '' : null, effect);
}

/** https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/kubernetes_cluster_node_pool#node_taints-1 */
function inText(text: string): readonly NodeTaint[] {
  const [, key = '', value = '', effect = ''] = /^([\w./-]+)(?:=([\w.-]*))?:(\w+)$/.exec(text) ?? [];
  return taint(key, value, effect);
}

/** The APIs of Amazon and Google write `NO_SCHEDULE`. */
function taint(key: string, value: string | null, effect: string): readonly NodeTaint[] {
  const [meant] = ['NoSchedule', 'NoExecute'].filter(
    (one) => one.toLowerCase() === effect.replaceAll('_', '').toLowerCase(),
  );
  return key !== '' && isTaintEffect(meant) ? [{ key, value, effect: meant }] : [];
}

/** Taints that an agent removes once the node is ready. */
const isRemoved = /(?:not-ready|uninitialized|unregistered)$|\/(?:startup|ignore)-taint/;
