import { getIn, rootCursor } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';
import type { PodCount } from './kinds/kind.ts';
import { times } from './kinds/pod-sets.ts';
import { oneReplica } from './scaled.ts';
import { autoscaledReplicasOf } from './values-parts.ts';
import type { Workload } from './workload.ts';

/**
 * The bounds that values turn on next to the number of replicas of a template: `replicas: {{ .Values.server.replicaCount }}` and
 * `server: {autoscaling: {enabled: true, …}}`. That is the form of `helm create`, whose HPA is another template with names that only Helm
 * knows. Undefined if the values turn on none.
 * @param template the template as written
 */
export function autoscaledReplicas(template: YamlNode, values: YamlNode): PodCount | undefined {
  const written = getIn(rootCursor(template), 'spec', 'replicas')?.node;
  const source = written?.kind === 'scalar' && written.templated ? written.source : '';
  const [, path = ''] = /^["']?\{\{-?[\s(]*(?:int\s|int64\s)?[\s(]*\$?\.Values\.([\w.]+)/.exec(source) ?? [];
  const block = path === '' ? undefined : getIn(rootCursor(values), ...path.split('.').slice(0, -1));
  return block && autoscaledReplicasOf(block);
}

/** The workload of a template with the replicas of the autoscaler that the values turn on, unless another file has its autoscaler. */
export function autoscaledByValues(workload: Workload, template: YamlNode, values: YamlNode): Workload {
  const replicas = workload.scaledBy === null ? autoscaledReplicas(template, values) : undefined;
  const replica = replicas && oneReplica(workload);
  if (!replicas || !replica) return workload;
  return {
    ...workload,
    podSets: replica.podSets.map((podSet) => ({
      ...podSet,
      pods: { min: times(replicas, podSet.pods.min).min, max: times(replicas, podSet.pods.max).max },
    })),
  };
}
