import { meantResource } from '../catalog/resource-spelling.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { isTaintEffect, type NodeTaint, type Tolerated } from './node-pool.ts';
import type { Toleration } from './workload.ts';

/** Whether a toleration tolerates a taint, or may: other rules report misspelled tolerations. */
export function mayTolerate({ key, operator, value, effect, at: cursor }: Toleration, taint: NodeTaint): boolean {
  // One of another object is located at the reference to that object.
  if (cursor.node.kind === 'map' ? cursor.node.incomplete : key === undefined) return true;
  const fields = [key, operator, value, effect];
  if (fields.some((field) => field?.at.node.kind === 'scalar' && field.at.node.templated)) return true;
  if (effect !== undefined && isTaintEffect(effect.value) && effect.value !== taint.effect) return false;
  if (key === undefined || key.value === '') return true;
  if (key.value !== taint.key && meantResource(key.value) !== taint.key) return false;
  const equal = operator === undefined || operator.value === 'Equal';
  return !equal || taint.value === null || (value?.value ?? '') === taint.value;
}

/** A toleration as texts; those that are not set are empty. */
export function toleratedText({ key, operator, value, effect }: Toleration): Tolerated {
  const [ofKey = '', how = '', ofValue = '', ofEffect = ''] = [key, operator, value, effect].map((one) => one?.value);
  return { key: ofKey, operator: how, value: ofValue, effect: ofEffect };
}

/** A toleration of another object, located at the reference to it. */
export function tolerationAt({ key, operator, value, effect }: Tolerated, at: Cursor): Toleration {
  const located = (text: string) => (text === '' ? undefined : { value: text, at });
  return {
    ...{ at, key: located(key), operator: located(operator), value: located(value), effect: located(effect) },
    tolerationSeconds: undefined,
  };
}
