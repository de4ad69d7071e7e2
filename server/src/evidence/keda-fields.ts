/** The field of KEDA that another name certainly stands for. A ScaledJob has neither a cooldown nor an idle count. */
export function kedaField(key: string, kind: string): string | undefined {
  if (/^min(?:imum)?_?(?:Replicas?|Count|Replica_?Counts|Scale)$/i.test(key)) return 'minReplicaCount';
  if (/^max(?:imum)?_?(?:Replicas?|Count|Replica_?Counts|Scale)$/i.test(key)) return 'maxReplicaCount';
  if (/^polling(?:Period|IntervalSeconds|Seconds)$/i.test(key)) return 'pollingInterval';
  if (kind === 'ScaledJob') return undefined;
  if (/^cool_?down(?:PeriodSeconds|Seconds|Interval)$/i.test(key)) return 'cooldownPeriod';
  return /^idle(?:Replicas?|Count)$/i.test(key) ? 'idleReplicaCount' : undefined;
}
