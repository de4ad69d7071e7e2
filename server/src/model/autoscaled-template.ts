import { asBoolean, type Cursor, getIn, rootCursor } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';
import type { PodCount } from './kinds/kind.ts';
import { exactly, times } from './kinds/pod-sets.ts';
import { lowerCount } from './pod.ts';
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
  const block = blockOf(template, values);
  return block && autoscaledReplicasOf(block);
}

/** The mapping of values with the number of replicas of a template. */
function blockOf(template: YamlNode, values: YamlNode): Cursor | undefined {
  const written = getIn(rootCursor(template), 'spec', 'replicas')?.node;
  const source = written?.kind === 'scalar' && written.templated ? written.source : '';
  const [, path = ''] = /^["']?\{\{-?[\s(]*(?:int\s|int64\s)?[\s(]*\$?\.Values\.([\w.]+)/.exec(source) ?? [];
  return path === '' ? undefined : getIn(rootCursor(values), ...path.split('.').slice(0, -1));
}

/** The workload of a template with the replicas of the autoscaler that the values turn on, unless another file has the bounds. */
export function autoscaledByValues(workload: Workload, template: YamlNode, values: YamlNode): Workload {
  const { scaledBy, manifest } = workload;
  const isTemplate = scaledBy !== null && scaledBy.facts.min === null && scaledBy.facts.max === null;
  if (scaledBy !== null && !isTemplate) return workload;
  const block = blockOf(template, values);
  const isOff = asBoolean(getIn(block, 'autoscaling', 'enabled')) === false;
  const replicas =
    (block && autoscaledReplicasOf(block)) ??
    (isTemplate && isOff ? exactly(lowerCount(getIn(manifest.root, 'spec', 'replicas'), 1)) : undefined);
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
