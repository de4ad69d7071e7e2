import { groupOf } from './manifest.ts';
import { type Surroundings, seenWords } from './surroundings.ts';
import type { Workload } from './workload.ts';

/** Kinds with one template, whose number of pods a scaler sets. */
const scalable: ReadonlySet<string> = new Set([
  'apps/Deployment',
  'apps/StatefulSet',
  'apps/ReplicaSet',
  'argoproj.io/Rollout',
]);

/** The workload with the number of pods that a scaler in another document sets. Two scalers fight, and then nothing is known. */
export function scaled(workload: Workload, surroundings: Surroundings): Workload {
  const { kind, apiVersion, namespace, name, podSets } = workload;
  const [only, ...others] = podSets;
  if (name === null || only === undefined || others.length > 0) return workload;
  if (only.accelerators.length === 0 || !scalable.has(`${groupOf(apiVersion)}/${kind}`)) return workload;
  const [scaler, ...more] = surroundings.scalersOf(kind, namespace, name);
  if (scaler === undefined || more.length > 0) return workload;
  const { min } = scaler.facts;
  const max = scaler.facts.max ?? null;
  const pods = { min, max: min === null || max === null ? max : Math.max(min, max) };
  const told = [...only.told, `Replicas from ${seenWords(scaler)}`];
  return { ...workload, podSets: [{ ...only, pods, told }], scaledBy: scaler };
}
