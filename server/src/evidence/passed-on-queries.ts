import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import type { Workload } from '../model/workload.ts';
import { asBoolean, asText, type Cursor, getIn, isIncomplete, items } from '../yaml/cursor.ts';

/** A query for Prometheus in another object than a ScaledObject, and the most replicas. */
interface PassedOnQuery {
  readonly query: Cursor;
  readonly ceiling: Cursor | undefined;
  /** The address of Prometheus; undefined for that of the platform. */
  readonly server: Cursor | undefined;
}

/** The queries that KServe and charts pass on to KEDA. */
export function passedOnQueries(workload: Workload): readonly PassedOnQuery[] {
  return [...queriesOfKserve(workload), ...queriesOfValues(workload)];
}

/** https://kserve.github.io/website/docs/model-serving/generative-inference/autoscaling */
function queriesOfKserve({ kind, scaling, podSets }: Workload): readonly PassedOnQuery[] {
  if (kind !== 'InferenceService' || scaling === null || !podSets.some(requestsAccelerators)) return [];
  return items(getIn(scaling.owner, 'autoScaling', 'metrics')).flatMap((metric) => {
    const source = getIn(metric, 'external', 'metric');
    const query = getIn(source, 'query');
    if (query === undefined || asText(getIn(source, 'backend')) !== 'prometheus') return [];
    return { query, ceiling: scaling.max, server: getIn(source, 'serverAddress') };
  });
}

function queriesOfValues(workload: Workload): readonly PassedOnQuery[] {
  if (!isValues(workload) || workload.role !== 'serving') return [];
  const pod = workload.podSets[0]?.pod;
  return ['keda', 'autoscaling', 'scaledObject', 'kedaAutoscaling'].flatMap((key) => {
    const scaler = getIn(pod, key);
    if (asBoolean(getIn(scaler, 'enabled')) === false || isIncomplete(scaler)) return [];
    const ceiling = getIn(scaler, 'maxReplicaCount') ?? getIn(scaler, 'maxReplicas');
    const triggers = items(getIn(scaler, 'triggers')).filter((one) => asText(getIn(one, 'type')) === 'prometheus');
    return triggers.flatMap((trigger) => {
      const query = getIn(trigger, 'metadata', 'query');
      return query === undefined ? [] : { query, ceiling, server: getIn(trigger, 'metadata', 'serverAddress') };
    });
  });
}
