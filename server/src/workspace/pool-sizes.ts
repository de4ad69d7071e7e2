import type { NodePool } from '../model/node-pool.ts';
import { factsAs, type Scope } from './named.ts';
import type { Found } from './workspace.ts';

// Autoscalers of pools that are objects of their own.

/** The pool of a MachineSet with the bounds of its MachineAutoscaler; several make them unknown. */
export function withSize(pool: NodePool, { group, kind, namespace, name }: Found['object'], scope: Scope): NodePool {
  if (kind !== 'MachineSet' || group !== 'machine.openshift.io') return pool;
  const word = JSON.stringify([namespace, name]);
  const [scaler, ...more] = scope.workspace.objects('MachineAutoscaler', poolOf, word, name).nearest(scope);
  if (scaler === undefined) return pool;
  const size = more.length > 0 ? undefined : factsAs(scaler.object, 'poolSize')?.size;
  return { ...pool, size: size ?? { min: null, max: null } };
}

function poolOf({ object }: Found): string | undefined {
  const scaler = factsAs(object, 'poolSize');
  return scaler === null ? undefined : JSON.stringify([object.namespace, scaler.pool]);
}
