import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, entries, getIn, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * A bound of a KEDA ScaledObject is written under a name that KEDA does not know.
 *
 * ## Why
 *
 * KEDA calls its bounds `minReplicaCount` and `maxReplicaCount`; `minReplicas` and `maxReplicas` are the names of an
 * HorizontalPodAutoscaler. The API server drops fields that it does not know, so the defaults hold: 0 at least, 100 at most.
 *
 * ```yaml invalid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   maxReplicas: 4
 * ```
 *
 * ```yaml fixed
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   maxReplicaCount: 4
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the bound then holds.
 *
 * ## Sources
 *
 * - [KEDA: ScaledObject](https://keda.sh/docs/latest/reference/scaledobject-spec/)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest({ root, kind, apiVersion }, context) {
    if (groupOf(apiVersion) !== 'keda.sh' || (kind !== 'ScaledObject' && kind !== 'ScaledJob')) return;
    const spec = getIn(root, 'spec');
    for (const entry of entries(spec)) {
      const name = meant(keyOf(entry), kind);
      if (name === undefined || getIn(spec, name) !== undefined || keySpanOf(entry).end <= keySpanOf(entry).start)
        continue;
      const value = asText(entry);
      context.report({
        message: `KEDA has no ${keyOf(entry)}: ${value === undefined ? 'it' : `the ${value}`} is dropped and the default holds (${defaults[name]}); it is ${name}`,
        span: keySpanOf(entry),
        fixes: () => [fix(`Rename ${keyOf(entry)} to ${name}`, 'unsafe', renameKey(context.document, entry, name))],
      });
    }
  },
});

const defaults = table<string>({
  minReplicaCount: '0 at least',
  maxReplicaCount: '100 at most',
  pollingInterval: '30 s',
  cooldownPeriod: '300 s',
  idleReplicaCount: 'none',
});

/** The field that a name was surely meant to be. A ScaledJob has no cooldown and no idle count. */
function meant(key: string, kind: string): string | undefined {
  if (/^min(?:imum)?_?(?:Replicas?|Count|Replica_?Counts|Scale)$/i.test(key)) return 'minReplicaCount';
  if (/^max(?:imum)?_?(?:Replicas?|Count|Replica_?Counts|Scale)$/i.test(key)) return 'maxReplicaCount';
  if (/^polling(?:Period|IntervalSeconds|Seconds)$/i.test(key)) return 'pollingInterval';
  if (kind === 'ScaledJob') return undefined;
  if (/^cool_?down(?:PeriodSeconds|Seconds|Interval)$/i.test(key)) return 'cooldownPeriod';
  return /^idle(?:Replicas?|Count)$/i.test(key) ? 'idleReplicaCount' : undefined;
}
