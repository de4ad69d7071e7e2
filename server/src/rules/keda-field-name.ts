import { wordSet } from '../catalog/word-patterns.ts';
import { kedaField } from '../evidence/keda-fields.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { placesAt } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { entries, getIn, isIncomplete, isUnseen, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A KEDA scaler sets a field under a name that KEDA does not have.
 *
 * ## Why
 *
 * KEDA's bounds are `minReplicaCount` and `maxReplicaCount`; `minReplicas` and `maxReplicas` belong to a HorizontalPodAutoscaler.
 * The API server ignores unknown fields, so the defaults apply: a minimum of 0 and a maximum of 100. Older examples of an HTTPScaledObject have
 * `deployment` and `host`, which the add-on has replaced with `name` and `hosts`.
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
 * Unsafe: the value takes effect.
 *
 * ## Sources
 *
 * - [KEDA: ScaledObject](https://keda.sh/docs/latest/reference/scaledobject-spec/)
 * - [KEDA's HTTP add-on: HTTPScaledObject](https://github.com/kedacore/http-add-on/blob/main/operator/apis/http/v1alpha1/httpscaledobject_types.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const { root, kind, apiVersion } = manifest;
    if (kind === 'HTTPScaledObject' && groupOf(apiVersion) === 'http.keda.sh') checkFormer(manifest, context);
    if (groupOf(apiVersion) !== 'keda.sh' || (kind !== 'ScaledObject' && kind !== 'ScaledJob')) return;
    const spec = getIn(root, 'spec');
    if (kind === 'ScaledObject')
      for (const [path, fields, home] of homes)
        for (const entry of (path === '' ? [spec] : placesAt(spec, path)).flatMap((owner) => entries(owner)))
          if (fields.has(keyOf(entry)))
            context.report({
              message: `KEDA ignores ${keyOf(entry)} here: the field belongs under ${home}`,
              span: keySpanOf(entry),
            });
    for (const entry of entries(spec)) {
      const name = kedaField(keyOf(entry), kind);
      if (name === undefined || getIn(spec, name) !== undefined || keySpanOf(entry).end <= keySpanOf(entry).start)
        continue;
      context.report({
        message: `KEDA has no field ${keyOf(entry)} and ignores it; the field is ${name} (${defaults[name]})`,
        span: keySpanOf(entry),
        fixes: () => [fix(`Rename ${keyOf(entry)} to ${name}`, 'unsafe', renameKey(context.document, entry, name))],
      });
    }
  },
});

/** Reports fields of an HTTPScaledObject that the add-on had once, or that are those of a ScaledObject. */
function checkFormer(manifest: Manifest, { crossReferences, document, report }: RuleContext): void {
  const spec = getIn(manifest.root, 'spec');
  if (isIncomplete(spec) || targetOf(manifest, crossReferences)?.facts.devices === 0) return;
  for (const [path, key, name, effect] of former) {
    const owner = path === '' ? spec : getIn(spec, path);
    const entry = getIn(owner, key);
    // Both are written for all releases.
    if (entry === undefined || isUnseen(entry) || isIncomplete(owner) || getIn(spec, ...name.split('.')) !== undefined)
      continue;
    report({
      message: `KEDA's HTTP add-on does not read ${key}: ${effect}; the field is ${name}`,
      span: keySpanOf(entry),
      fixes: () => (path === '' ? [] : [fix(`Rename ${key} to name`, 'unsafe', renameKey(document, entry, 'name'))]),
    });
  }
}

/** https://github.com/kedacore/http-add-on/blob/main/operator/apis/http/v1alpha1/httpscaledobject_types.go */
const former = [
  ['scaleTargetRef', 'deployment', 'scaleTargetRef.name', 'nothing is scaled'],
  ['', 'host', 'hosts', 'its requests are not routed'],
  ['', 'minReplicaCount', 'replicas.min', 'the minimum is 0'],
  ['', 'maxReplicaCount', 'replicas.max', 'the maximum is 100'],
  ['', 'cooldownPeriod', 'scaledownPeriod', 'the default is 300 s'],
] as const;

const ofSpec = wordSet(
  'minReplicaCount maxReplicaCount pollingInterval cooldownPeriod initialCooldownPeriod idleReplicaCount fallback triggers',
);

/** Fields that are read only elsewhere. https://github.com/kedacore/keda/blob/main/apis/keda/v1alpha1/scaledobject_types.go */
const homes = [
  ['scaleTargetRef', ofSpec, 'spec'],
  ['advanced', ofSpec, 'spec'],
  ['triggers.*', ofSpec, 'spec'],
  ['advanced.horizontalPodAutoscalerConfig', ofSpec, 'spec'],
  ['', wordSet('restoreToOriginalReplicaCount horizontalPodAutoscalerConfig scalingModifiers'), 'spec.advanced'],
  ['', wordSet('behavior'), 'spec.advanced.horizontalPodAutoscalerConfig'],
  ['advanced', wordSet('behavior'), 'spec.advanced.horizontalPodAutoscalerConfig'],
] as const;

const defaults = table<string>({
  minReplicaCount: 'default 0',
  maxReplicaCount: 'default 100',
  pollingInterval: 'default 30 s',
  cooldownPeriod: 'default 300 s',
  idleReplicaCount: 'no default',
});
