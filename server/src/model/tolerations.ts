import { meantResource } from '../catalog/resource-spelling.ts';
import { isTaintEffect, type NodeTaint } from './node-pool.ts';
import type { Toleration } from './workload.ts';

/** Whether a toleration tolerates a taint, or may: other rules report misspelled tolerations. */
export function mayTolerate({ key, operator, value, effect, at: cursor }: Toleration, taint: NodeTaint): boolean {
  if (cursor.node.kind !== 'map' || cursor.node.incomplete) return true;
  const fields = [key, operator, value, effect];
  if (fields.some((field) => field?.at.node.kind === 'scalar' && field.at.node.templated)) return true;
  if (effect !== undefined && isTaintEffect(effect.value) && effect.value !== taint.effect) return false;
  if (key === undefined || key.value === '') return true;
  if (key.value !== taint.key && meantResource(key.value) !== taint.key) return false;
  const equal = operator === undefined || operator.value === 'Equal';
  return !equal || taint.value === null || (value?.value ?? '') === taint.value;
}
