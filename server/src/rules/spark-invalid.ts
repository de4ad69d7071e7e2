import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  keyOf,
  keySpanOf,
} from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A SparkApplication that the API server rejects, or GPUs that Spark cannot assign.
 *
 * ## Why
 *
 * A SparkApplication requires `type`, `sparkVersion`, `driver` and `executor`.
 *
 * `spark.executor.resource.gpu.amount` lets Spark assign GPUs to its tasks. On Kubernetes, Spark also needs the vendor, from which it makes the
 * name of the resource, and a script that finds the GPUs of each executor. Without them, the submission or the executors fail.
 *
 * ```yaml invalid
 * apiVersion: sparkoperator.k8s.io/v1beta2
 * kind: SparkApplication
 * metadata:
 *   name: etl
 * spec:
 *   type: Python
 *   sparkVersion: 3.5.3
 *   mainApplicationFile: local:///opt/etl.py
 *   driver:
 *     cores: 1
 *   executor:
 *     instances: 2
 *     gpu:
 *       name: nvidia.com/gpu
 *       quantity: 1
 *   sparkConf:
 *     spark.executor.resource.gpu.amount: "1"
 *     spark.executor.resource.gpu.discoveryScript: /opt/getGpusResources.sh
 * ```
 *
 * ```yaml fixed
 * apiVersion: sparkoperator.k8s.io/v1beta2
 * kind: SparkApplication
 * metadata:
 *   name: etl
 * spec:
 *   type: Python
 *   sparkVersion: 3.5.3
 *   mainApplicationFile: local:///opt/etl.py
 *   driver:
 *     cores: 1
 *   executor:
 *     instances: 2
 *     gpu:
 *       name: nvidia.com/gpu
 *       quantity: 1
 *   sparkConf:
 *     spark.executor.resource.gpu.amount: "1"
 *     spark.executor.resource.gpu.vendor: nvidia.com
 *     spark.executor.resource.gpu.discoveryScript: /opt/getGpusResources.sh
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the GPUs may not be meant.
 *
 * ## When it is silent
 *
 * For patches, and for settings if a `sparkConfigMap` or a template may have others. A missing setting is a warning only: the image may have it.
 *
 * ## Sources
 *
 * - [Spark: resource allocation on Kubernetes](https://spark.apache.org/docs/latest/running-on-kubernetes.html#resource-allocation-and-configuration-overview)
 * - [Kubeflow: SparkApplication API](https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  manifest({ apiVersion, kind, root }, context) {
    if (groupOf(apiVersion) !== 'sparkoperator.k8s.io') return;
    const spec = kind === 'SparkApplication' ? getIn(root, 'spec') : getIn(root, 'spec', 'template');
    if (spec === undefined || isIncomplete(spec)) return;
    const missing = required.filter((field) => getIn(spec, field) === undefined);
    // A patch has fewer of them.
    if (missing.length === 1) {
      context.report({
        message: `A SparkApplication requires ${missing[0]}: the API server rejects it`,
        span: keySpanOf(spec),
      });
    }
    const settings = getIn(spec, 'sparkConf');
    if (settings === undefined || isUnseen(settings) || getIn(spec, 'sparkConfigMap') !== undefined) return;
    for (const setting of entries(settings)) checkResource(setting, settings, spec, context);
  },
});

const required = ['type', 'sparkVersion', 'driver', 'executor'];

/** Reports an amount of a resource that Spark cannot request, or whose devices its pods cannot find. */
function checkResource(setting: Cursor, settings: Cursor, spec: Cursor, { document, report }: RuleContext): void {
  const [, stem = '', role = ''] = /^(spark\.(driver|executor)\.resource\.\w+)\.amount$/.exec(keyOf(setting)) ?? [];
  if (stem === '' || isTemplated(setting) || asText(setting) === '0') return;
  if (getIn(settings, 'spark.resources.discoveryPlugin') !== undefined) return;
  const missing = ['vendor', 'discoveryScript'].filter((name) => getIn(settings, `${stem}.${name}`) === undefined);
  if (missing.length === 0) return;
  const lacksVendor = missing.includes('vendor');
  report({
    severity: 'warning',
    message: `${shorten(keyOf(setting), 45)} needs ${missing.map((name) => `.${name}`).join(' and ')} next to it: without ${missing.length === 1 ? 'it' : 'them'}, ${lacksVendor ? 'Spark on Kubernetes rejects the request' : 'the pods find no device and stop'}`,
    span: keySpanOf(setting),
    fixes: () => {
      const resource = asText(getIn(spec, role, 'gpu', 'name')) ?? '';
      const vendor = resource.slice(0, Math.max(resource.indexOf('/'), 0));
      // The path of a script is unknown.
      if (missing.length > 1 || !lacksVendor || vendor === '') return [];
      return [
        fix(
          `Set the vendor to ${vendor}`,
          'unsafe',
          setKey(document, settings, `${stem}.vendor`, vendor, { after: keyOf(setting) }),
        ),
      ];
    },
  });
}
