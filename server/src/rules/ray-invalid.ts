import { isSet, isUnknown, writtenNumber } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, type Cursor, entries, getIn, isIncomplete, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A RayJob or RayService that KubeRay rejects.
 *
 * ## Why
 *
 * KubeRay checks objects that the API server has accepted. It sets the status of an invalid RayJob or RayService and starts no cluster: a
 * `ttlSecondsAfterFinished` and `suspend` need `shutdownAfterJobFinishes: true`, and both kinds need the spec of a cluster.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayJob
 * metadata:
 *   name: tune
 * spec:
 *   entrypoint: python tune.py
 *   shutdownAfterJobFinishes: false
 *   ttlSecondsAfterFinished: 600
 *   clusterSelector:
 *     ray.io/cluster: gpus
 * ```
 *
 * ```yaml valid
 * apiVersion: ray.io/v1
 * kind: RayJob
 * metadata:
 *   name: tune
 * spec:
 *   entrypoint: python tune.py
 *   shutdownAfterJobFinishes: false
 *   clusterSelector:
 *     ray.io/cluster: gpus
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the cluster is deleted when the job ends.
 *
 * ## When it is silent
 *
 * For templated fields, and for patches, which do not repeat what the object has. The severity is warning for `ttlSecondsAfterFinished`, which releases
 * before June 2025 ignore.
 *
 * ## Sources
 *
 * - [ray-project/kuberay#3653](https://github.com/ray-project/kuberay/pull/3653)
 * - [KubeRay: validation](https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  manifest({ root, kind, apiVersion, isPatch }, context) {
    if ((kind !== 'RayJob' && kind !== 'RayService') || groupOf(apiVersion) !== 'ray.io') return;
    const spec = getIn(root, 'spec');
    if (spec === undefined || spec.node.kind !== 'map' || isIncomplete(spec) || isPatch === true) return;
    if (kind === 'RayJob') checkShutdown(spec, context);
    // api-field reports a misspelled one.
    if (entries(spec).some((field) => /cluster/i.test(keyOf(field)) && !/deletion/i.test(keyOf(field)))) return;
    // A patch may leave it out.
    const runs = kind === 'RayJob' ? 'entrypoint' : 'serveConfigV2';
    if (!isSet(getIn(spec, runs))) return;
    const needs = kind === 'RayJob' ? 'neither rayClusterSpec nor clusterSelector' : 'no rayClusterConfig';
    context.report({
      message: `spec has ${needs}: KubeRay rejects the ${kind} and starts no cluster`,
      span: keySpanOf(spec),
    });
  },
});

/** What KubeRay accepts only for jobs that delete their cluster. */
function checkShutdown(spec: Cursor, { report, document }: RuleContext): void {
  const shutdown = getIn(spec, 'shutdownAfterJobFinishes');
  if (isUnknown(shutdown) || asBoolean(shutdown) === true) return;
  // A patch may leave it out.
  if (shutdown === undefined && !isSet(getIn(spec, 'entrypoint'))) return;
  const fields = [getIn(spec, 'ttlSecondsAfterFinished'), getIn(spec, 'suspend')].filter(
    (field) => isSet(field) && ((writtenNumber(field) ?? 0) > 0 || asBoolean(field) === true),
  );
  for (const field of fields.filter(isSet)) {
    const isNew = keyOf(field) === 'ttlSecondsAfterFinished';
    report({
      severity: isNew ? 'warning' : 'error',
      message: `${keyOf(field)} requires shutdownAfterJobFinishes: true: KubeRay rejects the RayJob${isNew ? '; older releases ignore the field' : ' and does not run it'}`,
      span: keySpanOf(field),
      fixes: () => [
        fix(
          'Set shutdownAfterJobFinishes to true',
          'unsafe',
          setKey(document, spec, 'shutdownAfterJobFinishes', true, { after: 'entrypoint' }),
        ),
      ],
    });
  }
}
