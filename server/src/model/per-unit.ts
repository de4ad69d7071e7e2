import { namesAccelerators } from './accelerators.ts';
import { exactly } from './kinds/pod-sets.ts';
import type { Workload } from './workload.ts';

/** One pod of each kind: a replica of a chart's values, or what a DaemonSet runs on a node. */
export function onePod(workload: Workload, per: 'replica' | 'node'): Workload {
  return { ...workload, per, podSets: workload.podSets.map((one) => ({ ...one, pods: exactly(1) })) };
}

/** What a run of a template costs, for its price. Without an entrypoint, only a template with one kind of pod with accelerators has one. */
export function perRun(run: Workload): Pick<Workload, 'replica'> {
  const using = run.podSets.filter((podSet) => namesAccelerators(podSet));
  if (using.every(({ pods }) => pods.max !== null)) return { replica: { ...run, per: 'run' } };
  if (using.length > 1) return {};
  const podSets = run.podSets.map((one) => (using.includes(one) ? { ...one, pods: exactly(1) } : one));
  return { replica: { ...run, podSets, per: 'run' } };
}
